#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <heddle/core/csv.hpp>
#include <heddle/core/placement.hpp>
#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <support/golden.hpp>

namespace {

using namespace heddle;
using heddle_test::golden_rows;
using heddle_test::split;

std::vector<int> numbers(const std::string& text) {
  std::vector<int> values;
  for (const auto& part : split(text, ',')) values.push_back(std::stoi(part));
  return values;
}

std::vector<int> warm_ups(Warmup warmup, PipelineShape shape) {
  std::vector<int> depths;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    depths.push_back(warm_up({.warmup = warmup}, shape, rank));
  }
  return depths;
}

}  // namespace

TEST_CASE("Interleaved 1F1B cuts the micro-batches into the golden rounds") {
  const auto rows = golden_rows("rounds");
  CHECK(rows.size() == 264);
  for (const auto& row : rows) {
    const PipelineShape shape{.ranks = row.number("P"),
                              .stages_per_rank = row.number("V"),
                              .micro_batches = row.number("M")};
    CAPTURE(shape.ranks);
    CAPTURE(shape.stages_per_rank);
    CAPTURE(shape.micro_batches);
    const InterleavedRounds rounds{shape};
    CHECK(rounds.count == row.number("n_rounds"));
    std::vector<int> sizes;
    std::vector<int> operations{0};
    for (int round = 0; round < rounds.count; ++round) {
      sizes.push_back(rounds.size_of(round));
      operations.push_back(operations.back() + shape.stages_per_rank * sizes.back());
    }
    CHECK(sizes == numbers(row["per_round"]));
    CHECK(operations == numbers(row["prefix"]));
    CHECK(warm_ups(Warmup::classic, shape) == numbers(row["warmup_classic"]));
    CHECK(warm_ups(Warmup::shallow, shape) == numbers(row["warmup_less"]));
  }
}

TEST_CASE("Stages are placed on ranks as the golden table says, both ways") {
  const auto rows = golden_rows("mapping");
  CHECK(rows.size() == 31);
  for (const auto& row : rows) {
    const auto placement = row["style"] == "v" ? Placement::v : Placement::loop;
    const PipelineShape shape{
        .ranks = row.number("P"), .stages_per_rank = row.number("V"), .micro_batches = 1};
    CHECK(ranks_of_stages(placement, shape) == numbers(row["stage_to_rank_table"]));
    const auto stages = split(row["rank_to_stages_table"], ';');
    REQUIRE(stages.size() == static_cast<std::size_t>(shape.ranks));
    for (int rank = 0; rank < shape.ranks; ++rank) {
      CHECK(stages_of_rank(placement, shape, rank) ==
            numbers(stages[static_cast<std::size_t>(rank)]));
    }
  }
}

TEST_CASE("Interleaved 1F1B computes what PyTorch's does, cell by cell") {
  const std::vector<PipelineShape> shapes{
      {.ranks = 2, .stages_per_rank = 2, .micro_batches = 4},
      {.ranks = 4, .stages_per_rank = 2, .micro_batches = 8},
  };
  for (const auto shape : shapes) {
    const std::string file = "golden/pytorch/interleaved_1f1b_p" + std::to_string(shape.ranks) +
                             "v" + std::to_string(shape.stages_per_rank) + "m" +
                             std::to_string(shape.micro_batches) + "_compute.csv";
    CAPTURE(file);
    const Order theirs = read_csv(heddle_test::read_data(file), shape).order;
    const Order ours = compute_order(Interleaved1F1B{}, shape);
    CHECK(ours.rank_of_stage == theirs.rank_of_stage);
    for (int rank = 0; rank < shape.ranks; ++rank) {
      const auto cells = [rank](const Order& order) {
        std::vector<Step> steps(order.rank(rank).begin(), order.rank(rank).end());
        std::erase(steps, idle);
        return steps;
      };
      CHECK(cells(ours) == cells(theirs));
    }
  }
}
