// Chooses a schedule in a program: the quickest of those that fit in memory.

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>

#include <heddle/heddle.hpp>

// docs: begin
/// The built-in schedule without a tower that has the least makespan of those that keep at most
/// `most_live` activations on any rank; empty if there is none.
std::string choose(heddle::PipelineShape shape, const heddle::Costs& costs, int most_live) {
  std::string best;
  double least = std::numeric_limits<double>::infinity();
  for (const auto name : heddle::body_names) {
    heddle::with_schedule(name, [&](auto schedule) {
      if (heddle::shape_fault(schedule, shape)) return;
      const auto plan = heddle::make_plan(heddle::exec_order(schedule, shape), costs);
      if (*std::ranges::max_element(plan.peak) > most_live || plan.makespan >= least) return;
      least = plan.makespan;
      best = name;
    });
  }
  return best;
}
// docs: end

int main() {
  const heddle::PipelineShape shape{.ranks = 4, .micro_batches = 16};
  const heddle::Costs costs{.forward = 10, .backward = 20, .weight = 10, .latency = 3};
  for (const int most_live : {16, 8, 4, 2}) {
    const auto name = choose(shape, costs, most_live);
    std::printf("at most %2d: %s\n", most_live, name.empty() ? "none" : name.c_str());
  }
}
