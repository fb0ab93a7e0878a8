// expect-error: a forward comes before its input
// expect-error: a forward comes before its data
// expect-error: an activation is sent before its forward
// expect-error: a backward comes before its forward
// expect-error: a backward comes before its gradient
// expect-error: a weight half of a backward comes before its input half
// expect-error: a gradient is sent before its backward
// expect-error: data are sent before they are there
// expect-error: ranks wait for each other in a circle: the order deadlocks
// expect-error: a rank waits for a step that is nowhere
// expect-error: a rank saves more activations than it may hold
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
    report_all<forward_before_input, forward_before_data, send_before_forward,
               backward_before_forward, backward_before_gradient, weight_half_before_input_half,
               send_before_backward, send_before_data, wait_cycle, endless_wait, too_many_live>());
#endif
