#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <heddle/core/csv.hpp>
#include <heddle/core/text.hpp>
#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/gpipe.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/one_f_one_b.hpp>
#include <heddle/verify/verify.hpp>
#include <support/golden.hpp>

// What holds for every schedule and every shape.
namespace {

using namespace heddle;

constexpr int widest = 4;
constexpr int deepest = 3;
constexpr int longest = 9;

std::string fault_in(OrderView order) {
  const auto report = verify(order);
  return report ? report->sentence : std::string{};
}

/// Calls `check` with each small shape that `policy` can have, some stages frozen or none.
template <schedule Schedule, class Check>
void for_each_shape(const Schedule& policy, Check check) {
  PipelineShape shape;
  for (shape.ranks = 1; shape.ranks <= widest; ++shape.ranks) {
    for (shape.stages_per_rank = 1; shape.stages_per_rank <= deepest; ++shape.stages_per_rank) {
      for (shape.micro_batches = 1; shape.micro_batches <= longest; ++shape.micro_batches) {
        shape.first_trained_stage = 0;
        if (shape_fault(policy, shape)) continue;
        const int stride = (shape.stages() + 2) / 3;
        for (; shape.first_trained_stage <= shape.stages(); shape.first_trained_stage += stride) {
          CAPTURE(shape.ranks);
          CAPTURE(shape.stages_per_rank);
          CAPTURE(shape.micro_batches);
          CAPTURE(shape.first_trained_stage);
          check(shape);
        }
      }
    }
  }
}

std::vector<Step> sorted_steps(const Order& order) {
  auto steps = order.steps;
  std::ranges::sort(steps, {}, [](Step step) {
    return std::tuple{step.kind, step.stage, step.micro_batch};
  });
  return steps;
}

/// The same columns as another schedule's, with nothing said about transfers.
template <class Schedule>
struct ColumnsOf {
  Schedule schedule;
  bool keeps_idle = true;

  std::vector<Step> columns(PipelineShape shape, int rank) const {
    std::vector<Step> steps;
    for (const Step step : schedule.columns(shape, rank)) {
      if (keeps_idle || step != idle) steps.push_back(step);
    }
    return steps;
  }
};

template <schedule Schedule>
void check_laws(const Schedule& policy) {
  for_each_shape(policy, [&](PipelineShape shape) {
    const Order order = exec_order(policy, shape);
    CHECK(fault_in(order) == "");
    CHECK(fault_in(exec_order(policy, shape, DataSteps::chain)) == "");
    // Any schedule sends and computes the same; what differs is when.
    const Order reference = exec_order(Interleaved1F1B{}, shape);
    CHECK(sorted_steps(order) == sorted_steps(reference));
    // Aligning needs no more than the order of the compute steps.
    const ColumnsOf<Schedule> unaligned{policy, false};
    const Order aligned = exec_order(unaligned, shape);
    CHECK(fault_in(aligned) == "");
    CHECK(sorted_steps(aligned) == sorted_steps(order));
  });
}

}  // namespace

TEST_CASE("Every order of GPipe keeps the laws") { check_laws(GPipe{}); }
TEST_CASE("Every order of 1F1B keeps the laws") { check_laws(OneFOneB{}); }
TEST_CASE("Every order of Interleaved 1F1B keeps the laws") {
  for (const auto warmup : {Warmup::classic, Warmup::shallow}) {
    for (const auto rounds : {Rounds::long_rounds, Rounds::short_rounds}) {
      check_laws(RuntimeInterleaved1F1B{{.warmup = warmup, .rounds = rounds}});
    }
  }
}

TEST_CASE("Columns that are a timetable are lowered as they stand") {
  const ColumnsOf<RuntimeInterleaved1F1B> unplaced{};
  for_each_shape(unplaced.schedule, [&](PipelineShape shape) {
    CHECK(exec_order(unplaced, shape) == exec_order(unplaced.schedule, shape));
    CHECK(lower(compute_order(unplaced.schedule, shape)) == exec_order(unplaced.schedule, shape));
  });
}

TEST_CASE("Compute orders of PyTorch's schedules are lowered to sound orders") {
  for (const std::string name :
       {"dualpipev_p2v2m4", "dualpipev_p4v2m8", "interleaved_1f1b_p4v2m8",
        "interleaved_zero_bubble_p4v1m8", "interleaved_zero_bubble_p4v2m8", "looped_bfs_p4v2m5",
        "looped_bfs_p4v2m8", "zbv_p2v2m4", "zbv_p4v2m8"}) {
    CAPTURE(name);
    const Order columns =
        read_csv(heddle_test::read_data("golden/pytorch/" + name + "_compute.csv")).order;
    CHECK(fault_in(columns) != "");
    const Order order = lower(columns);
    CHECK(fault_in(order) == "");
    CHECK(std::ranges::count_if(order.steps, [](Step step) { return is_compute(step.kind); }) ==
          std::ranges::count_if(columns.steps, [](Step step) { return is_compute(step.kind); }));
  }
}

TEST_CASE("An order that cannot complete is lowered all the same, with all its steps") {
  // Each rank begins with what the other makes later.
  const auto columns = read_text("B0@0 F0@0 / F0@1 B0@1").order;
  const Order order = lower(columns);
  CHECK(text_of(order).find("F0@0") != std::string::npos);
  CHECK(order.steps.size() == 8);
  CHECK(fault_in(order) != "");
}

TEST_CASE("An impossible shape is an error that names the schedule, the field and what is legal") {
  CHECK_THROWS_WITH_AS(exec_order(GPipe{}, {.ranks = 2, .stages_per_rank = 2, .micro_batches = 4}),
                       "gpipe: stages_per_rank is 2, but must be exactly 1", ShapeError);
  CHECK_THROWS_WITH_AS(compute_order(Interleaved1F1B{}, {.ranks = 2, .micro_batches = 0}),
                       "interleaved_1f1b: micro_batches is 0, but must be at least 1", ShapeError);
  CHECK_THROWS_WITH_AS(
      exec_order(OneFOneB{}, {.ranks = 2, .micro_batches = 4, .first_trained_stage = 3}),
      "1f1b: first_trained_stage is 3, but must be at most 2", ShapeError);
}

TEST_CASE("The same code makes the same order at compile time and at run time") {
  constexpr PipelineShape shape{.ranks = 4, .stages_per_rank = 3, .micro_batches = 10};
  const auto check_same = [](const auto& table, const Order& order) {
    CHECK(text_of(table) == text_of(order));
    CHECK(std::ranges::equal(table.rank_of_stage, order.rank_of_stage));
  };
  check_same(exec_order<Interleaved1F1B, shape>(), exec_order(Interleaved1F1B{}, shape));
  constexpr InterleavedOptions options{Warmup::shallow, Rounds::short_rounds};
  check_same(exec_order<BasicInterleaved1F1B<options>, shape>(),
             exec_order(RuntimeInterleaved1F1B{options}, shape));
  constexpr PipelineShape single{.ranks = 6, .micro_batches = 11, .first_trained_stage = 2};
  check_same(exec_order<OneFOneB, single, DataSteps::chain>(),
             exec_order(OneFOneB{}, single, DataSteps::chain));
  check_same(compute_order<GPipe, single>(), compute_order(GPipe{}, single));
}
