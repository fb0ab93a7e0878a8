// expect-error: the tables of the order do not fit its shape
// expect-error: a step is of a kind that is not defined
// expect-error: a step is for a micro-batch that the shape does not have
// expect-error: a step is for a stage where it cannot be
// expect-error: a step is on another rank than its stage
// expect-error: a stage runs a micro-batch forward twice
// expect-error: a stage runs a micro-batch backward twice
// expect-error: a stage runs backward, but it is below the first stage with anything to train
// expect-error: a stage never runs a micro-batch forward
// expect-error: a stage never runs a micro-batch backward
// expect-error: a weight half of a backward has no input half
// expect-error: an input half of a backward has no weight half
// expect-error: the tower runs a micro-batch forward twice
// expect-error: the tower runs a micro-batch backward twice
// expect-error: a rank does twice what all ranks do once
// expect-error: the tower never runs a micro-batch forward
// expect-error: the tower trains, but never runs a micro-batch backward
// expect-error: a rank leaves out what all ranks do together
// Each kind of fault has a sentence of its own, which the compiler prints.
#include <heddle/core/step.hpp>
#include <heddle/verify/valid.hpp>

using enum heddle::FaultKind;

template <heddle::FaultKind... Kinds>
consteval bool report_all() {
  (heddle::report<Kinds, 1, 7, heddle::StepKind::forward, 3, 2, 0, 5>(), ...);
  return true;
}

#ifdef HEDDLE_FIXED
static_assert(report_all<>());
#else
static_assert(
    report_all<malformed_tables, unknown_kind, micro_batch_out_of_range, stage_out_of_range,
               wrong_rank, forward_twice, backward_twice, untrained_backward, missing_forward,
               missing_backward, missing_input_half, missing_weight_half, tower_forward_twice,
               tower_backward_twice, collective_twice, missing_tower_forward,
               missing_tower_backward, missing_collective>());
#endif
