#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include <heddle/core/csv.hpp>
#include <heddle/core/step.hpp>
#include <heddle/core/text.hpp>
#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/one_f_one_b.hpp>
#include <heddle/verify/memory.hpp>
#include <heddle/verify/verify.hpp>

#include "support/golden.hpp"

using namespace heddle;

namespace {

constexpr PipelineShape shape{.ranks = 4, .stages_per_rank = 2, .micro_batches = 4};

std::string table() { return csv_of(exec_order(Interleaved1F1B{}, shape)); }

/// The table with `from`, which is in it once, replaced.
std::string with(const std::string& from, const std::string& to) {
  std::string text = table();
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  REQUIRE(text.find(from, at + 1) == std::string::npos);
  return text.replace(at, from.size(), to);
}

struct Refused {
  FaultKind kind;
  Cell cell;
};

/// The fault of an imported table, with the cell that it is about.
Refused refused(const std::string& text) {
  const ImportedOrder imported = read_csv(text, shape);
  const auto fault = verify(imported.order);
  REQUIRE(fault);
  INFO(fault->sentence);
  REQUIRE(fault->position != no_position);
  return {fault->kind, imported.cell(fault->rank, fault->position)};
}

}  // namespace

TEST_CASE("C15: an imported table is refused at its first bad cell") {
  REQUIRE(!verify(read_csv(table(), shape).order));

  SUBCASE("(a) an extra backward with micro-batch -2") {
    CHECK_THROWS_AS(read_csv(with("0B3\n", "0B3,0B-2\n"), shape), FormatError);
  }
  SUBCASE("(b) a forward for a micro-batch too many") {
    CHECK_THROWS_AS(read_csv(with(",0F3,", ",0F4,"), shape), FormatError);
  }
  SUBCASE("(c) one backward twice, another missing") {
    const Refused fault = refused(with(",0B3\n", ",0B2\n"));
    CHECK(fault.kind == FaultKind::backward_twice);
    CHECK(fault.cell.row == 1);
    CHECK(fault.cell.token == "0B2");
  }
  SUBCASE("(d) a stage on two ranks") {
    const Refused fault = refused(with("\n1RECV_F0,", "\n0F0,1RECV_F0,"));
    CHECK(fault.kind == FaultKind::wrong_rank);
    CHECK(fault.cell.row == 2);
    CHECK(fault.cell.column == 1);
    CHECK(fault.cell.token == "0F0");
  }
  SUBCASE("(e) a weight half before its input half") {
    const Refused fault = refused(with(",7B0,", ",7W0,7I0,"));
    CHECK(fault.kind == FaultKind::weight_half_before_input_half);
    CHECK(fault.cell.row == 4);
    CHECK(fault.cell.token == "7W0");
  }
  SUBCASE("(g) a send without receive") {
    const Refused fault = refused(with("\n1RECV_F0,", "\n"));
    CHECK(fault.kind == FaultKind::send_without_receive);
    CHECK(fault.cell.row == 1);
    CHECK(fault.cell.token == "0SEND_F0");
  }
}

TEST_CASE(
    "C15: an exported table is the same order when it is read again, whatever ends its lines") {
  const Order order = exec_order(Interleaved1F1B{}, shape);
  std::string text = table();
  CHECK(read_csv(text).order == order);
  for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 4)) {
    text.replace(at, 1, ",,\r\n");
  }
  CHECK(read_csv(text).order == order);
  CHECK(!verify(read_csv(text).order));
}

TEST_CASE("C12 and C15 (f): orders with the right steps that cannot proceed print their circle") {
  const std::string crossed =
      "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
      "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n";
  const Order order = read_csv(crossed).order;
  const auto fault = verify(order);
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::wait_cycle);
  REQUIRE(fault->cycle.size() == 2);
  CHECK(describe(order, *fault, &csv_of).find("rank 1 at 1SEND_B0") != std::string::npos);
}

TEST_CASE("C17: receives posted just in time are refused with their circle") {
  const std::string text =
      heddle_test::read_data("golden/pytorch/interleaved_1f1b_p2v2m4_deferred_comms.csv");
  const auto fault = verify(read_csv(text).order);
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::wait_cycle);
  CHECK(fault->cycle.size() == 2);
}

TEST_CASE("C06: a frozen prefix has no backward, no gradient message and no memory") {
  const Order order =
      exec_order(OneFOneB{}, {.ranks = 4, .micro_batches = 4, .first_trained_stage = 2});
  CHECK(!verify(order));
  for (const int rank : {0, 1}) {
    const auto list = order.rank(rank);
    CHECK(std::all_of(list.begin(), list.end(), [](Step step) {
      return step.kind == StepKind::forward || step.kind == StepKind::send_activation ||
             step.kind == StepKind::receive_activation;
    }));
    CHECK(peak_memory(order, rank).activations == 0);
  }
  const auto list = order.rank(2);
  CHECK(std::none_of(list.begin(), list.end(),
                     [](Step step) { return step.kind == StepKind::send_gradient; }));
}

TEST_CASE("C08: what 1F1B holds does not grow with the number of micro-batches") {
  for (const int micro_batches : {4, 16, 64}) {
    CAPTURE(micro_batches);
    const Order order = exec_order(OneFOneB{}, {.ranks = 4, .micro_batches = micro_batches});
    const auto peaks = peak_memory(order);
    for (int rank = 0; rank < 4; ++rank) {
      CAPTURE(rank);
      CHECK(peaks[static_cast<std::size_t>(rank)].activations == 4 - rank);
      CHECK(peaks[static_cast<std::size_t>(rank)].transfers <= 3);
    }
  }
}
