#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <heddle/core/order.hpp>
#include <heddle/core/step.hpp>
#include <heddle/verify/fault.hpp>
#include <heddle/verify/scratch.hpp>

namespace heddle::detail {

/// A broadcast or a reduction: a step that all ranks do together.
constexpr bool is_collective(StepKind kind) {
  return kind == StepKind::broadcast_tower || kind == StepKind::reduce_tower_gradient;
}

/// The stage that a step outside the stages carries.
constexpr int stage_outside(StepKind kind) {
  using enum StepKind;
  const bool of_gradients = kind == send_feature_gradient || kind == receive_and_tower_backward ||
                            kind == reduce_tower_gradient;
  return of_gradients ? 0 : no_stage;
}

/// Whether the rank of the first stage runs `kind`; otherwise the owner does.
constexpr bool is_of_first_rank(StepKind kind) {
  using enum StepKind;
  return kind == receive_data || kind == receive_feature || kind == receive_tower_input ||
         kind == tower_backward || kind == send_feature_gradient;
}

/// The rank that `step` belongs to. Requires: its numbers are in range; it is no reduction.
constexpr int home_of(OrderView order, Step step) {
  if (!is_outside(step)) return order.rank_of(step.stage);
  if (step.kind == StepKind::broadcast_tower) return step.micro_batch;
  return is_of_first_rank(step.kind) ? order.rank_of(0) : order.owner_of(step.micro_batch);
}

/// What is wrong with the numbers of a step outside the stages.
constexpr std::optional<FaultKind> misplaced_outside(OrderView order, Step step, int rank) {
  if (order.owner_of_micro_batch.empty()) return FaultKind::malformed_tables;
  const bool reduces = step.kind == StepKind::reduce_tower_gradient;
  const int end =
      step.kind == StepKind::broadcast_tower ? order.ranks() : order.shape.micro_batches;
  if (!reduces && (step.micro_batch < 0 || step.micro_batch >= end))
    return FaultKind::micro_batch_out_of_range;
  if (step.stage != stage_outside(step.kind)) return FaultKind::stage_out_of_range;
  if (!reduces && home_of(order, step) != rank) return FaultKind::wrong_rank;
  return std::nullopt;
}

/// Looks at the tower of one order.
///
/// What the order holds shows what it is: a tower forward, that there is a tower; a tower backward
/// on the first rank or the inputs for it, that it trains there; what else has to do with its
/// gradients, that its owners train it. The first rank's own micro-batches have no step then: their
/// tower backward is part of the first stage's.
class TowerCoverage {
 public:
  constexpr explicit TowerCoverage(OrderView order)
      : order_{order}, seen_{order.shape.micro_batches}, has_collective_{2 * order.ranks()} {}

  constexpr std::optional<Fault> fault() {
    for (int rank = 0; rank < order_.ranks(); ++rank) {
      if (const auto found = fault_of(rank)) return found;
    }
    if (const auto found = missing_work()) return found;
    if (const auto found = missing_collective(StepKind::broadcast_tower)) return found;
    return missing_collective(StepKind::reduce_tower_gradient);
  }

 private:
  static constexpr std::uint8_t ran_forward = 1;
  static constexpr std::uint8_t ran_backward = 2;

  constexpr std::optional<Fault> fault_of(int rank) {
    const int begin = order_.offsets[static_cast<std::size_t>(rank)];
    const int end = order_.offsets[static_cast<std::size_t>(rank) + 1];
    const Step* const steps = order_.steps.data();
    for (int at = begin; at < end; ++at) {
      if (!is_tower(steps[at].kind)) continue;
      if (const auto kind = note(steps[at], rank)) return fault_of(*kind, rank, at - begin);
    }
    return std::nullopt;
  }

  constexpr std::optional<FaultKind> note(const Step& step, int rank) {
    using enum StepKind;
    const bool trains = order_.shape.first_trained_stage == 0;
    switch (step.kind) {
      case tower_forward:
        runs_ = true;
        if (!first_time(step.micro_batch, ran_forward)) return FaultKind::tower_forward_twice;
        return std::nullopt;
      case tower_backward:
      case receive_and_tower_backward:
        (step.kind == tower_backward ? first_rank_trains_ : owners_train_) = true;
        if (!trains) return FaultKind::untrained_backward;
        if (!first_time(step.micro_batch, ran_backward)) return FaultKind::tower_backward_twice;
        return std::nullopt;
      case send_tower_input:
      case receive_tower_input: first_rank_trains_ = true; return std::nullopt;
      case send_feature_gradient: owners_train_ = true; return std::nullopt;
      case broadcast_tower: broadcasts_ = true; return note_collective(rank);
      case reduce_tower_gradient:
        owners_train_ = true;
        return note_collective(order_.ranks() + rank);
      default: return std::nullopt;
    }
  }

  constexpr bool first_time(int micro_batch, std::uint8_t what) {
    std::uint8_t& seen = seen_.data()[micro_batch];
    const bool first = (seen & what) == 0;
    seen = static_cast<std::uint8_t>(seen | what);
    return first;
  }

  constexpr std::optional<FaultKind> note_collective(int index) {
    bool& has = has_collective_.data()[index];
    if (has) return FaultKind::collective_twice;
    has = true;
    return std::nullopt;
  }

  constexpr Fault fault_of(FaultKind kind, int rank, int position) const {
    const Step step = order_.rank(rank)[static_cast<std::size_t>(position)];
    if (kind == FaultKind::untrained_backward) return fault_at(order_, kind, rank, position);
    if (kind != FaultKind::tower_backward_twice)
      return fault_at(order_, kind, rank, position, rank, step);
    const Step central{StepKind::tower_backward, step.micro_batch, no_stage};
    const Fault fault = fault_at(order_, kind, rank, position, order_.rank_of(0), central);
    const bool earlier = fault.other_position != no_position &&
                         (fault.other_rank != rank || fault.other_position < position);
    if (earlier) return fault;
    const Step own{StepKind::receive_and_tower_backward, step.micro_batch, 0};
    return fault_at(order_, kind, rank, position, order_.owner_of(step.micro_batch), own);
  }

  constexpr std::optional<Fault> missing_work() const {
    for (int micro_batch = 0; micro_batch < order_.shape.micro_batches; ++micro_batch) {
      const std::uint8_t seen = seen_.data()[micro_batch];
      if (runs_ && (seen & ran_forward) == 0) {
        return missing(FaultKind::missing_tower_forward,
                       {StepKind::tower_forward, micro_batch, no_stage});
      }
      if ((seen & ran_backward) != 0) continue;
      if (first_rank_trains_) {
        return missing(FaultKind::missing_tower_backward,
                       {StepKind::tower_backward, micro_batch, no_stage});
      }
      if (owners_train_ && order_.owner_of(micro_batch) != order_.rank_of(0)) {
        return missing(FaultKind::missing_tower_backward,
                       {StepKind::receive_and_tower_backward, micro_batch, 0});
      }
    }
    return std::nullopt;
  }

  constexpr std::optional<Fault> missing_collective(StepKind kind) const {
    const bool broadcast = kind == StepKind::broadcast_tower;
    if (!(broadcast ? broadcasts_ : owners_train_)) return std::nullopt;
    const bool* const has = has_collective_.data() + (broadcast ? 0 : order_.ranks());
    for (int rank = 0; rank < order_.ranks(); ++rank) {
      if (has[rank]) continue;
      const Step step = broadcast ? Step{kind, rank, no_stage} : Step{kind, no_micro_batch, 0};
      return Fault{
          .kind = FaultKind::missing_collective, .rank = rank, .step = step, .other_rank = rank};
    }
    return std::nullopt;
  }

  constexpr Fault missing(FaultKind kind, Step step) const {
    const int rank = home_of(order_, step);
    return {.kind = kind, .rank = rank, .step = step, .other_rank = rank};
  }

  OrderView order_;
  bool runs_ = false;
  bool first_rank_trains_ = false;
  bool owners_train_ = false;
  bool broadcasts_ = false;
  Scratch<std::uint8_t> seen_;    // by micro-batch: forward, backward
  Scratch<bool> has_collective_;  // by rank: the broadcast, then the reduction
};

/// The part of law 1 that is about the tower. Requires: that of the stages found nothing.
constexpr std::optional<Fault> coverage_of_tower(OrderView order) {
  if (order.owner_of_micro_batch.empty()) return std::nullopt;
  return TowerCoverage{order}.fault();
}

}  // namespace heddle::detail
