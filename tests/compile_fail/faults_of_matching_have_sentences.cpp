// expect-error: a transfer leads beyond the first or the last stage
// expect-error: a transfer is between stages of one rank, which hand over in memory
// expect-error: a gradient is moved below the first stage with anything to train
// expect-error: a message is sent twice
// expect-error: a message is received twice
// expect-error: a rank sends a message to itself
// expect-error: a send has no receive
// expect-error: a receive has no send
// expect-error: a receive comes after that of a later message from the same rank
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
    report_all<no_neighbour, neighbour_on_rank, untrained_gradient, send_twice, receive_twice,
               send_to_itself, send_without_receive, receive_without_send, overtaken_receive>());
#endif
