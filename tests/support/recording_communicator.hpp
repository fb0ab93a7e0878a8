#pragma once

#include <span>
#include <utility>
#include <vector>

#include <heddle/exec/communicator.hpp>
#include <heddle/exec/failure.hpp>
#include <heddle/torch/bundle.hpp>

namespace heddle_test {

/// A message as it was sent.
struct SentMessage {
  heddle::MessageId id;
  int peer;
  heddle::TorchBundle bundle;
};

/// Passes everything on and keeps what is sent.
template <heddle::communicator Inner>
struct RecordingCommunicator {
  using Bundle = heddle::TorchBundle;

  Inner inner;
  std::vector<SentMessage> sent{};

  int rank() const { return inner.rank(); }
  int size() const { return inner.size(); }
  auto send(Bundle bundle, int peer, heddle::MessageId id) {
    sent.push_back({id, peer, bundle});
    return inner.send(std::move(bundle), peer, id);
  }
  auto receive(int peer, heddle::MessageId id) { return inner.receive(peer, id); }
  void all_reduce_sum(std::span<double> numbers, heddle::Deadline deadline) {
    inner.all_reduce_sum(numbers, deadline);
  }
  void abort(const heddle::Failure& failure) { inner.abort(failure); }
};

}  // namespace heddle_test
