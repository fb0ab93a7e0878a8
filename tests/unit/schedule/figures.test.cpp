#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <heddle/plan/simulation.hpp>
#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/one_f_one_b.hpp>

namespace {

using namespace heddle;

/// The most chunks that `rank` has run forward and not yet backward.
int peak(const Order& order, int rank) {
  int live = 0;
  int most = 0;
  for (const Step step : order.rank(rank)) {
    if (step.kind == StepKind::forward) most = std::max(most, ++live);
    if (step.kind == StepKind::backward) --live;
  }
  return most;
}

struct Figures {
  PipelineShape shape;
  double makespan;
  int peak;
};

void check_figures(Rounds rounds, const std::vector<Figures>& table) {
  const RuntimeInterleaved1F1B policy{{.rounds = rounds}};
  for (const auto& [shape, makespan, most] : table) {
    CAPTURE(shape.ranks);
    CAPTURE(shape.micro_batches);
    const Order order = exec_order(policy, shape);
    CHECK(simulate(order).makespan == makespan);
    CHECK(peak(order, 0) == most);
  }
}

}  // namespace

TEST_CASE("Short rounds buy memory with time") {
  check_figures(Rounds::short_rounds, {{{4, 2, 5}, 45, 9},
                                       {{4, 2, 6}, 49, 10},
                                       {{4, 2, 7}, 53, 11},
                                       {{4, 2, 10}, 73, 11},
                                       {{2, 2, 3}, 23, 5},
                                       {{8, 2, 12}, 101, 20}});
}

TEST_CASE("Long rounds buy time with memory") {
  check_figures(Rounds::long_rounds, {{{4, 2, 5}, 39, 10},
                                      {{4, 2, 6}, 45, 12},
                                      {{4, 2, 7}, 51, 14},
                                      {{4, 2, 10}, 69, 12},
                                      {{2, 2, 3}, 21, 6},
                                      {{8, 2, 12}, 93, 24}});
}

TEST_CASE("Rounds are the same where the ranks divide the micro-batches") {
  for (int multiple = 1; multiple <= 4; ++multiple) {
    const PipelineShape shape{.ranks = 4, .stages_per_rank = 2, .micro_batches = 4 * multiple};
    CHECK(exec_order(RuntimeInterleaved1F1B{{.rounds = Rounds::short_rounds}}, shape) ==
          exec_order(RuntimeInterleaved1F1B{{.rounds = Rounds::long_rounds}}, shape));
  }
}

TEST_CASE("C06: two frozen stages of four shorten 1F1B and get no gradient") {
  const PipelineShape trained{.ranks = 4, .micro_batches = 4};
  CHECK(simulate(exec_order(OneFOneB{}, trained)).makespan == 21);
  PipelineShape frozen = trained;
  frozen.first_trained_stage = 2;
  const Order order = exec_order(OneFOneB{}, frozen);
  CHECK(simulate(order).makespan <= 17);
  for (const int rank : {0, 1}) {
    for (const Step step : order.rank(rank)) {
      CHECK(step.kind != StepKind::backward);
      CHECK(step.kind != StepKind::receive_gradient);
      CHECK(step.kind != StepKind::send_gradient);
    }
  }
  CHECK(std::ranges::count(order.rank(2), StepKind::backward, &Step::kind) == 4);
  CHECK(std::ranges::count(order.rank(2), StepKind::send_gradient, &Step::kind) == 0);
}
