#include <heddle/schedule/exec_order.hpp>

#include <vector>

#include <heddle/schedule/interleaved_1f1b.hpp>

// Compiled with a part of the compilers' allowance for constant evaluation.
namespace {

using namespace heddle;

constexpr PipelineShape large{.ranks = 8, .stages_per_rank = 4, .micro_batches = 16};

/// As a user would write it: columns in a vector, no idle ones, transfers by alignment.
struct Unaligned {
  static constexpr std::vector<Step> columns(PipelineShape shape, int rank) {
    std::vector<Step> steps;
    for (const Step step : Interleaved1F1B::columns(shape, rank)) {
      if (step != idle) steps.push_back(step);
    }
    return steps;
  }
};

static_assert(exec_order<Interleaved1F1B, large>().steps.size() == 3008);
static_assert(exec_order<Interleaved1F1B, large, DataSteps::chain>().steps.size() == 4512);
static_assert(exec_order<Unaligned, large>().steps.size() == 3008);

}  // namespace
