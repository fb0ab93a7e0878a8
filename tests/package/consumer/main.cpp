// The spellings that are promised to users.
#include <heddle/core/shape.hpp>
#include <heddle/core/version.hpp>

constexpr heddle::PipelineShape shape{.ranks = 4, .stages_per_rank = 2, .micro_batches = 16};
static_assert(shape.stages() == 8);

int main() { return heddle::version < heddle::Version{.major = 0, .minor = 1, .patch = 0} ? 1 : 0; }
