// With the compilers' own limits: the largest order that is promised to be proved at compile time.

#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/mpipe_transpose.hpp>
#include <heddle/verify/valid.hpp>

using namespace heddle;

constexpr PipelineShape shape{.ranks = 8, .stages_per_rank = 4, .micro_batches = 64};

static_assert(exec_order<Interleaved1F1B, shape>().steps.size() == 12'032);
static_assert(valid<Interleaved1F1B, shape>);
static_assert(valid<MPipeTranspose<OverflowMode::full>, shape>);
