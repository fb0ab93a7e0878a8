#include <doctest/doctest.h>
#include <heddle/plan/comparison.hpp>

#include <vector>

using namespace heddle;

namespace {

Candidate candidate(const char* name, double makespan, std::vector<double> bubble,
                    std::vector<int> peak) {
  Plan plan;
  plan.makespan = makespan;
  plan.bubble = std::move(bubble);
  plan.peak = peak;
  plan.slots = std::move(peak);
  plan.messages = {3, 4};
  return {name, plan};
}

}  // namespace

TEST_CASE("candidates are a table with the worst rank of each") {
  const std::vector candidates{candidate("one", 10, {2.5, 1}, {3, 2}),
                               candidate("another_one", 1000, {0, 1}, {1, 12})};
  CHECK(comparison_table(candidates) ==
        "schedule     makespan  bubble  of makespan  peak  messages\n"
        "one                10     2.5         25 %     3         7\n"
        "another_one      1000       1        0.1 %    12         7\n");
}

TEST_CASE("candidates are a list in JSON") {
  const std::vector candidates{candidate("one", 10, {2.5, 1}, {3, 2}),
                               candidate("two", 9, {0, 1}, {1, 12})};
  CHECK(comparison_json(candidates) ==
        "[\n"
        "  {\"schedule\": \"one\", \"makespan\": 10, \"bubble\": [2.5, 1], \"peak\": [3, 2], "
        "\"slots\": [3, 2], "
        "\"messages\": [3, 4]},\n"
        "  {\"schedule\": \"two\", \"makespan\": 9, \"bubble\": [0, 1], \"peak\": [1, 12], "
        "\"slots\": [1, 12], "
        "\"messages\": [3, 4]}\n"
        "]\n");
  CHECK(comparison_json({}) == "[\n]\n");
}
