#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include <heddle/core/text.hpp>
#include <heddle/schedule/lower.hpp>
#include <heddle/verify/verify.hpp>

// Compute orders that no schedule would make: any table of stages, any order that can complete.
namespace {

using namespace heddle;

using Random = std::mt19937;

int pick(Random& random, int least, int most) {
  return std::uniform_int_distribution{least, most}(random);
}

PipelineShape random_shape(Random& random) {
  PipelineShape shape{.ranks = pick(random, 1, 5),
                      .stages_per_rank = pick(random, 1, 3),
                      .micro_batches = pick(random, 1, 6)};
  shape.first_trained_stage = pick(random, 0, 2) == 0 ? pick(random, 0, shape.stages()) : 0;
  return shape;
}

/// A table that gives each rank its number of stages, in any order.
std::vector<int> random_table(Random& random, PipelineShape shape) {
  std::vector<int> ranks_of_stages;
  for (int stage = 0; stage < shape.stages(); ++stage) {
    ranks_of_stages.push_back(stage % shape.ranks);
  }
  std::shuffle(ranks_of_stages.begin(), ranks_of_stages.end(), random);
  return ranks_of_stages;
}

/// Takes the steps in an order in which they could run one after the other.
Order random_compute_order(Random& random) {
  const PipelineShape shape = random_shape(random);
  const auto ranks_of_stages = random_table(random, shape);
  const bool splits = pick(random, 0, 1) == 1;
  std::vector<std::vector<Step>> lists(static_cast<std::size_t>(shape.ranks));
  std::vector<Step> ready;
  const auto follow = [&](Step step) {
    const int micro_batch = step.micro_batch;
    const int last = shape.stages() - 1;
    const auto backward_of = [&](int stage) {
      if (stage < shape.first_trained_stage) return;
      ready.push_back(splits ? backward_input(micro_batch, stage) : backward(micro_batch, stage));
    };
    if (step.kind == StepKind::forward && step.stage < last) {
      ready.push_back(forward(micro_batch, step.stage + 1));
    } else if (step.kind == StepKind::forward) {
      backward_of(last);
    } else if (step.kind != StepKind::backward_weight) {
      if (splits) ready.push_back(backward_weight(micro_batch, step.stage));
      backward_of(step.stage - 1);
    }
  };
  for (int micro_batch = 0; micro_batch < shape.micro_batches; ++micro_batch) {
    ready.push_back(forward(micro_batch, 0));
  }
  while (!ready.empty()) {
    const int last = static_cast<int>(ready.size()) - 1;
    std::swap(ready[static_cast<std::size_t>(pick(random, 0, last))], ready.back());
    const Step step = ready.back();
    ready.pop_back();
    const int rank = ranks_of_stages[static_cast<std::size_t>(step.stage)];
    lists[static_cast<std::size_t>(rank)].push_back(step);
    follow(step);
  }
  return {shape, ranks_of_stages, lists};
}

auto count_compute(const Order& order) {
  return std::ranges::count_if(order.steps, [](Step step) { return is_compute(step.kind); });
}

}  // namespace

TEST_CASE("Every compute order that can complete is lowered to a sound order") {
  Random random{1};
  for (int round = 0; round < 2000; ++round) {
    const Order columns = random_compute_order(random);
    CAPTURE(text_of(columns));
    const Order order = lower(columns, round % 2 == 0 ? DataSteps::none : DataSteps::chain);
    const auto report = verify(order);
    CHECK((report ? report->sentence : std::string{}) == "");
    CHECK(count_compute(order) == count_compute(columns));
  }
}

TEST_CASE("Lowering ends whatever the columns are, and loses no step") {
  Random random{2};
  for (int round = 0; round < 2000; ++round) {
    Order columns = random_compute_order(random);
    std::shuffle(columns.steps.begin(), columns.steps.end(), random);
    for (Step& step : columns.steps) {
      const int change = pick(random, 0, 60);
      if (change == 0) step.micro_batch = pick(random, -2, 9);
      if (change == 1) step.stage = pick(random, columns.shape.first_trained_stage, 20);
      if (change == 2) step.kind = user_kind(3);
    }
    CAPTURE(text_of(columns));
    CHECK(count_compute(lower(columns)) == count_compute(columns));
  }
}
