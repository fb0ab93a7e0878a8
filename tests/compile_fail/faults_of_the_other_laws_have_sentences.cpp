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
// expect-error: a forward of the first stage comes before the features of its micro-batch
// expect-error: a tower forward comes before its data
// expect-error: a tower forward comes before the broadcast of the tower
// expect-error: features or inputs of the tower are sent before its forward
// expect-error: a tower backward comes before the tower's forward
// expect-error: a tower backward comes before the backward of the first stage
// expect-error: a tower backward comes before the tower's input
// expect-error: the gradient of the tower is reduced before its last backward
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
               send_before_backward, send_before_data, forward_before_feature,
               tower_forward_before_data, tower_forward_before_broadcast, send_before_tower_forward,
               tower_backward_before_forward, tower_backward_before_gradient,
               tower_backward_before_input, reduce_before_backward, wait_cycle, endless_wait,
               too_many_live>());
#endif
