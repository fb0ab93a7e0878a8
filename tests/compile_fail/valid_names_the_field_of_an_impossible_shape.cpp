// expect-error: stages_per_rank has a value that this schedule cannot have
// expect-error: micro_batches has a value that this schedule cannot have
// expect-error: ranks has a value that this schedule cannot have
// expect-error: first_trained_stage has a value that this schedule cannot have
#include <heddle/schedule/gpipe.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/verify/valid.hpp>

using namespace heddle;

#ifdef HEDDLE_FIXED
static_assert(valid<GPipe, {.ranks = 2, .micro_batches = 3}>);
static_assert(valid<Interleaved1F1B, {.ranks = 2, .stages_per_rank = 2, .micro_batches = 3}>);
#else
static_assert(valid<GPipe, {.ranks = 2, .stages_per_rank = 2, .micro_batches = 3}>);
static_assert(valid<Interleaved1F1B, {.ranks = 2, .stages_per_rank = 2}>);
static_assert(valid<Interleaved1F1B, {.ranks = -1, .micro_batches = 3}>);
static_assert(valid<GPipe, {.ranks = 2, .micro_batches = 3, .first_trained_stage = 3}>);
#endif
