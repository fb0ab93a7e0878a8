// expect-error: a stage never runs a micro-batch backward
// expect-error: FaultKind::missing_backward(, |; int Rank = )1(, |; int Position = )-1
#include <heddle/schedule/schedule.hpp>
#include <heddle/verify/valid.hpp>

#include <vector>

using namespace heddle;

/// Forward and backward of each micro-batch in turn; the last backward of the last rank only if
/// asked.
template <bool Whole>
struct InTurn {
  static constexpr auto columns(PipelineShape shape, int rank) {
    std::vector<Step> steps;
    for (int micro = 0; micro < shape.micro_batches; ++micro) {
      steps.push_back(forward(micro, rank));
      steps.push_back(backward(micro, rank));
    }
    if (!Whole && rank + 1 == shape.ranks) steps.pop_back();
    return steps;
  }
};

constexpr PipelineShape shape{.ranks = 2, .micro_batches = 3};

#ifdef HEDDLE_FIXED
static_assert(valid<InTurn<true>, shape>);
#else
static_assert(valid<InTurn<false>, shape>);
#endif
