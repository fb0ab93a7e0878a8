#include <heddle/schedule/exec_order.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

#include <heddle/core/text.hpp>
#include <heddle/schedule/gpipe.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/one_f_one_b.hpp>
#include <support/golden.hpp>

// The rows of tests/data/golden are reproduced exactly: columns, bubbles, transfers and data steps.
namespace {

using namespace heddle;
using heddle_test::golden_rows;
using heddle_test::GoldenRow;

PipelineShape shape_of(const GoldenRow& row) {
  return {.ranks = row.number("P"),
          .stages_per_rank = row.number("V"),
          .micro_batches = row.number("M")};
}

RuntimeInterleaved1F1B interleaved_of(const GoldenRow& row) {
  return {.options = {.warmup = row.number("lm") == 1 ? Warmup::shallow : Warmup::classic}};
}

bool is_no_bubble(Step step) { return step != idle; }
bool is_no_data(Step step) { return step != idle && !is_data(step.kind); }
bool is_column(Step step) { return step == idle || is_compute(step.kind); }

/// The steps of `order` for which `keep` holds.
template <class Keep>
Order only(const Order& order, Keep keep) {
  std::vector<std::vector<Step>> lists(static_cast<std::size_t>(order.ranks()));
  for (int rank = 0; rank < order.ranks(); ++rank) {
    for (const Step step : order.rank(rank)) {
      if (keep(step)) lists[static_cast<std::size_t>(rank)].push_back(step);
    }
  }
  return {order.shape, order.rank_of_stage, lists};
}

/// What a lowering places, bubbles too.
template <class Lower>
Order collected(const Order& columns, Lower lower) {
  std::vector<std::vector<Step>> lists(static_cast<std::size_t>(columns.ranks()));
  lower([&](int rank, Step step) { lists[static_cast<std::size_t>(rank)].push_back(step); });
  return {columns.shape, columns.rank_of_stage, lists};
}

void check_equal(const Order& made, const Order& golden) {
  CHECK(text_of(made) == text_of(golden));
}

template <schedule Schedule>
void check_row(const Schedule& policy, const GoldenRow& row) {
  CAPTURE(row["id"]);
  const PipelineShape shape = shape_of(row);
  const Order golden = read_text(row["order"], shape).order;
  check_equal(compute_order(policy, shape), only(golden, is_column));
  check_equal(exec_order(policy, shape, DataSteps::chain), only(golden, is_no_bubble));
  check_equal(exec_order(policy, shape), only(golden, is_no_data));
}

}  // namespace

TEST_CASE("GPipe makes the golden orders") {
  const auto rows = golden_rows("orders_gpipe");
  CHECK(rows.size() == 42);
  for (const auto& row : rows) check_row(GPipe{}, row);
}

TEST_CASE("1F1B makes the golden orders") {
  const auto rows = golden_rows("orders_1f1b");
  CHECK(rows.size() == 42);
  for (const auto& row : rows) check_row(OneFOneB{}, row);
}

TEST_CASE("Interleaved 1F1B makes the golden orders") {
  const auto rows = golden_rows("orders_interleaved");
  CHECK(rows.size() == 326);
  for (const auto& row : rows) check_row(interleaved_of(row), row);
}

TEST_CASE("Interleaved 1F1B makes the large golden orders") {
  const auto rows = golden_rows("orders_large_interleaved");
  CHECK(rows.size() == 10);
  for (const auto& row : rows) check_row(interleaved_of(row), row);
}

TEST_CASE("Lowering by columns leaves the bubbles where the golden orders have them") {
  for (const auto& row : golden_rows("orders_interleaved")) {
    CAPTURE(row["id"]);
    const Order columns = compute_order(interleaved_of(row), shape_of(row));
    const Order made = collected(
        columns, [&](auto emit) { detail::lower_by_columns(columns, DataSteps::chain, emit); });
    check_equal(made, read_text(row["order"], shape_of(row)).order);
  }
}

TEST_CASE("Columns without bubbles are aligned as the golden orders say") {
  std::size_t aligned = 0;
  for (const auto& row : golden_rows("passes")) {
    if (row["pass"] != "auto_align") continue;
    ++aligned;
    CAPTURE(row["id"]);
    const Order golden = read_text(row["order"], shape_of(row)).order;
    const Order dense = only(compute_order(interleaved_of(row), shape_of(row)), is_no_bubble);
    check_equal(lower(dense, DataSteps::chain), only(golden, is_no_bubble));
    check_equal(lower(dense), only(golden, is_no_data));
    const Order made = collected(
        dense, [&](auto emit) { detail::lower_by_alignment(dense, DataSteps::chain, emit); });
    check_equal(made, golden);
  }
  CHECK(aligned == 30);
}
