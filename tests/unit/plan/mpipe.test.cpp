// What a transposed tower costs: the reference's figures, and honest ones.

#include <doctest/doctest.h>
#include <heddle/core/text.hpp>
#include <heddle/plan/plan.hpp>
#include <heddle/plan/transposition.hpp>
#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/mpipe_transpose.hpp>
#include <heddle/schedule/one_f_one_b.hpp>

#include <string>
#include <vector>

#include "support/mpipe_rows.hpp"

using namespace heddle;

namespace {

constexpr Costs reference{.tower_pricing = TowerPricing::reference};
constexpr MPipeTraits frozen{.tower = Tower::frozen};
constexpr MPipeTraits by_owner{.backward = TowerBackward::owner};

Costs heavy(double tower_forward) {
  return {.tower_forward = tower_forward, .tower_backward = 2 * tower_forward};
}

double makespan(const Order& order, const Costs& costs, Receives receives = Receives::async) {
  return simulate(order, costs, receives).makespan;
}

Order transposed(MPipeTraits traits, PipelineShape shape) {
  return exec_order(RuntimeMPipeTranspose<>{{.traits = traits}}, shape);
}

std::vector<int> numbers(const std::string& text) {
  std::vector<int> found;
  for (const auto& number : heddle_test::split(text, ',')) found.push_back(std::stoi(number));
  return found;
}

}  // namespace

TEST_CASE("the makespans and peaks of all golden orders of MPipe come out") {
  for (const std::string table : {"orders_mpipe", "orders_large_mpipe"}) {
    for (const auto& row : heddle_test::golden_rows(table)) {
      CAPTURE(row["id"]);
      const Order order = read_text(row["order"], heddle_test::shape_of(row)).order;
      CHECK(makespan(order, reference, Receives::rendezvous) == row.number("mk_rdv"));
      CHECK(makespan(order, reference, Receives::in_place) == row.number("mk_eager"));
      CHECK(makespan(order, reference, Receives::async) == row.number("mk_async"));
      CHECK(make_plan(order).peak == numbers(row["peak"]));
      CHECK(make_plan(order, reference).peak == numbers(row["peak"]));
    }
  }
}

TEST_CASE("the owners' backward is priced on rank 0 too, in the backward of its first stage") {
  CHECK(makespan(transposed(by_owner, {4, 1, 8}), heavy(1), Receives::in_place) == 42);
  CHECK(makespan(transposed(by_owner, {4, 1, 16}), heavy(1), Receives::in_place) == 76);
  CHECK(makespan(transposed(by_owner, {4, 1, 8}), heavy(2), Receives::in_place) == 52);
  const Order alone = read_text("Mb0@-1 Mf0@-1 F0@0 B0@0 Rgx@0").order;
  CHECK(makespan(alone, heavy(5)) == 5 + 1 + 2 + 10);
  CHECK(makespan(alone, {.tower_forward = 5,
                         .tower_backward = 10,
                         .tower_pricing = TowerPricing::reference}) == 5 + 1 + 2);
  // With split halves the tower hangs on the one that makes the gradient.
  CHECK(makespan(read_text("Mb0@-1 Mf0@-1 F0@0 I0@0 W0@0 Rgx@0").order, heavy(5)) == 18);
}

TEST_CASE("rank 0 recomputes each tower forward before its backward") {
  const Order alone = read_text("Mb0@-1 Mf0@-1 F0@0 B0@0 Mw0@-1").order;
  CHECK(makespan(alone, heavy(5)) == 5 + 1 + 2 + 15);
}

TEST_CASE("rank 0 waits only for the features that it needs next") {
  // The second micro-batch's features come late; the first one's forward does not wait for them.
  const Order order = read_text("Mf0@-1 Mr1@-1 F0@0 F1@0 / Mf1@-1 Ms1@-1 F0@1 F1@1",
                                PipelineShape{.ranks = 2, .micro_batches = 2})
                          .order;
  const Costs slow{.latency = 1.5};
  CHECK(simulate(order, slow).timeline.ranks[0].back().end == 3.5);
  CHECK(simulate(order, slow, Receives::in_place).timeline.ranks[0].back().end == 4.5);
  CHECK(simulate(order, {.latency = 1.5, .tower_pricing = TowerPricing::reference})
            .timeline.ranks[0]
            .back()
            .end == 4.5);
}

TEST_CASE("a broadcast and a reduction take as long as a message") {
  const Order order = read_text("Mb0@-1 Mf0@-1 F0@0 / Mb1@-1 F0@1").order;
  CHECK(makespan(order, {.latency = 0.5}) == 2.5);
  CHECK(makespan(order, {.latency = 0.5, .tower_pricing = TowerPricing::reference}) == 2);
  CHECK(makespan(read_text("Mb0@-1 Mf0@-1 F0@0").order, {.latency = 0.5}) == 2);
}

TEST_CASE("the same tower inside the first stage takes what the issue's figures say") {
  const auto inside = [](Tower tower, PipelineShape shape, double tower_forward) {
    return makespan(exec_order(Interleaved1F1B{}, shape),
                    with_tower_in_first_stage(heavy(tower_forward), tower));
  };
  CHECK(inside(Tower::frozen, {4, 1, 8}, 1) == 34);
  CHECK(inside(Tower::frozen, {4, 1, 16}, 1) == 64);
  CHECK(inside(Tower::frozen, {4, 1, 8}, 2) == 40);
  CHECK(inside(Tower::trainable, {4, 1, 8}, 1) == 48);
  CHECK(inside(Tower::trainable, {4, 1, 16}, 1) == 96);
  CHECK(inside(Tower::trainable, {4, 1, 8}, 2) == 72);
}

TEST_CASE("the first stage alone may take longer") {
  const Order order = read_text("F0@0 Fs0@0 Br0@0 B0@0 / Fr0@1 F0@1 B0@1 Bs0@1").order;
  CHECK(makespan(order, {.first_stage_forward = 0.5, .first_stage_backward = 3}) == 9.5);
  CHECK_THROWS_WITH_AS(makespan(order, {.first_stage_backward = -1}),
                       "the cost first_stage_backward is negative or no number; it must be 0 or "
                       "more",
                       Error);
}

TEST_CASE("it is said whether transposing pays") {
  CHECK(transposition_verdict("mpipe", 39, "1f1b", 52) ==
        "mpipe takes 39, 1f1b with the tower in stage 0 takes 52: transposing pays (1.333 times as "
        "fast)\n");
  CHECK(transposition_verdict("mpipe", 56, "1f1b", 52) ==
        "mpipe takes 56, 1f1b with the tower in stage 0 takes 52: transposing does not pay\n");
  CHECK(transposition_verdict("mpipe", 52, "1f1b", 52).ends_with("does not pay\n"));
}

TEST_CASE("a plan says how many features each rank holds, if there is a tower") {
  const Plan plan = make_plan(transposed(frozen, {2, 1, 3}));
  CHECK(plan.features == std::vector<int>{3, 1});
  CHECK(plan_json(plan).ends_with(", \"features\": [3, 1]}\n"));
  CHECK(make_plan(exec_order(OneFOneB{}, {2, 1, 3})).features.empty());
}
