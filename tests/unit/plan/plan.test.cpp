// The figures that the field gives for the schedules built here.

#include <doctest/doctest.h>
#include <heddle/core/text.hpp>
#include <heddle/plan/plan.hpp>
#include <heddle/schedule/catalogue.hpp>
#include <heddle/schedule/exec_order.hpp>

#include <string>
#include <vector>

#include "support/golden.hpp"

using namespace heddle;

namespace {

template <class Schedule>
Plan plan(Schedule schedule, PipelineShape shape, const Costs& costs = {},
          Receives receives = Receives::async) {
  return make_plan(exec_order(schedule, shape), costs, receives);
}

template <class Schedule>
void check_figures(Schedule schedule, PipelineShape shape, double makespan, double bubble,
                   const std::vector<int>& peak) {
  const Plan found = plan(schedule, shape);
  CAPTURE(shape.ranks);
  CAPTURE(shape.stages_per_rank);
  CAPTURE(shape.micro_batches);
  CHECK(found.makespan == makespan);
  for (const double idle_time : found.bubble) CHECK(idle_time == bubble);
  CHECK(found.peak == peak);
  CHECK(found.slots == peak);
}

constexpr RuntimeInterleaved1F1B short_rounds{{.rounds = Rounds::short_rounds}};
constexpr RuntimeInterleaved1F1B shallow{{.warmup = Warmup::shallow}};

}  // namespace

TEST_CASE("makespan, bubble and peak are those of the formulas") {
  check_figures(GPipe{}, {4, 1, 8}, 33, 9, {8, 8, 8, 8});
  check_figures(OneFOneB{}, {4, 1, 1}, 12, 9, {1, 1, 1, 1});
  check_figures(OneFOneB{}, {4, 1, 2}, 15, 9, {2, 2, 2, 1});
  check_figures(OneFOneB{}, {4, 1, 3}, 18, 9, {3, 3, 2, 1});
  check_figures(OneFOneB{}, {4, 1, 8}, 33, 9, {4, 3, 2, 1});
  check_figures(OneFOneB{}, {8, 1, 1}, 24, 21, {1, 1, 1, 1, 1, 1, 1, 1});
  check_figures(OneFOneB{}, {8, 1, 16}, 69, 21, {8, 7, 6, 5, 4, 3, 2, 1});
  const Interleaved1F1B interleaved;
  check_figures(interleaved, {2, 2, 4}, 27, 3, {5, 3});
  check_figures(interleaved, {4, 2, 1}, 24, 18, {2, 2, 2, 2});
  check_figures(interleaved, {4, 2, 2}, 27, 15, {4, 4, 4, 3});
  check_figures(interleaved, {4, 2, 3}, 30, 12, {6, 6, 6, 4});
  check_figures(interleaved, {4, 2, 4}, 33, 9, {8, 8, 7, 5});
  check_figures(interleaved, {4, 2, 6}, 45, 9, {12, 11, 9, 7});
  check_figures(interleaved, {4, 2, 7}, 51, 9, {14, 12, 10, 8});
  check_figures(interleaved, {4, 2, 8}, 57, 9, {11, 9, 7, 5});
  check_figures(interleaved, {4, 2, 10}, 69, 9, {12, 10, 8, 6});
  check_figures(interleaved, {4, 4, 8}, 105, 9, {19, 17, 15, 13});
  check_figures(interleaved, {8, 2, 16}, 117, 21, {23, 21, 19, 17, 15, 13, 11, 9});
}

TEST_CASE("C01: fewer micro-batches than stages have the makespan of the formulas") {
  CHECK(plan(OneFOneB{}, {8, 1, 1}).makespan == 24);
  CHECK(plan(GPipe{}, {8, 1, 1}).makespan == 24);
  CHECK(plan(OneFOneB{}, {4, 1, 2}).makespan == 15);
  CHECK(plan(OneFOneB{}, {4, 1, 2}).peak == std::vector<int>{2, 2, 2, 1});
  for (int micro_batches = 1; micro_batches <= 3; ++micro_batches) {
    CHECK(plan(Interleaved1F1B{}, {4, 2, micro_batches}).makespan == 21 + 3 * micro_batches);
  }
}

TEST_CASE("short rounds buy memory with time") {
  struct Row {
    PipelineShape shape;
    double short_makespan;
    int short_peak;
    double long_makespan;
    int long_peak;
  };
  for (const auto& row : {Row{{4, 2, 5}, 45, 9, 39, 10}, Row{{4, 2, 6}, 49, 10, 45, 12},
                          Row{{4, 2, 7}, 53, 11, 51, 14}, Row{{4, 2, 10}, 73, 11, 69, 12},
                          Row{{2, 2, 3}, 23, 5, 21, 6}, Row{{8, 2, 12}, 101, 20, 93, 24}}) {
    CAPTURE(row.shape.micro_batches);
    CHECK(plan(short_rounds, row.shape).makespan == row.short_makespan);
    CHECK(plan(short_rounds, row.shape).peak.front() == row.short_peak);
    CHECK(plan(Interleaved1F1B{}, row.shape).makespan == row.long_makespan);
    CHECK(plan(Interleaved1F1B{}, row.shape).peak.front() == row.long_peak);
  }
}

TEST_CASE("C06: a frozen prefix shortens the run") {
  const PipelineShape shape{.ranks = 4, .micro_batches = 4, .first_trained_stage = 2};
  const Plan frozen = plan(OneFOneB{}, shape);
  CHECK(plan(OneFOneB{}, {.ranks = 4, .micro_batches = 4}).makespan == 21);
  CHECK(frozen.makespan <= 17);
  CHECK(frozen.peak[0] == 0);
  CHECK(frozen.peak[1] == 0);
  CHECK(frozen.messages == std::vector<int>{4, 4, 4, 4});
}

TEST_CASE("C12: latency is hidden where transfers overlap work") {
  const PipelineShape shape{2, 2, 4};
  CHECK(plan(Interleaved1F1B{}, shape).makespan == 27);
  CHECK(plan(Interleaved1F1B{}, shape, {.latency = 0.1}).makespan <= 27.6 + 1e-9);
  CHECK(plan(Interleaved1F1B{}, shape, {.latency = 0.5}).makespan <= 30);
  CHECK(plan(Interleaved1F1B{}, shape, {.latency = 1}).makespan <= 33);
}

TEST_CASE("waiting where the receive stands exposes latency") {
  const PipelineShape shape{4, 1, 16};
  const Costs slow{.latency = 0.5};
  CHECK(plan(OneFOneB{}, shape, slow, Receives::in_place).makespan == 75);
  CHECK(plan(Interleaved1F1B{}, shape, slow, Receives::in_place).makespan == 83);
  CHECK(plan(shallow, shape, slow, Receives::in_place).makespan == 88);
  CHECK(plan(Interleaved1F1B{}, shape, slow).makespan == 60);
  CHECK(plan(shallow, shape, slow).makespan == 71);
}

TEST_CASE("the peaks of all golden orders come out") {
  for (const auto* table :
       {"orders_gpipe", "orders_1f1b", "orders_interleaved", "orders_large_interleaved"}) {
    for (const auto& row : heddle_test::golden_rows(table)) {
      std::vector<int> peak;
      for (const auto& number : heddle_test::split(row["peak"], ','))
        peak.push_back(std::stoi(number));
      CHECK(make_plan(read_text(row["order"]).order).peak == peak);
    }
  }
}

TEST_CASE("a plan is written as JSON") {
  CHECK(plan_json(plan(OneFOneB{}, {2, 1, 2}, {.latency = 0.1})) ==
        "{\"makespan\": 9.2, \"bubble\": [3.2, 3.2], \"peak\": [2, 1], \"slots\": [2, 1], "
        "\"messages\": [2, 2]}\n");
}
