#include <doctest/doctest.h>
#include <heddle/core/csv.hpp>
#include <heddle/core/text.hpp>

#include <string>

#include "support/golden.hpp"

using namespace heddle;

namespace {

Order read(const std::string& text) { return read_csv(text).order; }

FormatError refusal(const std::string& text, const ExpectedShape& expected = {}) {
  try {
    read_csv(text, expected);
  } catch (const FormatError& error) {
    return error;
  }
  return {0, 0, "", "was accepted"};
}

std::string pytorch(const std::string& name) {
  return heddle_test::read_data("golden/pytorch/" + name);
}

const std::string small = "0F0,0SEND_F0,,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n";

}  // namespace

TEST_CASE("every order of PyTorch is read, and written as it was but for composites") {
  int files = 0;
  for (const auto& row : heddle_test::golden_rows("pytorch/expected")) {
    const std::string name = row["file"];
    CAPTURE(name);
    const std::string text = pytorch(name);
    const Order order = read(text);
    CHECK(order.shape == PipelineShape{row.number("P"), row.number("V"), row.number("M")});
    CHECK(read(csv_of(order)) == order);
    if (text.find('(') == std::string::npos) CHECK(csv_of(order) == text);
    ++files;
  }
  CHECK(files == 48);
}

TEST_CASE("stages are on the ranks that the rows say") {
  const Order zbv = read(pytorch("zbv_p4v2m8_compute.csv"));
  CHECK(zbv.rank_of_stage == std::vector<int>{0, 1, 2, 3, 3, 2, 1, 0});
  const Order looped = read(pytorch("interleaved_1f1b_p4v2m8_compute.csv"));
  CHECK(looped.rank_of_stage == std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3});
}

TEST_CASE("all kinds of action are read") {
  CHECK(
      text_of(read(
          "0UNSHARD,0F3,0I3,0W3,0B2,0SEND_F3,0RECV_F3,0SEND_B3,0RECV_B3,0WAIT_SEND_F,0WAIT_SEND_F3,"
          "0WAIT_SEND_B1,0REDUCE_GRAD,0WAIT_REDUCE_GRAD,0RESHARD")) ==
      "Uux@0 F3@0 I3@0 W3@0 B2@0 Fs3@0 Fr3@0 Bs3@0 Br3@0 Fwx@0 Fw3@0 Bw1@0 Ugx@0 Uwx@0 Urx@0");
}

TEST_CASE("a composite is read as its parts, which share its cell") {
  const auto imported = read_csv("0F0,0F1,(0F2;0B0)OVERLAP_F_B,0B1,0B2");
  CHECK(text_of(imported.order) == "F0@0 F1@0 F2@0 B0@0 B1@0 B2@0");
  CHECK(imported.cell(0, 3).token == "(0F2;0B0)OVERLAP_F_B");
  CHECK(imported.cell(0, 3).column == 3);
  CHECK(imported.cell(0, 4).column == 4);
}

TEST_CASE("line ends, empty cells and empty lines at the end change nothing") {
  const Order order = read(small);
  CHECK(text_of(order) == "F0@0 Fs0@0 -1 Br0@0 B0@0 / Fr0@1 F0@1 B0@1 Bs0@1");
  CHECK(read("0F0,0SEND_F0,,0RECV_B0,0B0\r\n1RECV_F0,1F0,1B0,1SEND_B0\r\n") == order);
  CHECK(read("0F0,0SEND_F0,,0RECV_B0,0B0,,,\n1RECV_F0,1F0,1B0,1SEND_B0,\n\n\n") == order);
  CHECK(read("0F0, 0SEND_F0, , 0RECV_B0, 0B0\n1RECV_F0,\t1F0,1B0,1SEND_B0") == order);
}

TEST_CASE("cells are numbered with the empty ones") {
  const auto imported = read_csv(small);
  CHECK(imported.cell(0, 3).column == 4);
  CHECK(imported.cell(1, 2).row == 2);
  CHECK(imported.cell(1, 2).token == "1B0");
}

TEST_CASE("an order is written with compute steps only where that is asked for") {
  CHECK(csv_of(read(small), CsvContent::compute_steps) == "0F0,,0B0\n1F0,1B0\n");
  CHECK(csv_of(read(small)) == small);
}

TEST_CASE("steps that CSV has no action for cannot be written") {
  CHECK_THROWS_AS(csv_of(read_text("Dl0@0 F0@0 B0@0").order), Error);
  CHECK_THROWS_WITH(csv_of(Step{StepKind::tower_forward, 0, no_stage}),
                    "a tower forward cannot be written as CSV, which has no action for it; make "
                    "the order without such "
                    "steps, or write it in the text form");
  CHECK_THROWS_AS(csv_of(Step{user_kind(3), 0, 0}), Error);
  CHECK(csv_of(read_text("Dl0@0 F0@0 B0@0").order, CsvContent::compute_steps) == "0F0,0B0\n");
}

TEST_CASE("a cell that is no action is refused with its place") {
  const auto unknown = refusal("0F0,0B0\n1F0,1B0\n2F0,,2B0,2F1,2Q1,2B1");
  CHECK(unknown.row == 3);
  CHECK(unknown.column == 5);
  CHECK(unknown.token == "2Q1");
  for (const auto* cell :
       {"F0", "0", "0F", "0f0", "0F-2", "0F0x", "-1F0", "0F0 0B0", "99999999999F0", "0F99999999999",
        "(0F0;0B0)OVERLAP", "(0F0;0B0", "(0F0;)OVERLAP_F_B", "()OVERLAP_F_B", "0UNSHARDx"}) {
    CAPTURE(cell);
    const auto error = refusal("0F0,0B0," + std::string{cell});
    CHECK(error.row == 1);
    CHECK(error.column == 3);
    CHECK(error.token == cell);
  }
  CHECK(refusal("").row == 1);
  CHECK(refusal("\n,,\n").row == 1);
}

TEST_CASE("a row is a rank, and the stages are shared evenly") {
  CHECK(refusal("0F0,0B0\n1F0,1B0,2F0,2B0\n").token == "2F0");
  CHECK(refusal("0F0,0B0\n\n1F0,1B0\n3F0").token == "3F0");
  CHECK(refusal(small, PipelineShape{.ranks = 3, .micro_batches = 1}).row == 3);
  CHECK(refusal("0F0,0B0,0F4\n1F0,1B0", PipelineShape{.ranks = 2, .micro_batches = 4}).token ==
        "0F4");
}
