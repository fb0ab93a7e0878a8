#include <doctest/doctest.h>
#include <heddle/core/text.hpp>
#include <heddle/plan/simulation.hpp>

#include <string>

#include "support/golden.hpp"

using namespace heddle;

namespace {

double makespan(const Order& order, Receives receives, const Costs& costs = {}) {
  return simulate(order, costs, receives).makespan;
}

Order golden(const std::string& table, const std::string& id) {
  for (const auto& row : heddle_test::golden_rows(table)) {
    if (row["id"] == id) return read_text(row["order"]).order;
  }
  throw std::runtime_error("no golden order " + id);
}

}  // namespace

TEST_CASE("the makespans of all golden orders come out under each model of waiting") {
  for (const auto* table :
       {"orders_gpipe", "orders_1f1b", "orders_interleaved", "orders_large_interleaved"}) {
    int rows = 0;
    for (const auto& row : heddle_test::golden_rows(table)) {
      CAPTURE(row["id"]);
      const Order order = read_text(row["order"]).order;
      CHECK(makespan(order, Receives::rendezvous) == row.number("mk_rdv"));
      CHECK(makespan(order, Receives::in_place) == row.number("mk_eager"));
      CHECK(makespan(order, Receives::async) == row.number("mk_async"));
      ++rows;
    }
    CHECK(rows >= 10);
  }
}

TEST_CASE("latency costs what the waiting exposes") {
  const Costs slow{.latency = 0.5};
  const Order one = golden("orders_1f1b", "1f1b_P4_M16");
  const Order shallow = golden("orders_interleaved", "interleaved_P4_V1_M16_lm1");
  CHECK(makespan(one, Receives::in_place, slow) == 75);
  CHECK(makespan(shallow, Receives::in_place, slow) == 88);
  CHECK(makespan(shallow, Receives::async, slow) == 71);
}

TEST_CASE("a step waits for what it needs under each model") {
  // Rank 0 sends at 1; rank 1 computes its first micro-batch before it needs the second.
  const Order order = read_text("F0@0 Fs0@0 F1@0 Fs1@0 / Fr0@1 Fr1@1 F0@1 F1@1").order;
  CHECK(makespan(order, Receives::async) == 3);
  CHECK(makespan(order, Receives::in_place) == 4);
  CHECK(makespan(order, Receives::rendezvous) == 4);
  CHECK(makespan(order, Receives::async, {.latency = 0.5}) == 3.5);
  CHECK(makespan(order, Receives::in_place, {.latency = 0.5}) == 4.5);
  CHECK(makespan(order, Receives::rendezvous, {.latency = 0.5}) == 5);
}

TEST_CASE("work, bubble, messages and timeline of each rank are told") {
  const Order order = read_text("F0@0 Fs0@0 Br0@0 I0@0 W0@0 / Fr0@1 F0@1 B0@1 Bs0@1").order;
  const auto simulation = simulate(order, {.forward = 2, .backward = 5, .weight = 1.5});
  CHECK(simulation.makespan == 14);
  CHECK(simulation.work == std::vector<double>{7, 7});
  CHECK(simulation.bubble == std::vector<double>{7, 7});
  CHECK(simulation.messages == std::vector<int>{1, 1});
  REQUIRE(simulation.timeline.ranks.size() == 2);
  const auto& spans = simulation.timeline.ranks[0];
  REQUIRE(spans.size() == 3);
  CHECK(spans[1].step == backward_input(0, 0));
  CHECK(spans[1].begin == 9);
  CHECK(spans[1].end == 12.5);
  CHECK(spans[2].end == 14);
  CHECK(simulation.timeline.makespan() == 14);
}

TEST_CASE("a wait is drawn as the transfer that causes it") {
  const Order order = read_text("F0@0 Fs0@0 / Fr0@1 F0@1").order;
  const auto spans = simulate(order, {}, Receives::in_place).timeline.ranks[1];
  REQUIRE(spans.size() == 2);
  CHECK(spans[0].step.kind == StepKind::receive_activation);
  CHECK(spans[0].end == 1);
  CHECK(simulate(order).timeline.ranks[1].size() == 1);
}

TEST_CASE("an order that does not complete is refused with the step that waits") {
  const Order crossed = read_text("F0@0 Br0@0 B0@0 Fs0@0 / Fr0@1 F0@1 B0@1 Bs0@1").order;
  CHECK_THROWS_WITH(simulate(crossed),
                    "the order does not complete: rank 0 waits for ever at position 2, B0@0; "
                    "verify(order) says why");
  CHECK_THROWS_AS(simulate(crossed, {}, Receives::in_place), Error);
  CHECK_THROWS_AS(simulate(crossed, {}, Receives::rendezvous), Error);
  CHECK_THROWS_AS(simulate(read_text("F0@0 Fs0@0 Fr0@0").order), Error);
}

TEST_CASE("costs that no machine has are refused") {
  const Order order = read_text("F0@0 B0@0").order;
  CHECK_THROWS_WITH(simulate(order, {.forward = -1}),
                    "the cost forward is negative or no number; it must be 0 or more");
  CHECK_THROWS_AS(simulate(order, {.latency = -0.5}), Error);
  CHECK_THROWS_AS(simulate(order, {.backward = 1, .weight = 1.5}), Error);
  CHECK(simulate(order, {.backward = 1, .weight = 1}).makespan == 2);
}
