#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <heddle/core/csv.hpp>
#include <heddle/core/step.hpp>
#include <heddle/core/text.hpp>
#include <heddle/verify/memory.hpp>
#include <heddle/verify/slots.hpp>

#include "support/golden.hpp"

using namespace heddle;

namespace {

std::string peaks_of(const Order& order) {
  std::string text;
  for (const RankMemory& memory : peak_memory(order)) {
    text += (text.empty() ? "" : ",") + std::to_string(memory.activations);
  }
  return text;
}

/// Whether no slot is held by two at a time, each is the lowest free one, and as many are used as
/// are live at the peak.
bool slots_are_right(const Order& order, int rank) {
  const auto list = order.rank(rank);
  const auto slots = assign_slots(order, rank);
  std::map<std::pair<int, int>, int> held;
  int highest = -1;
  for (std::size_t at = 0; at < list.size(); ++at) {
    const Step step = list[at];
    if (!is_compute(step.kind)) {
      if (slots[at] != no_slot) return false;
      continue;
    }
    const std::pair key{step.stage, step.micro_batch};
    if (step.kind == StepKind::forward) {
      std::set<int> taken;
      for (const auto& [unused, slot] : held) taken.insert(slot);
      int lowest = 0;
      while (taken.count(lowest) > 0) ++lowest;
      if (slots[at] != lowest) return false;
      held[key] = lowest;
      highest = std::max(highest, lowest);
    } else if (slots[at] != held.at(key)) {
      return false;
    }
    if (step.kind == StepKind::backward || step.kind == StepKind::backward_weight) held.erase(key);
  }
  return held.empty() && highest + 1 == peak_memory(order, rank).activations;
}

}  // namespace

TEST_CASE("peaks equal those of the golden orders") {
  for (const std::string table :
       {"orders_gpipe", "orders_1f1b", "orders_interleaved", "orders_large_interleaved"}) {
    for (const auto& row : heddle_test::golden_rows(table)) {
      CAPTURE(row["id"]);
      CHECK(peaks_of(read_text(row["order"]).order) == row["peak"]);
    }
  }
}

TEST_CASE("slots are the lowest free ones and as many as the peak") {
  for (const std::string table : {"orders_gpipe", "orders_1f1b", "orders_interleaved"}) {
    for (const auto& row : heddle_test::golden_rows(table)) {
      CAPTURE(row["id"]);
      const Order order = read_text(row["order"]).order;
      for (int rank = 0; rank < order.ranks(); ++rank) CHECK(slots_are_right(order, rank));
    }
  }
}

TEST_CASE("slots of a split backward are held until its weight half") {
  for (const std::string name :
       {"zbv_p4v2m8", "interleaved_zero_bubble_p4v1m8", "dualpipev_p4v2m8"}) {
    CAPTURE(name);
    const Order order =
        read_csv(heddle_test::read_data("golden/pytorch/" + name + "_comms.csv")).order;
    for (int rank = 0; rank < order.ranks(); ++rank) CHECK(slots_are_right(order, rank));
  }
}

TEST_CASE("more than 64 slots are given out in order") {
  Order order;
  order.shape = {.ranks = 1, .micro_batches = 200};
  order.rank_of_stage = {0};
  for (int micro = 0; micro < 200; ++micro) order.steps.push_back(forward(micro, 0));
  for (int micro = 199; micro >= 0; --micro) order.steps.push_back(backward(micro, 0));
  order.offsets = {0, 400};
  CHECK(slots_are_right(order, 0));
  CHECK(peak_memory(order, 0).activations == 200);
}
