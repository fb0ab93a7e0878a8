// What it costs to build, lower and prove an order at run time.

#include <cstdint>

#include <benchmark/benchmark.h>

#include <heddle/heddle.hpp>

namespace {

heddle::PipelineShape shape_of(const benchmark::State& state) {
  return {.ranks = static_cast<int>(state.range(0)),
          .stages_per_rank = static_cast<int>(state.range(1)),
          .micro_batches = static_cast<int>(state.range(2))};
}

/// The time over the lowered steps: as good as the same for all shapes if the cost is linear.
void count_steps(benchmark::State& state, const heddle::Order& order) {
  const auto steps = static_cast<double>(order.steps.size());
  state.counters["steps"] = steps;
  state.counters["per_step"] = benchmark::Counter{
      steps, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert};
}

/// Columns and lowering.
void build(benchmark::State& state) {
  const auto shape = shape_of(state);
  for (auto _ : state)
    benchmark::DoNotOptimize(heddle::exec_order(heddle::Interleaved1F1B{}, shape));
  count_steps(state, heddle::exec_order(heddle::Interleaved1F1B{}, shape));
}

/// The laws.
void prove(benchmark::State& state) {
  const auto order = heddle::exec_order(heddle::Interleaved1F1B{}, shape_of(state));
  for (auto _ : state) {
    auto fault = heddle::verify(order);
    if (fault) return state.SkipWithError("the order has a fault");
    benchmark::DoNotOptimize(fault);
  }
  count_steps(state, order);
}

void build_and_prove(benchmark::State& state) {
  const auto shape = shape_of(state);
  for (auto _ : state) {
    const auto order = heddle::exec_order(heddle::Interleaved1F1B{}, shape);
    auto fault = heddle::verify(order);
    benchmark::DoNotOptimize(fault);
  }
  count_steps(state, heddle::exec_order(heddle::Interleaved1F1B{}, shape));
}

void shapes(benchmark::internal::Benchmark* cases) {
  cases->ArgNames({"P", "V", "M"})
      ->Args({4, 2, 16})
      ->Args({8, 4, 64})
      ->Args({16, 4, 256})
      ->Args({64, 8, 1024})
      ->Unit(benchmark::kMillisecond);
}

BENCHMARK(build)->Apply(shapes);
BENCHMARK(prove)->Apply(shapes);
BENCHMARK(build_and_prove)->Apply(shapes);

}  // namespace
