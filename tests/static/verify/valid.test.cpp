#include <heddle/schedule/gpipe.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/one_f_one_b.hpp>
#include <heddle/verify/valid.hpp>

using namespace heddle;

namespace {

constexpr PipelineShape flat(int ranks, int micro_batches, int first_trained_stage = 0) {
  return {
      .ranks = ranks, .micro_batches = micro_batches, .first_trained_stage = first_trained_stage};
}

constexpr PipelineShape deep(int ranks, int stages_per_rank, int micro_batches,
                             int first_trained_stage = 0) {
  return {ranks, stages_per_rank, micro_batches, first_trained_stage};
}

// The type of a schedule does not matter to its proof: each is proved with and without data steps.
template <schedule Schedule, PipelineShape... shapes>
constexpr bool all_valid =
    ((valid<Schedule, shapes> && valid<Schedule, shapes, DataSteps::chain>)&&...);

}  // namespace

static_assert(
    all_valid<GPipe, flat(1, 1), flat(1, 3), flat(2, 1), flat(3, 5), flat(4, 2), flat(4, 8)>);
static_assert(all_valid<OneFOneB, flat(1, 1), flat(1, 3), flat(2, 1), flat(3, 5), flat(4, 2),
                        flat(4, 8), flat(8, 1)>);

// Frozen prefixes: nothing, something and everything trains.
static_assert(all_valid<GPipe, flat(4, 4, 2), flat(4, 4, 4)>);
static_assert(all_valid<OneFOneB, flat(4, 4, 1), flat(4, 4, 2), flat(4, 4, 3), flat(4, 4, 4)>);

static_assert(all_valid<Interleaved1F1B, deep(1, 1, 1), deep(1, 3, 2), deep(2, 1, 4), deep(2, 2, 4),
                        deep(2, 2, 3), deep(4, 2, 1), deep(4, 2, 2), deep(4, 2, 7), deep(4, 2, 8),
                        deep(3, 3, 5), deep(4, 2, 8, 3), deep(2, 2, 4, 4)>);
static_assert(all_valid<BasicInterleaved1F1B<InterleavedOptions{.warmup = Warmup::shallow}>,
                        deep(1, 2, 2), deep(2, 2, 3), deep(4, 2, 8), deep(3, 3, 5)>);
static_assert(all_valid<BasicInterleaved1F1B<InterleavedOptions{.rounds = Rounds::short_rounds}>,
                        deep(2, 2, 3), deep(4, 2, 7)>);

// Under reduced limits: see limits.test.cpp for what the compilers' own allow.
static_assert(valid<Interleaved1F1B, deep(8, 4, 16)>);
