#include <heddle/schedule/gpipe.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/mpipe_transpose.hpp>
#include <heddle/schedule/one_f_one_b.hpp>
#include <heddle/verify/valid.hpp>

using namespace heddle;

namespace {

constexpr MPipeTraits trainable{};
constexpr MPipeTraits frozen{.tower = Tower::frozen};
constexpr MPipeTraits by_owner{.backward = TowerBackward::owner};
constexpr MPipeTraits data_only{.tower = Tower::none, .data_only = true};

constexpr PipelineShape flat(int ranks, int micro_batches) {
  return {.ranks = ranks, .micro_batches = micro_batches};
}

constexpr PipelineShape deep(int ranks, int stages_per_rank, int micro_batches,
                             int first_trained_stage = 0) {
  return {ranks, stages_per_rank, micro_batches, first_trained_stage};
}

template <MPipeTraits traits, schedule Body, PipelineShape... shapes>
constexpr bool full_valid =
    (valid<MPipeTranspose<OverflowMode::full, traits, Body>, shapes, DataSteps::chain> && ...);

template <MPipeTraits traits, schedule Body, PipelineShape... shapes>
constexpr bool min_valid =
    (valid<MPipeTranspose<OverflowMode::min, traits, Body>, shapes, DataSteps::chain> && ...);

using Shallow = BasicInterleaved1F1B<InterleavedOptions{.warmup = Warmup::shallow}>;
using Short = BasicInterleaved1F1B<InterleavedOptions{.rounds = Rounds::short_rounds}>;

}  // namespace

// Sixty shapes: the four kinds of tower, both overflow modes, every body.
static_assert(full_valid<trainable, Interleaved1F1B, deep(1, 2, 3), deep(2, 1, 4), deep(2, 2, 3),
                         deep(3, 2, 5), deep(4, 1, 8), deep(4, 2, 2), deep(4, 2, 8)>);
static_assert(min_valid<trainable, Interleaved1F1B, deep(1, 1, 2), deep(2, 2, 4), deep(3, 1, 2),
                        deep(4, 1, 8)>);
static_assert(full_valid<frozen, Interleaved1F1B, deep(1, 2, 3), deep(2, 1, 4), deep(2, 2, 3),
                         deep(3, 2, 5), deep(4, 1, 8), deep(4, 2, 2), deep(4, 2, 8)>);
static_assert(
    min_valid<frozen, Interleaved1F1B, deep(1, 1, 2), deep(2, 2, 4), deep(3, 1, 2), deep(4, 1, 8)>);
static_assert(full_valid<by_owner, Interleaved1F1B, deep(1, 2, 3), deep(2, 1, 4), deep(2, 2, 3),
                         deep(3, 2, 5), deep(4, 1, 8), deep(4, 2, 2), deep(4, 2, 8)>);
static_assert(min_valid<by_owner, Interleaved1F1B, deep(1, 1, 2), deep(2, 2, 4), deep(3, 1, 2),
                        deep(4, 1, 8)>);
static_assert(full_valid<data_only, Interleaved1F1B, deep(1, 2, 3), deep(2, 1, 4), deep(2, 2, 3),
                         deep(3, 2, 5), deep(4, 1, 8), deep(4, 2, 2), deep(4, 2, 8)>);
static_assert(min_valid<data_only, Interleaved1F1B, deep(1, 1, 2), deep(2, 2, 4), deep(3, 1, 2),
                        deep(4, 1, 8)>);
static_assert(full_valid<trainable, GPipe, flat(1, 2), flat(3, 4)>);
static_assert(min_valid<by_owner, GPipe, flat(1, 2), flat(3, 4)>);
static_assert(min_valid<trainable, OneFOneB, flat(1, 2), flat(4, 6)>);
static_assert(full_valid<by_owner, OneFOneB, flat(1, 2), flat(4, 6)>);
static_assert(full_valid<frozen, OneFOneB, flat(4, 2)>);
static_assert(full_valid<trainable, Shallow, deep(2, 2, 3), deep(3, 2, 4)>);
static_assert(min_valid<by_owner, Short, deep(2, 2, 3), deep(3, 2, 4)>);
// Nothing of the tower trains where the first stage does not, or where nothing does.
static_assert(full_valid<trainable, Interleaved1F1B, deep(2, 2, 3, 1), deep(2, 2, 3, 4)>);
static_assert(min_valid<by_owner, Interleaved1F1B, deep(2, 2, 3, 1)>);

// The owners are part of the order.
static_assert(exec_order<MPipeTranspose<OverflowMode::full>, flat(3, 5)>().view().owner_of(4) == 1);
static_assert(exec_order<MPipeTranspose<OverflowMode::min>, flat(3, 5)>().view().owner_of(4) == 0);
