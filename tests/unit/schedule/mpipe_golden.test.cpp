#include <heddle/schedule/mpipe_transpose.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <heddle/core/text.hpp>
#include <heddle/schedule/exec_order.hpp>
#include <support/mpipe_rows.hpp>

// The rows of tests/data/golden are reproduced exactly, and the owners that they show.
namespace {

using namespace heddle;
using heddle_test::golden_rows;
using heddle_test::GoldenRow;

using MPipe = RuntimeMPipeTranspose<>;

struct Counts {
  int made = 0;
  int refused = 0;
};

void check_row(const GoldenRow& row, Counts& counts) {
  CAPTURE(row["id"]);
  const auto options = heddle_test::mpipe_options_of(row);
  const auto shape = heddle_test::shape_of(row);
  if (trains_data_only(options.traits)) {
    CHECK(row["refrun"] == "0");
    CHECK_THROWS_AS(MPipe{options}, Error);
    ++counts.refused;
    return;
  }
  CHECK((row["refrun"] == "1" || (shape.ranks == 1 && shape.stages_per_rank > 1)));
  const Order made =
      exec_order(MPipe{options, heddle_test::mpipe_body_of(row)}, shape, DataSteps::chain);
  CHECK(text_of(made) == row["order"]);
  CHECK(made == read_text(row["order"], shape).order);
  ++counts.made;
}

}  // namespace

TEST_CASE("MPipe Transpose makes the golden orders, and refuses what they say is impossible") {
  Counts counts;
  for (const auto& row : golden_rows("orders_mpipe")) check_row(row, counts);
  CHECK(counts.made == 1267);
  CHECK(counts.refused == 413);
}

TEST_CASE("MPipe Transpose makes the large golden orders") {
  Counts counts;
  for (const auto& row : golden_rows("orders_large_mpipe")) check_row(row, counts);
  CHECK(counts.made + counts.refused == 1109);
  CHECK(counts.made > 700);
}
