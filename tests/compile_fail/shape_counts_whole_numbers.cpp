// expect-error: (narrowing conversion|cannot be narrowed)
#include <heddle/core/shape.hpp>

#ifdef HEDDLE_FIXED
constexpr heddle::PipelineShape shape{.ranks = 4, .micro_batches = 16};
#else
constexpr heddle::PipelineShape shape{.ranks = 4.5, .micro_batches = 16};
#endif
static_assert(shape.ranks == 4);
