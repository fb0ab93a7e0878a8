#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <heddle/core/order.hpp>
#include <heddle/core/step.hpp>

namespace heddle {

/// The laws of an order, in the order in which `verify` asks them.
enum class Law : std::uint8_t { coverage, matching, causality, progress, memory };

/// What is wrong with an order. The step meant is the one at the fault's rank and position, "the
/// other" the one at its other rank and other position.
enum class FaultKind : std::uint8_t {
  // coverage
  malformed_tables,          ///< the tables of the order do not fit its shape
  unknown_kind,              ///< a kind of step that nobody defines
  micro_batch_out_of_range,  ///< a micro-batch that the shape does not have
  stage_out_of_range,        ///< a stage that the shape does not have
  wrong_rank,                ///< a step of a stage that the other rank runs
  forward_twice,             ///< the other is the earlier forward
  backward_twice,            ///< the other is the earlier backward, or a half of it
  untrained_backward,        ///< a backward of a stage below the first that trains
  missing_forward,           ///< nowhere in the order
  missing_backward,          ///< nowhere in the order, nor a half of it
  missing_input_half,        ///< nowhere in the order; the other is the weight half
  missing_weight_half,       ///< nowhere in the order; the other is the input half
  tower_forward_twice,       ///< the other is the earlier tower forward
  tower_backward_twice,      ///< the other is the earlier tower backward
  collective_twice,        ///< a broadcast or reduction of the tower; the other is the earlier one
  missing_tower_forward,   ///< nowhere in the order, though the tower runs for others
  missing_tower_backward,  ///< nowhere in the order, though the tower trains
  missing_collective,      ///< not on this rank, though other ranks wait for it

  // matching
  no_neighbour,          ///< a transfer beyond the first or the last stage
  neighbour_on_rank,     ///< a transfer between stages of one rank, which need none
  untrained_gradient,    ///< a gradient for a stage below the first that trains
  send_twice,            ///< the other is the earlier send
  receive_twice,         ///< the other is the earlier receive
  send_to_itself,        ///< the other is the receive, on the same rank
  send_without_receive,  ///< the other is the receive that is missing
  receive_without_send,  ///< the other is the send that is missing
  overtaken_receive,  ///< the other is its send, which comes before one that was received earlier

  // causality; the other is the step that has to come first
  forward_before_input,
  forward_before_data,
  send_before_forward,
  backward_before_forward,
  backward_before_gradient,
  weight_half_before_input_half,
  send_before_backward,
  send_before_data,
  forward_before_feature,
  tower_forward_before_data,
  tower_forward_before_broadcast,
  send_before_tower_forward,
  tower_backward_before_forward,
  tower_backward_before_gradient,
  tower_backward_before_input,
  reduce_before_backward,

  // progress
  wait_cycle,    ///< ranks wait for each other in a circle; the other is the step waited for
  endless_wait,  ///< the other, which is waited for, is missing

  // memory
  too_many_live,  ///< a forward with more saved activations than its rank may hold
};

/// The law that a kind of fault breaks.
constexpr Law law_of(FaultKind kind) {
  if (kind <= FaultKind::missing_collective) return Law::coverage;
  if (kind <= FaultKind::overtaken_receive) return Law::matching;
  if (kind <= FaultKind::reduce_before_backward) return Law::causality;
  if (kind <= FaultKind::endless_wait) return Law::progress;
  return Law::memory;
}

/// In a fault: a step that is not in the order.
inline constexpr int no_position = -1;

/// The first place where an order breaks a law. Only scalars, so that it can be found and shown at
/// compile time.
///
/// Positions count from 0 within the list of a rank; `no_position` says that the step is not in the
/// list.
struct Fault {
  FaultKind kind{};
  int rank = 0;
  int position = no_position;
  Step step{};
  int other_rank = 0;
  int other_position = no_position;
  Step other_step{};

  constexpr Law law() const { return law_of(kind); }

  friend constexpr bool operator==(const Fault&, const Fault&) = default;
};

namespace detail {

/// Where `step` first stands in the list of `rank`; only for words about a fault that was found.
constexpr int position_of(OrderView order, int rank, Step step) {
  const auto list = order.rank(rank);
  for (std::size_t position = 0; position < list.size(); ++position) {
    if (list[position] == step) return static_cast<int>(position);
  }
  return no_position;
}

/// The fault of the step at `position` that has to do with no other.
constexpr Fault fault_at(OrderView order, FaultKind kind, int rank, int position) {
  return {.kind = kind,
          .rank = rank,
          .position = position,
          .step = order.rank(rank)[static_cast<std::size_t>(position)],
          .other_rank = rank};
}

/// The fault of the step at `position` that has to do with `other` of `other_rank`.
constexpr Fault fault_at(OrderView order, FaultKind kind, int rank, int position, int other_rank,
                         Step other) {
  Fault fault = fault_at(order, kind, rank, position);
  fault.other_rank = other_rank;
  fault.other_position = position_of(order, other_rank, other);
  fault.other_step = other;
  return fault;
}

}  // namespace detail

}  // namespace heddle
