// expect-error: ranks wait for each other in a circle: the order deadlocks
// expect-error: FaultKind::wait_cycle(, |; int Rank = )0(, |; int Position = )3
#include <heddle/schedule/one_f_one_b.hpp>
#include <heddle/verify/valid.hpp>

using namespace heddle;

/// 1F1B on two ranks, but each sends what it has before it receives.
struct SendsFirst : OneFOneB {
  template <class Emit>
  static constexpr void lower(OrderView /*columns*/, DataSteps /*data*/, Emit emit) {
    for (const Step step :
         {forward(0, 0), Step{StepKind::send_activation, 0, 0}, forward(1, 0),
          Step{StepKind::send_activation, 1, 0}, Step{StepKind::receive_gradient, 0, 0},
          backward(0, 0), Step{StepKind::receive_gradient, 1, 0}, backward(1, 0)}) {
      emit(0, step);
    }
    for (const Step step :
         {Step{StepKind::receive_activation, 0, 1}, forward(0, 1), backward(0, 1),
          Step{StepKind::send_gradient, 0, 1}, Step{StepKind::receive_activation, 1, 1},
          forward(1, 1), backward(1, 1), Step{StepKind::send_gradient, 1, 1}}) {
      emit(1, step);
    }
  }
};

constexpr PipelineShape shape{.ranks = 2, .micro_batches = 2};

#ifdef HEDDLE_FIXED
static_assert(valid<OneFOneB, shape>);
static_assert(first_fault<SendsFirst, shape>->kind == FaultKind::wait_cycle);
#else
static_assert(valid<SendsFirst, shape>);
#endif
