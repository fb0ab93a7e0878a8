#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <heddle/core/order.hpp>
#include <heddle/core/step.hpp>
#include <heddle/verify/fault.hpp>
#include <heddle/verify/scratch.hpp>
#include <heddle/verify/tower_causality.hpp>

namespace heddle {

namespace detail {

/// What the rank of a stage has of one micro-batch at a point of its list: bits.
namespace has {
inline constexpr std::uint8_t input = 1;            ///< the previous stage's output, received
inline constexpr std::uint8_t output = 2;           ///< its own output, computed
inline constexpr std::uint8_t output_gradient = 4;  ///< the next stage's gradient, received
inline constexpr std::uint8_t input_gradient = 8;   ///< its own, computed
inline constexpr std::uint8_t data = 16;
}  // namespace has

/// Looks at one order; see `causality_fault`.
class Causality {
 public:
  constexpr explicit Causality(OrderView order)
      : order_{order},
        micro_batches_{order.shape.micro_batches},
        stages_{order.shape.stages()},
        has_{stages_ * micro_batches_},
        source_{micro_batches_} {}

  constexpr std::optional<Fault> fault() {
    for (int rank = 0; rank < order_.ranks(); ++rank) {
      if (const auto found = fault_of(rank)) return found;
    }
    return moves_data_ ? without_data_ : std::nullopt;
  }

 private:
  constexpr std::optional<Fault> fault_of(int rank) {
    const int begin = order_.offsets[static_cast<std::size_t>(rank)];
    const int end = order_.offsets[static_cast<std::size_t>(rank) + 1];
    const Step* const steps = order_.steps.data();
    std::uint8_t* const all = has_.data();
    for (int at = begin; at < end; ++at) {
      const Step& step = steps[at];
      if (step.kind <= StepKind::receive_gradient && step.kind != StepKind::idle) {
        if (!may_run(step, rank, all + step.stage * micro_batches_ + step.micro_batch)) {
          return too_early(rank, at - begin);
        }
        if (step.kind == StepKind::forward && !takes_data(step, rank) && !without_data_) {
          without_data_ = too_early(rank, at - begin, FaultKind::forward_before_data);
        }
      } else if (is_data(step.kind)) {
        moves_data_ = true;
        if (!moves(step, rank)) return too_early(rank, at - begin);
      }
    }
    return std::nullopt;
  }

  /// Whether what `step` uses is there; what it makes is there afterwards. `own` are the bits of
  /// its stage and micro-batch, those of the neighbouring stages lie `micro_batches_` before and
  /// behind.
  constexpr bool may_run(const Step& step, int rank, std::uint8_t* own) const {
    const int* const rank_of_stage = order_.rank_of_stage.data();
    const int stage = step.stage;
    bool ready = true;
    std::uint8_t made = 0;
    switch (step.kind) {
      case StepKind::forward:
        if (stage > 0) {
          const bool local = rank_of_stage[stage - 1] == rank;
          ready = ((local ? own[-micro_batches_] & has::output : *own & has::input)) != 0;
        }
        made = has::output;
        break;
      case StepKind::backward:
      case StepKind::backward_input:
        ready = (*own & has::output) != 0;
        if (ready && stage + 1 < stages_) {
          const bool local = rank_of_stage[stage + 1] == rank;
          ready = ((local ? own[micro_batches_] & has::input_gradient
                          : *own & has::output_gradient)) != 0;
        }
        made = has::input_gradient;
        break;
      case StepKind::backward_weight: ready = (*own & has::input_gradient) != 0; break;
      case StepKind::send_activation: ready = (*own & has::output) != 0; break;
      case StepKind::receive_activation: made = has::input; break;
      case StepKind::send_gradient: ready = (*own & has::input_gradient) != 0; break;
      case StepKind::receive_gradient: made = has::output_gradient; break;
      default: break;
    }
    *own = static_cast<std::uint8_t>(*own | made);
    return ready;
  }

  /// The same for a step that moves data.
  constexpr bool moves(const Step& step, int rank) {
    if (step.stage == no_stage) {
      int& holder = source_.data()[step.micro_batch];
      if (step.kind == StepKind::send_data) return holder == rank + 1;
      holder = rank + 1;
      return true;
    }
    if (step.kind == StepKind::send_data) return takes_data(step, rank);
    if (step.kind == StepKind::receive_data || step.stage == 0) {
      std::uint8_t& own = has_.data()[step.stage * micro_batches_ + step.micro_batch];
      own = static_cast<std::uint8_t>(own | has::data);
    }
    return true;  // a load above the first stage does nothing
  }

  /// Whether the data of a stage and micro-batch are on `rank`, from a message, from the loader or
  /// from the stage before.
  constexpr bool takes_data(const Step& step, int rank) {
    std::uint8_t* const own = has_.data() + step.stage * micro_batches_ + step.micro_batch;
    if ((*own & has::data) != 0) return true;
    const bool there = step.stage == 0 ? source_.data()[step.micro_batch] == rank + 1
                                       : order_.rank_of(step.stage - 1) == rank &&
                                             (own[-micro_batches_] & has::data) != 0;
    if (there) *own = static_cast<std::uint8_t>(*own | has::data);
    return there;
  }

  constexpr Fault too_early(int rank, int position) const {
    const Step step = order_.rank(rank)[static_cast<std::size_t>(position)];
    const std::uint8_t own =
        has_.data()[step.stage < 0 ? 0 : step.stage * micro_batches_ + step.micro_batch];
    switch (step.kind) {
      case StepKind::forward: return too_early(rank, position, FaultKind::forward_before_input);
      case StepKind::send_activation:
        return too_early(rank, position, FaultKind::send_before_forward);
      case StepKind::backward_weight:
        return too_early(rank, position, FaultKind::weight_half_before_input_half);
      case StepKind::send_gradient:
        return too_early(rank, position, FaultKind::send_before_backward);
      case StepKind::send_data: return too_early(rank, position, FaultKind::send_before_data);
      default: break;
    }
    const bool forwarded = (own & has::output) != 0;
    return too_early(
        rank, position,
        forwarded ? FaultKind::backward_before_gradient : FaultKind::backward_before_forward);
  }

  constexpr Fault too_early(int rank, int position, FaultKind kind) const {
    const Step step = order_.rank(rank)[static_cast<std::size_t>(position)];
    const auto first = [&](StepKind needed, int stage) {
      return fault_at(order_, kind, rank, position, rank, Step{needed, step.micro_batch, stage});
    };
    const auto or_half = [&](int stage) {
      const Fault whole = first(StepKind::backward, stage);
      return whole.other_position == no_position ? first(StepKind::backward_input, stage) : whole;
    };
    switch (kind) {
      case FaultKind::forward_before_input:
        if (order_.rank_of(step.stage - 1) == rank) return first(StepKind::forward, step.stage - 1);
        return first(StepKind::receive_activation, step.stage);
      case FaultKind::backward_before_gradient:
        if (order_.rank_of(step.stage + 1) == rank) return or_half(step.stage + 1);
        return first(StepKind::receive_gradient, step.stage);
      case FaultKind::send_before_forward:
      case FaultKind::backward_before_forward: return first(StepKind::forward, step.stage);
      case FaultKind::weight_half_before_input_half:
        return first(StepKind::backward_input, step.stage);
      case FaultKind::send_before_backward: return or_half(step.stage);
      default:  // data
        return first(step.stage > 0 ? StepKind::receive_data : StepKind::load, step.stage);
    }
  }

  OrderView order_;
  int micro_batches_;
  int stages_;
  bool moves_data_ = false;
  std::optional<Fault> without_data_;  // counts only if the order moves data at all
  Scratch<std::uint8_t> has_;
  Scratch<int>
      source_;  // by micro-batch: 1 + the rank that last took its data before the first stage
};

}  // namespace detail

namespace detail {

constexpr std::optional<Fault> causality_of_stages(OrderView order) {
  return Causality{order}.fault();
}

}  // namespace detail

/// Law 3: no step of a rank uses what is not there yet: computed by an earlier step of the rank, or
/// received by one.
///
/// If an order moves data, a forward needs those of its micro-batch too; if it has a tower, the
/// first stage's forward needs the features, and the tower's gradients are reduced after its last
/// backward on the rank. Steps of the user have no law here. Requires: `coverage_fault` found
/// nothing. Complexity: linear in steps and in (stage, micro-batch) pairs; a byte a pair.
constexpr std::optional<Fault> causality_fault(OrderView order) {
  if (const auto fault = detail::causality_of_stages(order)) return fault;
  return detail::causality_of_tower(order);
}

}  // namespace heddle
