#include <heddle/schedule/gpipe.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/one_f_one_b.hpp>
#include <support/reads.hpp>

namespace {

using namespace heddle;
using heddle_test::reads;

constexpr PipelineShape four_by_four{.ranks = 4, .micro_batches = 4};

static_assert(reads(GPipe::columns(four_by_four, 0), "F0 F1 F2 F3 B0 B1 B2 B3"));
static_assert(reads(GPipe::columns(four_by_four, 3), "F0 F1 F2 F3 B0 B1 B2 B3"));
static_assert(!reads(GPipe::columns(four_by_four, 3), "F0 F1 F2 F3 B0 B1 B3 B2"));
static_assert(!reads(GPipe::columns(four_by_four, 3), "F0 F1 F2 F3 B0 B1 B2"));
static_assert(!reads(GPipe::columns(four_by_four, 3), "F0 F1 F2 F3 B0 B1 B2 B3 -"));
static_assert(reads(GPipe::columns(four_by_four, 3), "F0@3 F1@3 F2@3 F3@3 B0@3 B1@3 B2@3 B3@3"));

static_assert(reads(OneFOneB::columns(four_by_four, 0), "F0 F1 F2 F3 B0 B1 B2 B3"));
static_assert(reads(OneFOneB::columns(four_by_four, 3), "F0 B0 F1 B1 F2 B2 F3 B3"));
static_assert(reads(OneFOneB::columns({.ranks = 3, .micro_batches = 1}, 0), "F0 B0"));

constexpr PipelineShape two_rounds{.ranks = 2, .stages_per_rank = 2, .micro_batches = 4};

static_assert(reads(Interleaved1F1B::columns(two_rounds, 0),
                    "F0@0 F1@0 F0@2 F1@2 - F2@0 B0@2 F3@0 B1@2 F2@2 B0@0 F3@2 B1@0 "
                    "- B2@2 - B3@2 - B2@0 - B3@0"));
static_assert(reads(Interleaved1F1B::columns(two_rounds, 1),
                    "- F0@1 F1@1 F0@3 B0@3 F1@3 B1@3 F2@1 B0@1 F3@1 B1@1 F2@3 B2@3 F3@3 B3@3 "
                    "- B2@1 - B3@1"));

// With one stage a rank the shallow warm-up is that of 1F1B.
using Shallow = BasicInterleaved1F1B<InterleavedOptions{.warmup = Warmup::shallow}>;
static_assert(reads(Shallow::columns({.ranks = 2, .micro_batches = 3}, 0),
                    "F0 - F1 B0 F2 B1 - B2"));

// What a short round lacks is idle: the forwards of micro-batch 3 and their backwards.
using Short = BasicInterleaved1F1B<InterleavedOptions{.rounds = Rounds::short_rounds}>;
constexpr PipelineShape short_round{.ranks = 2, .stages_per_rank = 2, .micro_batches = 3};
static_assert(reads(Short::columns(short_round, 1),
                    "- F0@1 F1@1 F0@3 B0@3 F1@3 B1@3 F2@1 B0@1 - B1@1 F2@3 B2@3 - - "
                    "- B2@1 - -"));

}  // namespace
