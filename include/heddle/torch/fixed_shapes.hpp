#pragma once

#include <concepts>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include <heddle/exec/communicator.hpp>
#include <heddle/exec/failure.hpp>
#include <heddle/torch/boundary.hpp>
#include <heddle/torch/bundle.hpp>

namespace heddle {

/// A communicator that takes only boundaries like the first: another dtype, shape, number of slots
/// or slot with gradient is refused where it is sent.
///
/// For ranks of one process, where tensors of any shape pass and a model that is meant for fixed
/// shapes would show it only among processes. Each kind of message between two stages has its own
/// first; evaluations are not checked, gradients follow what they answer.
///
/// Errors: Error before the message is sent, with both shapes, the stage and the micro-batch.
template <communicator Inner>
  requires std::same_as<typename Inner::Bundle, TorchBundle>
class FixedShapes {
 public:
  using Bundle = TorchBundle;

  explicit FixedShapes(Inner inner) : inner_{std::move(inner)} {}

  int rank() const { return inner_.rank(); }
  int size() const { return inner_.size(); }

  auto send(TorchBundle bundle, int peer, MessageId id) {
    if (id.run >= 0 && id.send.kind != StepKind::send_gradient) check(bundle, peer, id);
    return inner_.send(std::move(bundle), peer, id);
  }
  auto receive(int peer, MessageId id) { return inner_.receive(peer, id); }

  void all_reduce_sum(std::span<double> numbers, Deadline deadline) {
    inner_.all_reduce_sum(numbers, deadline);
  }
  void abort(const Failure& failure) { inner_.abort(failure); }

 private:
  void check(const TorchBundle& bundle, int peer, const MessageId& id) {
    const auto [edge, is_first] = firsts_.try_emplace({peer, id.send.kind, id.send.stage});
    if (is_first) {
      edge->second = detail::description_of(bundle.slots());
    } else {
      detail::check_boundary(edge->second, bundle.slots(), id,
                             " and shapes are fixed here; leave out FixedShapes to allow others");
    }
  }

  Inner inner_;
  std::map<std::tuple<int, StepKind, int>, detail::BundleDescription> firsts_;
};

}  // namespace heddle
