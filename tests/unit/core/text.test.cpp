#include <doctest/doctest.h>
#include <heddle/core/text.hpp>

#include <string>

#include "support/golden.hpp"

using namespace heddle;

namespace {

Order read(const std::string& text) { return read_text(text).order; }

FormatError refusal(const std::string& text, const ExpectedShape& expected = {}) {
  try {
    read_text(text, expected);
  } catch (const FormatError& error) {
    return error;
  }
  return {0, 0, "", "was accepted"};
}

}  // namespace

TEST_CASE("every golden order is written as it was read") {
  for (const auto* table :
       {"orders_gpipe", "orders_1f1b", "orders_interleaved", "orders_large_interleaved"}) {
    int rows = 0;
    for (const auto& row : heddle_test::golden_rows(table)) {
      CAPTURE(row["id"]);
      const Order order = read(row["order"]);
      CHECK(text_of(order) == row["order"]);
      CHECK(reads(order, row["order"]));
      CHECK(order.shape == PipelineShape{row.number("P"), row.number("V"), row.number("M")});
      for (int stage = 0; stage < order.shape.stages(); ++stage) {
        CHECK(order.view().rank_of(stage) == stage % order.ranks());
      }
      ++rows;
    }
    CHECK(rows >= 10);
  }
}

TEST_CASE("an order is written without its bubbles where that is asked for") {
  for (const auto& row : heddle_test::golden_rows("orders_interleaved")) {
    const std::string written = text_of(read(row["order"]), Bubbles::left_out);
    CHECK(written.find(" -") == std::string::npos);
    CHECK(reads(read(written), row["order"], Bubbles::left_out));
  }
}

TEST_CASE("composites are read as their parts in order") {
  CHECK(read("F0@0 [B0@0|F1@0]^(Fs1@0 Br1@0) B1@0").steps ==
        read("F0@0 B0@0 F1@0 Fs1@0 Br1@0 B1@0").steps);
  CHECK(read("F0@0 {Bs0@0|Br1@0} B0@0").steps == read("F0@0 Bs0@0 Br1@0 B0@0").steps);
  int rows = 0;
  for (const auto& row : heddle_test::golden_rows("passes")) {
    CAPTURE(row["id"]);
    const Order order = read(row["order"]);
    CHECK(order.shape == PipelineShape{row.number("P"), row.number("V"), row.number("M")});
    ++rows;
  }
  CHECK(rows > 100);
}

TEST_CASE("every step of a text knows its rank, position and token") {
  const auto imported = read_text("F0@0 -2 [B0@0|F1@0] B1@0 / F0@1 B0@1 F1@1 B1@1");
  CHECK(imported.cell(0, 0).token == "F0@0");
  CHECK(imported.cell(0, 2).token == "-2");
  CHECK(imported.cell(0, 2).column == 2);
  CHECK(imported.cell(0, 4).token == "F1@0");
  CHECK(imported.cell(0, 4).column == 4);
  CHECK(imported.cell(1, 1).row == 2);
  CHECK(imported.cell(1, 1).column == 2);
  CHECK(imported.cell(1, 1).token == "B0@1");
  CHECK(imported.cells.size() == imported.order.steps.size());
}

TEST_CASE("a text that is no order is refused with the place") {
  const auto unknown = refusal("F0@0 B0@0 / F0@1 Q0@1");
  CHECK(unknown.row == 2);
  CHECK(unknown.column == 2);
  CHECK(unknown.token == "Q0@1");
  CHECK(std::string{unknown.what()}.find("no step is written so") != std::string::npos);

  CHECK(refusal("F0@0 [B0@0|F1@0").row == 1);
  CHECK(refusal("F0@0 -0").token == "-0");
  CHECK(refusal("F0@0 -9999999").token == "-9999999");
  CHECK(refusal("F-2@0").token == "F-2@0");
  CHECK(refusal("").row == 1);
  CHECK(refusal(" / ").row == 1);
}

TEST_CASE("a shape that cannot be inferred is refused") {
  CHECK(refusal("F0@0 B0@0 / F0@2 B0@2").token == "F0@2");  // 3 stages, 2 ranks
  CHECK(refusal("F0@0 B0@0 / F0@3 B0@3").token == "F0@3");  // stages 1 and 2 are nowhere
  CHECK(refusal("F0@0 B0@0 / F0@99999999 B0@1").token == "F0@99999999");  // does not ask for memory
  CHECK(refusal("Rgx@0").token == "Rgx@0");
}

TEST_CASE("a text is held to the shape that is expected") {
  const std::string text = "F0@0 B0@0 F1@0 B1@0 / F0@1 B0@1 F1@1 B1@1";
  CHECK(read_text(text, PipelineShape{.ranks = 2, .micro_batches = 2}).order == read(text));
  CHECK(read_text(text, PipelineShape{.ranks = 2, .micro_batches = 3}).order.shape.micro_batches ==
        3);
  CHECK(refusal(text, PipelineShape{.ranks = 2, .micro_batches = 1}).token == "F1@0");
  CHECK(refusal(text, PipelineShape{.ranks = 3, .micro_batches = 2}).row == 3);
  CHECK(refusal(text, PipelineShape{.ranks = 1, .micro_batches = 2}).row == 2);
  ExpectedShape two_stages;
  two_stages.stages_per_rank = 2;
  CHECK(refusal(text, two_stages).token == "F0@1");  // stages 2 and 3 are computed by no row
  two_stages.stages_per_rank = 16'000'000;
  CHECK(refusal(text, two_stages).token == "F0@1");  // does not ask for memory
}

TEST_CASE("a stage belongs to the row that computes it most often") {
  const Order order = read("F0@0 B0@0 F1@0 B1@0 / F0@1 B0@1 F1@1 F0@0");
  CHECK(order.rank_of_stage == std::vector<int>{0, 1});
}
