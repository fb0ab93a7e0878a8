#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>

namespace {

using namespace heddle;

constexpr PipelineShape largest{.ranks = 8, .stages_per_rank = 4, .micro_batches = 64};

static_assert(exec_order<Interleaved1F1B, largest>().steps.size() == 12'032);
static_assert(exec_order<Interleaved1F1B, largest, DataSteps::chain>().steps.size() == 18'048);

}  // namespace
