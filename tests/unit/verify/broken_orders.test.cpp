#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <heddle/core/csv.hpp>
#include <heddle/core/text.hpp>
#include <heddle/verify/verify.hpp>

#include "support/broken_orders.hpp"
#include "support/draft.hpp"

using namespace heddle;
using heddle_test::Draft;

namespace {

Order order_of(PipelineShape shape, const std::string& text) {
  const Draft draft{shape, text};
  const OrderView view = draft.view();
  std::vector<std::vector<Step>> lists;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    lists.emplace_back(view.rank(rank).begin(), view.rank(rank).end());
  }
  return {shape, {view.rank_of_stage.begin(), view.rank_of_stage.end()}, lists};
}

const std::string crossed =
    "F0@0 Fs0@0 F1@0 Fs1@0 Br0@0 B0@0 Br1@0 B1@0 / "
    "Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1";

}  // namespace

TEST_CASE("every broken order is refused by the right law, at the right rank and position") {
  for (const auto& broken : heddle_test::broken_orders) {
    CAPTURE(broken.what);
    const auto fault = verify(Draft{broken.shape, broken.text}.view());
    REQUIRE(fault);
    INFO(fault->sentence);
    CHECK(fault->kind == broken.kind);
    CHECK(fault->rank == broken.rank);
    CHECK(fault->position == broken.position);
    CHECK(fault->other_rank == broken.other_rank);
    CHECK(fault->other_position == broken.other_position);
  }
}

TEST_CASE("the orders that the broken ones come from are sound") {
  for (const auto& sound : heddle_test::sound_orders) {
    CAPTURE(sound.text);
    CHECK(!verify(Draft{sound.shape, sound.text}.view()));
  }
}

TEST_CASE("tables that do not fit the shape are refused before they are used") {
  const Order sound = order_of({.ranks = 1, .micro_batches = 1}, "F0@0 B0@0");
  REQUIRE(!verify(sound));
  const auto is_malformed = [&](auto change) {
    Order order = sound;
    change(order);
    const auto fault = verify(order);
    return fault && fault->kind == FaultKind::malformed_tables;
  };
  CHECK(is_malformed([](Order& order) { order.shape.ranks = 0; }));
  CHECK(is_malformed([](Order& order) { order.shape.stages_per_rank = 2; }));
  CHECK(is_malformed([](Order& order) { order.rank_of_stage[0] = 1; }));
  CHECK(is_malformed([](Order& order) { order.rank_of_stage[0] = -1; }));
  CHECK(is_malformed([](Order& order) { order.offsets.pop_back(); }));
  CHECK(is_malformed([](Order& order) { order.offsets[0] = 1; }));
  CHECK(is_malformed([](Order& order) { order.offsets[1] = 3; }));
  CHECK(is_malformed([](Order& order) { order.offsets[1] = -1; }));
}

TEST_CASE("numbers that no text can carry are refused too") {
  Order order = order_of({.ranks = 1, .micro_batches = 1}, "F0@0 B0@0 B0@0");
  order.steps[2].micro_batch = -2;
  CHECK(verify(order)->kind == FaultKind::micro_batch_out_of_range);
  CHECK(verify(order)->position == 2);
  order.steps[2] = {StepKind::forward, 0, -1};
  CHECK(verify(order)->kind == FaultKind::stage_out_of_range);
  order.steps[2] = {static_cast<StepKind>(100), 0, 0};
  CHECK(verify(order)->kind == FaultKind::unknown_kind);
  CHECK(verify(order)->sentence ==
        "rank 0, position 2: a step of kind 100 is of no kind that there is");
}

TEST_CASE("a wait cycle says who waits for whom, in the notation asked for") {
  const Order order = order_of({.ranks = 2, .micro_batches = 2}, crossed);
  const auto fault = verify(order);
  REQUIRE(fault);
  CHECK(fault->law() == Law::progress);
  const std::vector<Action> cycle{{0, 3, {StepKind::send_activation, 1, 0}},
                                  {1, 3, {StepKind::send_gradient, 0, 1}}};
  CHECK(fault->cycle == cycle);
  CHECK(fault->sentence ==
        "these ranks wait for each other: rank 0 at Fs1@0 (position 3) waits for Fr1@1 of rank 1; "
        "rank 1 at Bs0@1 (position 3) waits for Br0@0 of rank 0");
  CHECK(describe(order, *fault, &csv_of) ==
        "these ranks wait for each other: rank 0 at 0SEND_F1 (position 3) waits for 1RECV_F1 of "
        "rank 1; rank 1 at 1SEND_B0 (position 3) waits for 0RECV_B0 of rank 0");
}

TEST_CASE("progress alone reports a wait for a message that is never sent") {
  const Draft draft{{.ranks = 2, .micro_batches = 1}, "F0@0 Br0@0 B0@0 / Fr0@1 F0@1 B0@1 Bs0@1"};
  const auto fault = progress_fault(draft.view());
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::endless_wait);
  CHECK(fault->rank == 1);
  CHECK(fault->position == 0);
  CHECK(fault->other_rank == 0);
  CHECK(fault->other_step == Step{StepKind::send_activation, 0, 0});
}

TEST_CASE("an order of its own table of stages is judged by that table") {
  Order order = order_of({.ranks = 2, .stages_per_rank = 1, .micro_batches = 1},
                         "Fr0@1 F0@1 B0@1 Bs0@1 / F0@0 Fs0@0 Br0@0 B0@0");
  CHECK(verify(order)->kind == FaultKind::wrong_rank);
  order.rank_of_stage = {1, 0};
  CHECK(!verify(order));
}

TEST_CASE("a schedule error carries the sentence and the fault") {
  const Order order = order_of({.ranks = 2, .micro_batches = 2}, crossed);
  const auto fault = verify(order);
  REQUIRE(fault);
  const ScheduleError error{*fault};
  CHECK(std::string{error.what()} == fault->sentence);
  CHECK(error.report.kind == FaultKind::wait_cycle);
}
