// expect-error: first_trained_stage has a value that this schedule cannot have
#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/one_f_one_b.hpp>

#ifdef HEDDLE_FIXED
constexpr heddle::PipelineShape shape{.ranks = 4, .micro_batches = 16};
#else
constexpr heddle::PipelineShape shape{.ranks = 4, .micro_batches = 16, .first_trained_stage = 5};
#endif
static_assert(heddle::exec_order<heddle::OneFOneB, shape>().ranks() > 0);
