#include <heddle/schedule/mpipe_transpose.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <heddle/core/text.hpp>
#include <heddle/schedule/catalogue.hpp>
#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/gpipe.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/one_f_one_b.hpp>

namespace {

using namespace heddle;

constexpr MPipeTraits frozen{.tower = Tower::frozen};
constexpr MPipeTraits by_owner{.backward = TowerBackward::owner};
constexpr MPipeTraits data_only{.tower = Tower::none, .data_only = true};

const std::vector<MPipeOptions> all_options = [] {
  std::vector<MPipeOptions> options;
  for (const auto overflow : {OverflowMode::full, OverflowMode::min}) {
    for (const auto traits : {MPipeTraits{}, frozen, by_owner, data_only})
      options.push_back({overflow, traits});
  }
  return options;
}();

/// The steps of `order` without those of MPipe and without loads.
template <class Keep>
Order only(const Order& order, Keep keep) {
  std::vector<std::vector<Step>> lists(static_cast<std::size_t>(order.ranks()));
  for (int rank = 0; rank < order.ranks(); ++rank) {
    for (const Step step : order.rank(rank)) {
      if (keep(step)) lists[static_cast<std::size_t>(rank)].push_back(step);
    }
  }
  return {order.shape, order.rank_of_stage, lists};
}

bool is_of_body(Step step) {
  const bool outside = is_data(step.kind) && step.stage == no_stage;
  return !is_tower(step.kind) && !outside && step.kind != StepKind::load;
}

bool is_no_load(Step step) { return step.kind != StepKind::load; }

template <schedule Body>
void check_body(const Body& body, PipelineShape shape) {
  for (const auto& options : all_options) {
    for (const auto data : {DataSteps::none, DataSteps::chain}) {
      const Order order = exec_order(RuntimeMPipeTranspose{options, body}, shape, data);
      CHECK(text_of(only(order, is_of_body)) ==
            text_of(only(exec_order(body, shape, data), is_no_load)));
      CHECK(compute_order(RuntimeMPipeTranspose{options, body}, shape).steps ==
            compute_order(body, shape).steps);
    }
  }
}

}  // namespace

TEST_CASE("Without the steps of MPipe an order is exactly its body's without loads") {
  PipelineShape shape;
  for (shape.ranks = 1; shape.ranks <= 4; ++shape.ranks) {
    for (shape.micro_batches = 1; shape.micro_batches <= 9; ++shape.micro_batches) {
      shape.stages_per_rank = 1;
      check_body(GPipe{}, shape);
      check_body(OneFOneB{}, shape);
      for (shape.stages_per_rank = 1; shape.stages_per_rank <= 3; ++shape.stages_per_rank) {
        for (const auto warmup : {Warmup::classic, Warmup::shallow}) {
          for (const auto rounds : {Rounds::long_rounds, Rounds::short_rounds})
            check_body(RuntimeInterleaved1F1B{{warmup, rounds}}, shape);
        }
      }
    }
  }
}

TEST_CASE("The type and its twin with options of run time make the same order") {
  constexpr PipelineShape shape{.ranks = 3, .stages_per_rank = 2, .micro_batches = 7};
  const auto check_same = [&](auto schedule) {
    const RuntimeMPipeTranspose twin{schedule.options, Interleaved1F1B{}};
    for (const auto data : {DataSteps::none, DataSteps::chain}) {
      CHECK(exec_order(schedule, shape, data) == exec_order(twin, shape, data));
    }
    CHECK(text_of(exec_order<decltype(schedule), shape, DataSteps::chain>()) ==
          text_of(exec_order(twin, shape, DataSteps::chain)));
  };
  check_same(MPipeTranspose<OverflowMode::full>{});
  check_same(MPipeTranspose<OverflowMode::min, by_owner>{});
  check_same(MPipeTranspose<OverflowMode::min, frozen>{});
  check_same(MPipeTranspose<OverflowMode::full, data_only>{});
}

TEST_CASE("Data alone are moved even where no step of a tower is") {
  const PipelineShape shape{.ranks = 2, .micro_batches = 2};
  const RuntimeMPipeTranspose policy{{.traits = data_only}, OneFOneB{}};
  CHECK(text_of(exec_order(policy, shape, DataSteps::chain)).starts_with("Dl0@-1 Dr1@-1 F0@0"));
  CHECK(exec_order(policy, shape).steps == exec_order(OneFOneB{}, shape).steps);
}

TEST_CASE("Where the first stages do not train, neither does the tower below them") {
  const PipelineShape shape{.ranks = 2, .micro_batches = 2, .first_trained_stage = 1};
  CHECK(text_of(exec_order(RuntimeMPipeTranspose{MPipeOptions{}, OneFOneB{}}, shape)) ==
        "Mb0@-1 Mf0@-1 Mr1@-1 F0@0 Fs0@0 F1@0 Fs1@0 / "
        "Mb1@-1 Mf1@-1 Ms1@-1 Fr0@1 F0@1 B0@1 Fr1@1 F1@1 B1@1");
  CHECK(exec_order(RuntimeMPipeTranspose{{.traits = by_owner}, OneFOneB{}}, shape) ==
        exec_order(RuntimeMPipeTranspose{MPipeOptions{}, OneFOneB{}}, shape));
}

TEST_CASE("Traits that contradict each other are an error that says what to do instead") {
  CHECK_THROWS_WITH_AS((RuntimeMPipeTranspose<>{{.traits = {.data_only = true}}}),
                       "mpipe: data_only moves data and runs no tower, so nothing of it can train; "
                       "the tower must be frozen or none",
                       Error);
  for (const auto tower : {Tower::frozen, Tower::none}) {
    CHECK_THROWS_WITH_AS(
        (RuntimeMPipeTranspose<>{{.traits = {.tower = tower, .backward = TowerBackward::owner}}}),
        "mpipe: the owners can only run a trainable tower backward; with a tower that is frozen or "
        "none the backward must be left at rank0",
        Error);
  }
}

TEST_CASE("A body's needs are those of MPipe around it") {
  const PipelineShape shape{.ranks = 2, .stages_per_rank = 2, .micro_batches = 4};
  CHECK_THROWS_WITH_AS(exec_order(RuntimeMPipeTranspose{MPipeOptions{}, GPipe{}}, shape),
                       "mpipe: stages_per_rank is 2, but must be exactly 1", ShapeError);
}

TEST_CASE("The catalogue knows MPipe by its name, with the body and the options asked for") {
  const PipelineShape shape{.ranks = 4, .micro_batches = 8};
  const auto order_of = [&](auto schedule) { return exec_order(schedule, shape); };
  CHECK(with_schedule("mpipe", order_of) ==
        exec_order(MPipeTranspose<OverflowMode::full>{}, shape));
  CHECK(with_schedule("mpipe", ScheduleOptions{}, order_of) ==
        exec_order(MPipeTranspose<OverflowMode::full>{}, shape));
  constexpr MPipeOptions options{OverflowMode::min, by_owner};
  CHECK(with_schedule("mpipe", {.mpipe = options, .body = "1f1b"}, order_of) ==
        exec_order(MPipeTranspose<OverflowMode::min, by_owner, OneFOneB>{}, shape));
  CHECK_THROWS_WITH_AS(with_schedule("mpipe", {.body = "mpipe"}, order_of),
                       "no body is named 'mpipe', did you mean 'gpipe'? Known are: gpipe, 1f1b, "
                       "interleaved_1f1b",
                       Error);
}
