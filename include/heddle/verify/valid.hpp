#pragma once

#include <optional>

#include <heddle/core/shape.hpp>
#include <heddle/core/step.hpp>
#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/schedule.hpp>
#include <heddle/verify/causality.hpp>
#include <heddle/verify/coverage.hpp>
#include <heddle/verify/fault.hpp>
#include <heddle/verify/matching.hpp>
#include <heddle/verify/progress.hpp>

namespace heddle {

namespace detail {

// Each law is a constant evaluation of its own: compilers limit the work of one.

template <schedule Schedule, PipelineShape shape, DataSteps Data>
inline constexpr auto first_coverage_fault =
    coverage_of_stages(exec_order<Schedule, shape, Data>());

template <schedule Schedule, PipelineShape shape, DataSteps Data>
inline constexpr auto first_tower_coverage_fault =
    coverage_of_tower(exec_order<Schedule, shape, Data>());

template <schedule Schedule, PipelineShape shape, DataSteps Data>
inline constexpr auto first_matching_fault = matching_fault(exec_order<Schedule, shape, Data>());

template <schedule Schedule, PipelineShape shape, DataSteps Data>
inline constexpr auto first_causality_fault =
    causality_of_stages(exec_order<Schedule, shape, Data>());

template <schedule Schedule, PipelineShape shape, DataSteps Data>
inline constexpr auto first_tower_causality_fault =
    causality_of_tower(exec_order<Schedule, shape, Data>());

template <schedule Schedule, PipelineShape shape, DataSteps Data>
inline constexpr auto first_progress_fault = progress_fault(exec_order<Schedule, shape, Data>());

/// Later laws require that coverage found nothing, so they are not even evaluated then.
template <schedule Schedule, PipelineShape shape, DataSteps Data>
consteval std::optional<Fault> find_first_fault() {
  if constexpr (first_coverage_fault<Schedule, shape, Data>.has_value()) {
    return first_coverage_fault<Schedule, shape, Data>;
  } else if constexpr (first_tower_coverage_fault<Schedule, shape, Data>.has_value()) {
    return first_tower_coverage_fault<Schedule, shape, Data>;
  } else if constexpr (first_matching_fault<Schedule, shape, Data>.has_value()) {
    return first_matching_fault<Schedule, shape, Data>;
  } else if constexpr (first_causality_fault<Schedule, shape, Data>.has_value()) {
    return first_causality_fault<Schedule, shape, Data>;
  } else if constexpr (first_tower_causality_fault<Schedule, shape, Data>.has_value()) {
    return first_tower_causality_fault<Schedule, shape, Data>;
  } else {
    return first_progress_fault<Schedule, shape, Data>;
  }
}

}  // namespace detail

/// The first fault of the order that `Schedule` makes of `shape`, if it has one: what `verify`
/// finds in it at run time.
///
/// Errors: a shape that the schedule cannot have does not compile.
template <schedule Schedule, PipelineShape shape, DataSteps Data = DataSteps::none>
inline constexpr std::optional<Fault> first_fault =
    detail::find_first_fault<Schedule, shape, Data>();

/// Refuses an order at compile time: the compiler shows the sentence of the fault and where it is.
template <FaultKind Kind, int Rank, int Position, StepKind Step, int MicroBatch, int Stage,
          int OtherRank, int OtherPosition>
consteval void report() {
  using enum FaultKind;
  static_assert(Kind != malformed_tables, "the tables of the order do not fit its shape");
  static_assert(Kind != unknown_kind, "a step is of a kind that is not defined");
  static_assert(Kind != micro_batch_out_of_range,
                "a step is for a micro-batch that the shape does not have");
  static_assert(Kind != stage_out_of_range, "a step is for a stage where it cannot be");
  static_assert(Kind != wrong_rank,
                "a step is on another rank than its stage or the owner of its micro-batch");
  static_assert(Kind != forward_twice, "a stage runs a micro-batch forward twice");
  static_assert(Kind != backward_twice, "a stage runs a micro-batch backward twice");
  static_assert(Kind != untrained_backward,
                "a stage runs backward, but it is below the first stage with anything to train");
  static_assert(Kind != missing_forward, "a stage never runs a micro-batch forward");
  static_assert(Kind != missing_backward, "a stage never runs a micro-batch backward");
  static_assert(Kind != missing_input_half, "a weight half of a backward has no input half");
  static_assert(Kind != missing_weight_half, "an input half of a backward has no weight half");
  static_assert(Kind != tower_forward_twice, "the tower runs a micro-batch forward twice");
  static_assert(Kind != tower_backward_twice, "the tower runs a micro-batch backward twice");
  static_assert(Kind != collective_twice, "a rank does twice what all ranks do once");
  static_assert(Kind != missing_tower_forward, "the tower never runs a micro-batch forward");
  static_assert(Kind != missing_tower_backward,
                "the tower trains, but never runs a micro-batch backward");
  static_assert(Kind != missing_collective, "a rank leaves out what all ranks do together");
  static_assert(Kind != no_neighbour, "a transfer leads beyond the first or the last stage");
  static_assert(Kind != neighbour_on_rank,
                "a transfer is between stages of one rank, which hand over in memory");
  static_assert(Kind != untrained_gradient,
                "a gradient is moved below the first stage with anything to train");
  static_assert(Kind != send_twice, "a message is sent twice");
  static_assert(Kind != receive_twice, "a message is received twice");
  static_assert(Kind != send_to_itself, "a rank sends a message to itself");
  static_assert(Kind != send_without_receive, "a send has no receive");
  static_assert(Kind != receive_without_send, "a receive has no send");
  static_assert(Kind != overtaken_receive,
                "a receive comes after that of a later message from the same rank");
  static_assert(Kind != forward_before_input, "a forward comes before its input");
  static_assert(Kind != forward_before_data, "a forward comes before its data");
  static_assert(Kind != send_before_forward, "an activation is sent before its forward");
  static_assert(Kind != backward_before_forward, "a backward comes before its forward");
  static_assert(Kind != backward_before_gradient, "a backward comes before its gradient");
  static_assert(Kind != weight_half_before_input_half,
                "a weight half of a backward comes before its input half");
  static_assert(Kind != send_before_backward, "a gradient is sent before its backward");
  static_assert(Kind != send_before_data, "data are sent before they are there");
  static_assert(Kind != forward_before_feature,
                "a forward of the first stage comes before the features of its micro-batch");
  static_assert(Kind != tower_forward_before_data, "a tower forward comes before its data");
  static_assert(Kind != tower_forward_before_broadcast,
                "a tower forward comes before the broadcast of the tower");
  static_assert(Kind != send_before_tower_forward,
                "features or inputs of the tower are sent before its forward");
  static_assert(Kind != tower_backward_before_forward,
                "a tower backward comes before the tower's forward");
  static_assert(Kind != tower_backward_before_gradient,
                "a tower backward comes before the backward of the first stage");
  static_assert(Kind != tower_backward_before_input,
                "a tower backward comes before the tower's input");
  static_assert(Kind != reduce_before_backward,
                "the gradient of the tower is reduced before its last backward");
  static_assert(Kind != wait_cycle, "ranks wait for each other in a circle: the order deadlocks");
  static_assert(Kind != endless_wait, "a rank waits for a step that is nowhere");
  static_assert(Kind != too_many_live, "a rank saves more activations than it may hold");
}

namespace detail {

template <schedule Schedule, PipelineShape shape, DataSteps Data>
consteval bool prove() {
  if constexpr (has_possible_shape<Schedule, shape>()) {
    constexpr auto fault = first_fault<Schedule, shape, Data>;
    if constexpr (fault.has_value()) {
      report<fault->kind, fault->rank, fault->position, fault->step.kind, fault->step.micro_batch,
             fault->step.stage, fault->other_rank, fault->other_position>();
    }
    return !fault.has_value();
  } else {
    return false;
  }
}

}  // namespace detail

/// True if the order that `Schedule` makes of `shape` obeys all laws; otherwise it does not
/// compile, and the compiler shows what is wrong, with rank, position and step.
///
/// Complexity: linear in steps, one constant evaluation a law.
/// Example: `static_assert(heddle::valid<heddle::GPipe, shape>);`
template <schedule Schedule, PipelineShape shape, DataSteps Data = DataSteps::none>
inline constexpr bool valid = detail::prove<Schedule, shape, Data>();

}  // namespace heddle
