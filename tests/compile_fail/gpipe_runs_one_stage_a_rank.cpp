// expect-error: stages_per_rank has a value that this schedule cannot have
#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/gpipe.hpp>

#ifdef HEDDLE_FIXED
constexpr heddle::PipelineShape shape{.ranks = 4, .micro_batches = 16};
#else
constexpr heddle::PipelineShape shape{.ranks = 4, .stages_per_rank = 2, .micro_batches = 16};
#endif
static_assert(heddle::exec_order<heddle::GPipe, shape>().ranks() > 0);
