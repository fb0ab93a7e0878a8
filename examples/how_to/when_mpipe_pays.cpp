// The makespan of a model with a tower, transposed in several ways and left in the first stage.

#include <array>
#include <cstdio>

#include <heddle/heddle.hpp>

namespace {

using heddle::MPipeTraits;
using heddle::OverflowMode;

// docs: begin
/// How long a step takes under MPipe, beside the same tower inside the first stage.
struct Makespans {
  double transposed;
  double in_first_stage;
};

Makespans compare(heddle::PipelineShape shape, heddle::MPipeOptions options,
                  const heddle::Costs& costs) {
  const heddle::RuntimeMPipeTranspose mpipe{options, heddle::Interleaved1F1B{}};
  const auto inside = heddle::with_tower_in_first_stage(costs, options.traits.tower);
  return {heddle::simulate(heddle::exec_order(mpipe, shape), costs).makespan,
          heddle::simulate(heddle::exec_order(heddle::Interleaved1F1B{}, shape), inside).makespan};
}
// docs: end

/// A star stands at a makespan where transposing pays.
void print(Makespans makespans) {
  std::array<char, 16> text{};
  const bool pays = makespans.transposed < makespans.in_first_stage;
  std::snprintf(text.data(), text.size(), "%s%.1f", pays ? "*" : "", makespans.transposed);
  std::printf(" %7s", text.data());
}

void print_row(heddle::PipelineShape shape, double tower_forward) {
  const heddle::Costs costs{.tower_forward = tower_forward, .tower_backward = 2 * tower_forward};
  constexpr MPipeTraits frozen{.tower = heddle::Tower::frozen};
  constexpr MPipeTraits by_owner{.backward = heddle::TowerBackward::owner};
  const auto full = compare(shape, {OverflowMode::full, frozen}, costs);
  std::printf("%3d %3d %4.1f %9.1f", shape.ranks, shape.micro_batches, tower_forward,
              full.in_first_stage);
  print(full);
  print(compare(shape, {OverflowMode::min, frozen}, costs));
  const auto owner = compare(shape, {OverflowMode::full, by_owner}, costs);
  std::printf(" %11.1f", owner.in_first_stage);
  print(owner);
  print(compare(shape, {OverflowMode::full, MPipeTraits{}}, costs));
  std::puts("");
}

}  // namespace

int main() {
  std::puts("             frozen                      trainable");
  std::puts("  P   M    e   stage 0    full     min     stage 0   owner  rank 0");
  for (const int ranks : {4, 8}) {
    for (const int rounds : {1, 2, 4}) {
      for (const double tower_forward : {0.5, 1.0, 2.0})
        print_row({.ranks = ranks, .micro_batches = ranks * rounds}, tower_forward);
    }
  }
}
