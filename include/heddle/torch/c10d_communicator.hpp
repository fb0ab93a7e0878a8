#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <heddle/exec/communicator.hpp>
#include <heddle/torch/bundle.hpp>
#include <heddle/torch/c10d_sum.hpp>
#include <heddle/torch/c10d_transport.hpp>

namespace heddle {

/// How a C10dCommunicator sends and what it has beside the process group.
struct C10dOptions {
  BoundaryShapes shapes = BoundaryShapes::fixed;
  /// Where a failing rank leaves word for the others, who then end with its error at once. It must
  /// be the communicator's own: give each a `c10d::PrefixStore` with a prefix that no other has.
  /// Without one they end by their deadlines, or when the failed process closes its connections.
  c10::intrusive_ptr<c10d::Store> store{};
};

/// A send of tensors under way.
class C10dSend {
 public:
  C10dSend() = default;
  C10dSend(detail::C10dTransport& transport, TorchBundle bundle, int peer, const MessageId& id)
      : transport_{&transport},
        works_{transport.send(bundle.slots(), peer, id)},
        bundle_{std::move(bundle)},
        peer_{peer},
        id_{id} {}

  /// Whether the send is known to be done: Gloo says so only to who waits.
  bool test() const {
    return std::all_of(works_.begin(), works_.end(),
                       [](const auto& w) { return w->isCompleted(); });
  }

  void wait(Deadline deadline) {
    for (const auto& work : works_) {
      transport_->link().await(work, deadline, peer_, [&] { return describe(id_); });
    }
    works_.clear();
    bundle_ = {};
  }

 private:
  detail::C10dTransport* transport_ = nullptr;
  std::vector<detail::C10dWork> works_;
  TorchBundle bundle_;
  int peer_ = 0;
  MessageId id_;
};

/// A receive of tensors under way.
class C10dReceive {
 public:
  C10dReceive() = default;
  C10dReceive(detail::C10dTransport& transport, int peer, const MessageId& id)
      : transport_{&transport}, incoming_{transport.receive(peer, id)} {}

  /// Whether everything is known to have come: Gloo says so only to who waits.
  bool test() const {
    const auto& works = incoming_->works;
    return incoming_->description &&
           std::all_of(works.begin(), works.end(), [](const auto& w) { return w->isCompleted(); });
  }

  TorchBundle wait(Deadline deadline) {
    transport_->complete(*incoming_, deadline);
    return TorchBundle{std::move(incoming_->slots)};
  }

 private:
  detail::C10dTransport* transport_ = nullptr;
  std::shared_ptr<detail::C10dIncoming> incoming_;
};

/// Carries boundaries between processes over any process group of c10d that sends tensors of the
/// CPU with tags, such as Gloo's.
///
/// With fixed shapes a boundary of one tensor is one message, without a copy on either side.
///
/// Requires: the same options on every rank; `process_group` is a `c10d::ProcessGroup` or
/// `c10d::Backend` (or derived from either) that nothing else uses for sends and receives.
/// Errors: Error on the sender, before it sends, for a boundary that is not as agreed; Error that
/// names message and peer where a connection breaks.
class C10dCommunicator {
 public:
  using Bundle = TorchBundle;

  template <class Group>
  explicit C10dCommunicator(c10::intrusive_ptr<Group> process_group, C10dOptions options = {})
      : transport_{std::make_unique<detail::C10dTransport>(
            std::make_unique<detail::C10dGroupOf<Group>>(std::move(process_group)),
            std::move(options.store), options.shapes)} {}

  int rank() const { return transport_->link().rank(); }
  int size() const { return transport_->link().size(); }

  C10dSend send(TorchBundle bundle, int peer, MessageId id) {
    return {*transport_, std::move(bundle), peer, id};
  }

  C10dReceive receive(int peer, MessageId id) { return {*transport_, peer, id}; }

  /// Added on rank 0 in the order of the ranks, so that all get the same bits.
  void all_reduce_sum(std::span<double> numbers, Deadline deadline) {
    detail::all_reduce_sum(transport_->link(), numbers, sums_++, deadline);
  }

  /// Ends the pending and later calls of all ranks, by the store if there is one.
  void abort(const Failure& failure) { transport_->link().abort(failure); }

 private:
  std::unique_ptr<detail::C10dTransport> transport_;  // requests know it
  int sums_ = 0;
};

}  // namespace heddle
