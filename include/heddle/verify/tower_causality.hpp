#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <heddle/core/order.hpp>
#include <heddle/core/step.hpp>
#include <heddle/verify/fault.hpp>
#include <heddle/verify/scratch.hpp>

namespace heddle::detail {

/// What a rank has of one micro-batch of the tower at a point of its list: bits. The owner's and
/// the first rank's are different ones, so that they can share a byte.
namespace tower_has {
inline constexpr std::uint8_t data = 1;       ///< on the owner, loaded
inline constexpr std::uint8_t output = 2;     ///< on the owner, computed
inline constexpr std::uint8_t feature = 4;    ///< on the first rank, computed or received
inline constexpr std::uint8_t input = 8;      ///< on the first rank, kept or received
inline constexpr std::uint8_t gradient = 16;  ///< on the first rank, of the features
}  // namespace tower_has

/// Looks at the tower of one order; see `causality_fault`.
class TowerCausality {
 public:
  constexpr explicit TowerCausality(OrderView order)
      : order_{order}, has_{order.shape.micro_batches} {}

  constexpr std::optional<Fault> fault() {
    for (int rank = 0; rank < order_.ranks(); ++rank) {
      if (const auto found = fault_of(rank)) return found;
    }
    if (moves_data_ && without_data_) return without_data_;
    return runs_ ? without_feature_ : std::nullopt;
  }

 private:
  constexpr std::optional<Fault> fault_of(int rank) {
    const int begin = order_.offsets[static_cast<std::size_t>(rank)];
    const int end = order_.offsets[static_cast<std::size_t>(rank) + 1];
    const Step* const steps = order_.steps.data();
    first_forward_ = no_position;
    reduction_ = no_position;
    for (int at = begin; at < end; ++at) {
      const Step& step = steps[at];
      if (is_data(step.kind)) moves_data_ = true;
      const bool of_first_stage = step.stage == 0 && step.kind <= StepKind::backward_input;
      if (!of_first_stage && !is_tower(step.kind) && step.kind != StepKind::load) continue;
      if (const auto found = look(step, rank, at - begin)) return found;
    }
    return std::nullopt;
  }

  constexpr std::optional<Fault> look(const Step& step, int rank, int position) {
    using enum StepKind;
    const int micro_batch = step.micro_batch;
    switch (step.kind) {
      case load:
        if (step.stage <= 0) gain(micro_batch, tower_has::data);
        return std::nullopt;
      case broadcast_tower:
        if (first_forward_ == no_position) return std::nullopt;
        return fault_at(order_, FaultKind::tower_forward_before_broadcast, rank, first_forward_,
                        rank, step);
      case tower_forward: run_forward(micro_batch, rank, position); return std::nullopt;
      case receive_feature: gain(micro_batch, tower_has::feature); return std::nullopt;
      case receive_tower_input: gain(micro_batch, tower_has::input); return std::nullopt;
      case send_feature:
      case send_tower_input:
        if (has(micro_batch, tower_has::output)) return std::nullopt;
        return early(FaultKind::send_before_tower_forward, rank, position, tower_forward, no_stage);
      case forward:
        if (!has(micro_batch, tower_has::feature) && !without_feature_)
          without_feature_ =
              from_owner(FaultKind::forward_before_feature, rank, position, receive_feature);
        return std::nullopt;
      case backward:
      case backward_input:
        gain(micro_batch, tower_has::gradient);
        if (reduction_ == no_position || order_.owner_of(micro_batch) != rank) return std::nullopt;
        return fault_at(order_, FaultKind::reduce_before_backward, rank, reduction_, rank, step);
      case reduce_tower_gradient: reduction_ = position; return std::nullopt;
      default: return look_at_gradients(step, rank, position);
    }
  }

  constexpr std::optional<Fault> look_at_gradients(const Step& step, int rank, int position) {
    using enum StepKind;
    const int micro_batch = step.micro_batch;
    const bool received = step.kind == receive_and_tower_backward;
    if (received && !has(micro_batch, tower_has::output)) {
      return early(FaultKind::tower_backward_before_forward, rank, position, tower_forward,
                   no_stage);
    }
    if (!received && !has(micro_batch, tower_has::gradient)) {
      const auto kind = step.kind == tower_backward ? FaultKind::tower_backward_before_gradient
                                                    : FaultKind::send_before_backward;
      const Fault whole = early(kind, rank, position, backward, 0);
      return whole.other_position == no_position ? early(kind, rank, position, backward_input, 0)
                                                 : whole;
    }
    if (step.kind == tower_backward && !has(micro_batch, tower_has::input))
      return from_owner(FaultKind::tower_backward_before_input, rank, position,
                        receive_tower_input);
    if (step.kind == send_feature_gradient || reduction_ == no_position) return std::nullopt;
    return fault_at(order_, FaultKind::reduce_before_backward, rank, reduction_, rank, step);
  }

  constexpr void run_forward(int micro_batch, int rank, int position) {
    runs_ = true;
    if (first_forward_ == no_position) first_forward_ = position;
    if (!has(micro_batch, tower_has::data) && !without_data_)
      without_data_ =
          early(FaultKind::tower_forward_before_data, rank, position, StepKind::load, no_stage);
    gain(micro_batch, tower_has::output);
    if (rank == order_.rank_of(0)) gain(micro_batch, tower_has::feature | tower_has::input);
  }

  constexpr bool has(int micro_batch, std::uint8_t what) const {
    return (has_.data()[micro_batch] & what) != 0;
  }

  constexpr void gain(int micro_batch, int what) {
    std::uint8_t& own = has_.data()[micro_batch];
    own = static_cast<std::uint8_t>(own | what);
  }

  /// The fault of the step at `position`, which needs an earlier step of its rank.
  constexpr Fault early(FaultKind kind, int rank, int position, StepKind needed, int stage) const {
    const int micro_batch = order_.rank(rank)[static_cast<std::size_t>(position)].micro_batch;
    return fault_at(order_, kind, rank, position, rank, {needed, micro_batch, stage});
  }

  /// The same for what comes from the owner in a message, or from the rank itself.
  constexpr Fault from_owner(FaultKind kind, int rank, int position, StepKind message) const {
    const int micro_batch = order_.rank(rank)[static_cast<std::size_t>(position)].micro_batch;
    const bool local = order_.owner_of(micro_batch) == rank;
    return early(kind, rank, position, local ? StepKind::tower_forward : message, no_stage);
  }

  OrderView order_;
  bool runs_ = false;
  bool moves_data_ = false;
  int first_forward_ = no_position;       // of the tower, in the list looked at
  int reduction_ = no_position;           // in the list looked at
  std::optional<Fault> without_data_;     // counts only if the order moves data at all
  std::optional<Fault> without_feature_;  // counts only if there is a tower at all
  Scratch<std::uint8_t> has_;
};

/// The part of law 3 that is about the tower. Requires: that of the stages found nothing.
constexpr std::optional<Fault> causality_of_tower(OrderView order) {
  if (order.owner_of_micro_batch.empty()) return std::nullopt;
  return TowerCausality{order}.fault();
}

}  // namespace heddle::detail
