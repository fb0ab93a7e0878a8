#include <heddle/schedule/ownership.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include <heddle/schedule/mpipe_transpose.hpp>
#include <support/mpipe_rows.hpp>

namespace {

using namespace heddle;

std::string joined(const std::vector<int>& numbers) {
  std::string out;
  for (const int number : numbers) out += (out.empty() ? "" : ",") + std::to_string(number);
  return out;
}

OverflowMode overflow_of(const heddle_test::GoldenRow& row) {
  return row["mode"] == "min" ? OverflowMode::min : OverflowMode::full;
}

}  // namespace

TEST_CASE("The owners are those of the golden table") {
  int rows = 0;
  for (const auto& row : heddle_test::golden_rows("owned")) {
    const PipelineShape shape{.ranks = row.number("P"), .micro_batches = row.number("M")};
    const RuntimeMPipeTranspose<> policy{{.overflow = overflow_of(row)}};
    std::string owned;
    for (int rank = 0; rank < shape.ranks; ++rank)
      owned += (rank > 0 ? ";" : "") + joined(owned_micro_batches(policy, shape, rank));
    CHECK(owned == row["owned_by_rank"]);
    CHECK(joined(policy.owners(shape)) == row["owner_of_micro"]);
    for (int micro_batch = 0; micro_batch < shape.micro_batches; ++micro_batch)
      CHECK(owner_of(policy, shape, micro_batch) == owner_of(overflow_of(row), shape, micro_batch));
    ++rows;
  }
  CHECK(rows > 100);
}

TEST_CASE("The ranks own every micro-batch once between them") {
  for (const auto overflow : {OverflowMode::full, OverflowMode::min}) {
    const RuntimeMPipeTranspose<> policy{{.overflow = overflow}};
    for (int ranks = 1; ranks <= 5; ++ranks) {
      for (int micro_batches = 1; micro_batches <= 11; ++micro_batches) {
        const PipelineShape shape{.ranks = ranks, .micro_batches = micro_batches};
        std::multiset<int> all;
        for (int rank = 0; rank < ranks; ++rank) {
          const auto owned = owned_micro_batches(policy, shape, rank);
          all.insert(owned.begin(), owned.end());
        }
        CHECK(all.size() == static_cast<std::size_t>(micro_batches));
        CHECK(std::set<int>(all.begin(), all.end()).size() == all.size());
      }
    }
  }
}
