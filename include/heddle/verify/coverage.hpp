#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <heddle/core/order.hpp>
#include <heddle/core/shape.hpp>
#include <heddle/core/step.hpp>
#include <heddle/verify/fault.hpp>
#include <heddle/verify/scratch.hpp>
#include <heddle/verify/tower_coverage.hpp>

namespace heddle {

namespace detail {

/// Whether no micro-batch has an owner or each has a rank of the shape.
constexpr bool owners_agree(OrderView order) {
  const auto owners = order.owner_of_micro_batch;
  for (const int owner : owners) {
    if (owner < 0 || owner >= order.ranks()) return false;
  }
  return owners.empty() || owners.size() == static_cast<std::size_t>(order.shape.micro_batches);
}

/// Whether the tables of `order` have the sizes that its shape says and stay inside each other.
constexpr bool tables_agree(OrderView order) {
  if (shape_fault(order.shape)) return false;
  if (order.rank_of_stage.size() != static_cast<std::size_t>(order.shape.stages())) return false;
  for (const int rank : order.rank_of_stage) {
    if (rank < 0 || rank >= order.ranks()) return false;
  }
  if (order.offsets.size() != static_cast<std::size_t>(order.ranks()) + 1 ||
      order.offsets.front() != 0)
    return false;
  for (std::size_t rank = 0; rank + 1 < order.offsets.size(); ++rank) {
    if (order.offsets[rank] > order.offsets[rank + 1]) return false;
  }
  return static_cast<std::size_t>(order.offsets.back()) <= order.steps.size() &&
         owners_agree(order);
}

/// What of a stage's work on one micro-batch has been seen: one bit a compute kind, in the order of
/// the enumeration.
namespace seen {
inline constexpr std::uint8_t forward = 1;
inline constexpr std::uint8_t backward = 2;
inline constexpr std::uint8_t input_half = 4;
inline constexpr std::uint8_t weight_half = 8;
/// What must not have been seen when a step comes, by compute kind.
inline constexpr std::uint8_t excludes[] = {forward, backward | input_half | weight_half,
                                            backward | input_half, backward | weight_half};
}  // namespace seen

/// Looks at one order; see `coverage_fault`.
class Coverage {
 public:
  constexpr explicit Coverage(OrderView order)
      : order_{order},
        micro_batches_{order.shape.micro_batches},
        stages_{order.shape.stages()},
        seen_{stages_ * micro_batches_} {}

  constexpr std::optional<Fault> fault() {
    for (int rank = 0; rank < order_.ranks(); ++rank) {
      if (const auto found = fault_of(rank)) return found;
    }
    return missing();
  }

 private:
  constexpr std::optional<Fault> fault_of(int rank) {
    const int begin = order_.offsets[static_cast<std::size_t>(rank)];
    const int end = order_.offsets[static_cast<std::size_t>(rank) + 1];
    const Step* const steps = order_.steps.data();
    const int* const rank_of_stage = order_.rank_of_stage.data();
    std::uint8_t* const all_seen = seen_.data();
    for (int at = begin; at < end; ++at) {
      const Step& step = steps[at];
      if (step.kind < StepKind::forward || step.kind > StepKind::receive_gradient) {
        if (misplaced(step, rank)) return misplaced_fault(rank, at - begin);
        continue;
      }
      if (step.micro_batch < 0 || step.micro_batch >= micro_batches_ || step.stage < 0 ||
          step.stage >= stages_ || rank_of_stage[step.stage] != rank) {
        return misplaced_fault(rank, at - begin);
      }
      if (step.kind > StepKind::backward_weight) continue;
      const int compute = static_cast<int>(step.kind) - static_cast<int>(StepKind::forward);
      std::uint8_t& done = all_seen[step.stage * micro_batches_ + step.micro_batch];
      if ((done & seen::excludes[compute]) != 0) return repeated(rank, at - begin, done);
      if (compute > 0 && step.stage < order_.shape.first_trained_stage) {
        return fault_at(order_, FaultKind::untrained_backward, rank, at - begin);
      }
      done = static_cast<std::uint8_t>(done | (1 << compute));
    }
    return std::nullopt;
  }

  /// What is wrong with the numbers of a step, whatever its kind.
  constexpr std::optional<FaultKind> misplaced(Step step, int rank) const {
    if (step.kind == StepKind::idle || is_user(step.kind) || is_foreign(step.kind))
      return std::nullopt;
    if (step.kind > StepKind::wait_send_gradient) return FaultKind::unknown_kind;
    if (is_outside(step)) return misplaced_outside(order_, step, rank);
    if (step.micro_batch < 0 || step.micro_batch >= micro_batches_)
      return FaultKind::micro_batch_out_of_range;
    if (step.stage < 0 || step.stage >= stages_) return FaultKind::stage_out_of_range;
    if (order_.rank_of(step.stage) != rank) return FaultKind::wrong_rank;
    return std::nullopt;
  }

  constexpr Fault misplaced_fault(int rank, int position) const {
    Fault fault = fault_at(order_, FaultKind::wrong_rank, rank, position);
    fault.kind = misplaced(fault.step, rank).value_or(FaultKind::wrong_rank);
    if (fault.kind == FaultKind::wrong_rank) fault.other_rank = home_of(order_, fault.step);
    return fault;
  }

  constexpr Fault repeated(int rank, int position, std::uint8_t done) const {
    const Step step = order_.rank(rank)[static_cast<std::size_t>(position)];
    if (step.kind == StepKind::forward)
      return fault_at(order_, FaultKind::forward_twice, rank, position, rank, step);
    const int compute = static_cast<int>(step.kind) - static_cast<int>(StepKind::forward);
    const int before = done & seen::excludes[compute];
    const auto kind = (before & seen::backward) != 0     ? StepKind::backward
                      : (before & seen::input_half) != 0 ? StepKind::backward_input
                                                         : StepKind::backward_weight;
    return fault_at(order_, FaultKind::backward_twice, rank, position, rank,
                    {kind, step.micro_batch, step.stage});
  }

  constexpr std::optional<Fault> missing() const {
    const std::uint8_t* done = seen_.data();
    for (int stage = 0; stage < stages_; ++stage) {
      const bool trained = stage >= order_.shape.first_trained_stage;
      for (int micro_batch = 0; micro_batch < micro_batches_; ++micro_batch, ++done) {
        if (*done == (seen::forward | seen::backward) && trained) continue;
        if (*done == (seen::forward | seen::input_half | seen::weight_half)) continue;
        if (*done == seen::forward && !trained) continue;
        return missing(stage, micro_batch, *done);
      }
    }
    return std::nullopt;
  }

  constexpr Fault missing(int stage, int micro_batch, std::uint8_t done) const {
    const Step input{StepKind::backward_input, micro_batch, stage};
    const Step weight{StepKind::backward_weight, micro_batch, stage};
    Fault fault{.kind = FaultKind::missing_backward,
                .rank = order_.rank_of(stage),
                .step = {StepKind::backward, micro_batch, stage},
                .other_rank = order_.rank_of(stage)};
    if ((done & seen::forward) == 0) {
      fault.kind = FaultKind::missing_forward;
      fault.step.kind = StepKind::forward;
    } else if ((done & (seen::input_half | seen::weight_half)) != 0) {
      const bool has_input = (done & seen::input_half) != 0;
      fault.kind = has_input ? FaultKind::missing_weight_half : FaultKind::missing_input_half;
      fault.step = has_input ? weight : input;
      fault.other_step = has_input ? input : weight;
      fault.other_position = position_of(order_, fault.rank, fault.other_step);
    }
    return fault;
  }

  OrderView order_;
  int micro_batches_;
  int stages_;
  Scratch<std::uint8_t> seen_;
};

}  // namespace detail

namespace detail {

constexpr std::optional<Fault> coverage_of_stages(OrderView order) {
  if (!tables_agree(order)) return Fault{.kind = FaultKind::malformed_tables};
  return Coverage{order}.fault();
}

}  // namespace detail

/// Law 1: each stage runs each micro-batch forward once and, from the first stage that trains on,
/// backward once (or its input half and its weight half), on its own rank; every number is inside
/// the shape. A tower runs each micro-batch forward once on its owner, and if it trains backward
/// once; what all ranks do together each of them does once.
///
/// Complexity: linear in steps and in (stage, micro-batch) pairs; a byte a pair.
constexpr std::optional<Fault> coverage_fault(OrderView order) {
  if (const auto fault = detail::coverage_of_stages(order)) return fault;
  return detail::coverage_of_tower(order);
}

}  // namespace heddle
