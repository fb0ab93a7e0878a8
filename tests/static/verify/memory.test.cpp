#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/gpipe.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/one_f_one_b.hpp>
#include <heddle/verify/memory.hpp>
#include <heddle/verify/slots.hpp>

#include <array>
#include <cstddef>

#include "support/draft.hpp"

using namespace heddle;

namespace {

template <schedule Schedule, PipelineShape shape, int... Peaks>
constexpr bool peaks_are() {
  int rank = 0;
  bool equal = true;
  for (const int peak : {Peaks...}) {
    equal = equal && peak_live<Schedule>(shape, rank) == peak;
    equal = equal && peak_memory(exec_order<Schedule, shape>(), rank).activations == peak;
    ++rank;
  }
  return equal && rank == shape.ranks;
}

constexpr PipelineShape flat(int micro_batches) {
  return {.ranks = 4, .micro_batches = micro_batches};
}

constexpr PipelineShape interleaved(int ranks, int micro_batches) {
  return {.ranks = ranks, .stages_per_rank = 2, .micro_batches = micro_batches};
}

}  // namespace

// The unit-cost table of the field.
static_assert(peaks_are<GPipe, flat(8), 8, 8, 8, 8>());
static_assert(peaks_are<OneFOneB, flat(1), 1, 1, 1, 1>());
static_assert(peaks_are<OneFOneB, flat(2), 2, 2, 2, 1>());
static_assert(peaks_are<OneFOneB, flat(3), 3, 3, 2, 1>());
static_assert(peaks_are<Interleaved1F1B, interleaved(2, 4), 5, 3>());
static_assert(peaks_are<Interleaved1F1B, interleaved(4, 3), 6, 6, 6, 4>());
static_assert(peaks_are<Interleaved1F1B, interleaved(4, 8), 11, 9, 7, 5>());
static_assert(peaks_are<Interleaved1F1B, interleaved(4, 7), 14, 12, 10, 8>());

// C08: under 1F1B memory does not grow with the number of micro-batches.
static_assert(peaks_are<OneFOneB, flat(4), 4, 3, 2, 1>());
static_assert(peaks_are<OneFOneB, flat(16), 4, 3, 2, 1>());
static_assert(peaks_are<OneFOneB, flat(64), 4, 3, 2, 1>());

// A frozen stage saves nothing, a split backward saves until its weight half.
static_assert(peaks_are<GPipe, {.ranks = 2, .micro_batches = 3, .first_trained_stage = 1}, 0, 3>());
static_assert(peak_memory(heddle_test::Draft{{.ranks = 1, .micro_batches = 3},
                                             "F0@0 I0@0 F1@0 I1@0 W0@0 W1@0 F2@0 B2@0"}
                              .view(),
                          0) == RankMemory{.activations = 2, .transfers = 0});

// Boundaries: two received before either is used, and the step holds its input and its output.
static_assert(
    peak_memory(heddle_test::Draft{{.ranks = 3, .micro_batches = 2, .first_trained_stage = 3},
                                   "F0@0 Fs0@0 F1@0 Fs1@0 / "
                                   "Fr0@1 Fr1@1 F0@1 Fs0@1 F1@1 Fs1@1 / "
                                   "Fr0@2 F0@2 Fr1@2 F1@2"}
                    .view(),
                1) == RankMemory{.activations = 0, .transfers = 3});

static_assert(!memory_fault(exec_order<OneFOneB, flat(16)>(), 4));
static_assert(memory_fault(exec_order<OneFOneB, flat(16)>(), 3)->kind == FaultKind::too_many_live);
static_assert(memory_fault(exec_order<OneFOneB, flat(16)>(), 3)->step == forward(3, 0));

namespace {

constexpr heddle_test::Draft zigzag{
    {.ranks = 1, .micro_batches = 4},
    "F0@0 F1@0 B0@0 F2@0 I1@0 F3@0 W1@0 B2@0 B3@0",
};

constexpr bool slots_are(std::array<int, 9> expected) {
  std::array<int, 9> slots{};
  return assign_slots(zigzag.view(), 0, slots) == 3 && slots == expected;
}

}  // namespace

// The lowest free one, from the forward to the end of the backward.
static_assert(slots_are({0, 1, 0, 0, 1, 2, 1, 0, 2}));
