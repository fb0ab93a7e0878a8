#include <heddle/schedule/schedule.hpp>

#include <array>
#include <optional>
#include <ranges>
#include <string_view>
#include <vector>

#include <heddle/core/text.hpp>
#include <heddle/schedule/catalogue.hpp>
#include <heddle/schedule/exec_order.hpp>

namespace {

using namespace heddle;

/// The smallest model of a schedule: nothing but columns.
struct Smallest {
  std::vector<Step> columns(PipelineShape shape, int rank) const;
};

struct TakesNoRank {
  std::vector<Step> columns(PipelineShape shape) const;
};

struct ListsNumbers {
  std::vector<int> columns(PipelineShape shape, int rank) const;
};

struct Changing {
  std::vector<Step> columns(PipelineShape shape, int rank);
};

struct NotCopied : Smallest {
  NotCopied(const NotCopied&) = delete;
};

static_assert(schedule<Smallest>);
static_assert(!has_columns<TakesNoRank>);
static_assert(!has_columns<ListsNumbers>);
static_assert(!has_columns<Changing>);
static_assert(has_columns<NotCopied> && !schedule<NotCopied>);

// What is left out has a default.
static_assert(!has_placement<Smallest> && placement_of(Smallest{}) == Placement::loop);
static_assert(!has_needs<Smallest> && needs_of(Smallest{}) == ScheduleNeeds{});
static_assert(!has_name<Smallest> && name_of(Smallest{}).empty());
static_assert(!has_lower<Smallest> && !has_visit_columns<Smallest>);
static_assert(has_lower<GPipe> && has_lower<OneFOneB> && has_lower<Interleaved1F1B>);
static_assert(has_visit_columns<Interleaved1F1B>);

struct Demanding : Smallest {
  static constexpr std::string_view name = "demanding";
  static constexpr Placement placement = Placement::v;
  static constexpr ScheduleNeeds needs{.least_micro_batches = 3,
                                       .least_micro_batches_per_rank = 2,
                                       .micro_batches_multiple = 2,
                                       .stages_per_rank = 2};
};

static_assert(placement_of(Demanding{}) == Placement::v);
static_assert(name_of(Demanding{}) == "demanding");

constexpr auto fault_of(PipelineShape shape) { return shape_fault<Demanding>(shape); }

using enum ShapeField;
using enum ShapeBound;
static_assert(fault_of({.ranks = 2, .stages_per_rank = 2, .micro_batches = 4}) == std::nullopt);
static_assert(fault_of({.ranks = 0, .stages_per_rank = 2, .micro_batches = 4}) ==
              ShapeFault{ranks, 0, at_least, 1});
static_assert(fault_of({.ranks = 2, .stages_per_rank = 3, .micro_batches = 4}) ==
              ShapeFault{stages_per_rank, 3, exactly, 2});
static_assert(fault_of({.ranks = 1, .stages_per_rank = 2, .micro_batches = 2}) ==
              ShapeFault{micro_batches, 2, at_least, 3});
static_assert(fault_of({.ranks = 4, .stages_per_rank = 2, .micro_batches = 6}) ==
              ShapeFault{micro_batches, 6, at_least, 8});
static_assert(fault_of({.ranks = 2, .stages_per_rank = 2, .micro_batches = 5}) ==
              ShapeFault{micro_batches, 5, multiple_of, 2});
static_assert(shape_fault<GPipe>({.ranks = 2, .stages_per_rank = 2, .micro_batches = 5}) ==
              ShapeFault{stages_per_rank, 2, exactly, 1});
static_assert(shape_fault<Interleaved1F1B>(
                  {.ranks = 5, .stages_per_rank = 3, .micro_batches = 1}) == std::nullopt);

/// A schedule of a user's own: a list of compute steps and nothing else, here for two ranks.
struct TwoRanks {
  static constexpr auto columns(PipelineShape /*shape*/, int rank) {
    return rank == 0 ? std::array{forward(0, 0), forward(1, 0), backward(0, 0), backward(1, 0)}
                     : std::array{forward(0, 1), backward(0, 1), forward(1, 1), backward(1, 1)};
  }
};

static_assert(reads(exec_order<TwoRanks, PipelineShape{.ranks = 2, .micro_batches = 2}>(),
                    "F0@0 Fs0@0 F1@0 Fs1@0 Br0@0 B0@0 Br1@0 B1@0 / "
                    "Fr0@1 F0@1 B0@1 Fr1@1 Bs0@1 F1@1 B1@1 Bs1@1"));

/// Columns may be any range, a lazy view as well.
struct Forwards {
  static constexpr auto columns(PipelineShape shape, int rank) {
    return std::views::iota(0, shape.micro_batches) |
           std::views::transform([=](int micro_batch) { return forward(micro_batch, rank); });
  }
};

static_assert(reads(exec_order<Forwards, PipelineShape{.ranks = 2, .micro_batches = 2}>(),
                    "F0@0 Fs0@0 F1@0 Fs1@0 / Fr0@1 F0@1 Fr1@1 F1@1"));

// A stage that trains nothing has no backward and gets no gradient; its forward is as before.
static_assert(reads(
    exec_order<OneFOneB, PipelineShape{.ranks = 3, .micro_batches = 2, .first_trained_stage = 1}>(),
    "F0@0 Fs0@0 F1@0 Fs1@0 / "
    "Fr0@1 F0@1 Fr1@1 Fs0@1 F1@1 Br0@1 Fs1@1 B0@1 Br1@1 B1@1 / "
    "Fr0@2 F0@2 B0@2 Bs0@2 Fr1@2 F1@2 B1@2 Bs1@2"));
static_assert(
    reads(compute_order<OneFOneB,
                        PipelineShape{.ranks = 2, .micro_batches = 2, .first_trained_stage = 1}>(),
          "F0@0 F1@0 -2 / F0@1 B0@1 F1@1 B1@1"));
static_assert(reads(
    exec_order<GPipe, PipelineShape{.ranks = 2, .micro_batches = 2, .first_trained_stage = 2}>(),
    "F0@0 Fs0@0 F1@0 Fs1@0 / Fr0@1 F0@1 Fr1@1 F1@1"));

// Neighbouring stages of one rank hand over without a message.
static_assert(
    reads(exec_order<Interleaved1F1B,
                     PipelineShape{.ranks = 1, .stages_per_rank = 2, .micro_batches = 1}>(),
          "F0@0 F0@1 B0@1 B0@0"));

}  // namespace
