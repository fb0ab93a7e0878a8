#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <heddle/core/csv.hpp>
#include <heddle/core/step.hpp>
#include <heddle/core/text.hpp>
#include <heddle/verify/verify.hpp>

#include "support/golden.hpp"

using namespace heddle;

namespace {

/// Whether each action of the cycle waits for the next rank's: their ranks differ and each partner
/// stands further on in that rank's list.
bool is_closed(const Order& order, const std::vector<Action>& cycle) {
  for (std::size_t at = 0; at < cycle.size(); ++at) {
    const Action& next = cycle[(at + 1) % cycle.size()];
    const Step step = cycle[at].step;
    const Step partner = is_send(step.kind) ? matching_receive(step) : matching_send(step);
    const auto list = order.rank(next.rank);
    const auto behind = list.subspan(static_cast<std::size_t>(next.position) + 1);
    if (order.rank(cycle[at].rank)[static_cast<std::size_t>(cycle[at].position)] != step)
      return false;
    if (std::find(behind.begin(), behind.end(), partner) == behind.end()) return false;
  }
  return cycle.size() > 1;
}

}  // namespace

TEST_CASE("every golden order of the built-in schedules obeys all laws") {
  for (const std::string table :
       {"orders_gpipe", "orders_1f1b", "orders_interleaved", "orders_large_interleaved"}) {
    for (const auto& row : heddle_test::golden_rows(table)) {
      CAPTURE(row["id"]);
      const auto fault = verify(read_text(row["order"]).order);
      CHECK_MESSAGE(!fault, (fault ? fault->sentence : ""));
    }
  }
}

TEST_CASE("every golden order of MPipe obeys all laws but those of a tower that never ran") {
  int refused = 0;
  for (const std::string table : {"orders_mpipe", "orders_large_mpipe"}) {
    for (const auto& row : heddle_test::golden_rows(table)) {
      CAPTURE(row["id"]);
      // The original builds the backward of a tower that it has not run, and fails on it.
      const std::string& text = row["order"];
      const bool backward_alone = row["T"] == "0" && (text.find("Mw") != std::string::npos ||
                                                      text.find("Er") != std::string::npos);
      const auto fault = verify(read_text(text).order);
      CHECK_MESSAGE(fault.has_value() == backward_alone, (fault ? fault->sentence : ""));
      refused += fault ? 1 : 0;
    }
  }
  CHECK(refused > 500);
}

TEST_CASE("aligned golden orders obey all laws") {
  for (const auto& row : heddle_test::golden_rows("passes")) {
    if (row["pass"] != "auto_align") continue;
    CAPTURE(row["id"]);
    CHECK(!verify(read_text(row["order"]).order));
  }
}

TEST_CASE(
    "PyTorch's lowered orders complete under strict sequence exactly where they should, else show "
    "their cycle") {
  int refused = 0;
  for (const auto& row : heddle_test::golden_rows("pytorch/expected")) {
    CAPTURE(row["file"]);
    const Order order = read_csv(heddle_test::read_data("golden/pytorch/" + row["file"])).order;
    const auto fault = verify(order);
    CHECK(fault.has_value() == (row["sequential"] == "deadlock"));
    if (!fault) continue;
    ++refused;
    CHECK((fault->kind == FaultKind::wait_cycle || fault->kind == FaultKind::overtaken_receive));
    CHECK(is_closed(order, fault->cycle));
  }
  CHECK(refused == 24);
}
