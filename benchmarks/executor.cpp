// What a step of the executor costs where stages do nothing.

#include <cstdint>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include <heddle/heddle.hpp>

namespace {

/// A boundary of one number, which needs no memory of its own.
struct Number {
  using Value = double;

  double value = 0;

  static std::size_t size() { return 1; }
  static std::int64_t length(double /*value*/, int /*dimension*/) { return 1; }
  static double narrow(double value, int /*dimension*/, std::int64_t /*begin*/,
                       std::int64_t /*length*/) {
    return value;
  }
  void append(double added) { value = added; }
};

struct EmptyStage {
  static Number forward(heddle::MicroBatch /*micro_batch*/, Number inputs) { return inputs; }
  static Number backward(heddle::MicroBatch /*micro_batch*/, Number gradients) { return gradients; }

  template <class Loss>
  static double forward_loss(heddle::MicroBatch /*micro_batch*/, Number inputs,
                             const Number& /*targets*/, Loss& loss, double /*scale*/) {
    return loss(inputs);
  }
};

/// P = 1: all stages hand over in memory.
void executor_step(benchmark::State& state) {
  const heddle::PipelineShape shape{.ranks = 1,
                                    .stages_per_rank = static_cast<int>(state.range(0)),
                                    .micro_batches = static_cast<int>(state.range(1))};
  const heddle::InProcessGroup<Number> group{1};
  auto communicator = group.communicator(0);
  heddle::Executor step{
      heddle::Interleaved1F1B{}, shape,
      heddle::local_stages<heddle::Interleaved1F1B>(shape, 0, [](int) { return EmptyStage{}; }),
      communicator, heddle::mean_loss([](Number output) { return output.value; })};
  const std::vector inputs{heddle::replicate(1.0)};
  const std::vector targets{heddle::replicate(1.0)};

  for (auto _ : state) {
    auto result = step.run(inputs, targets);
    benchmark::DoNotOptimize(result);
  }
  const auto steps = static_cast<std::int64_t>(step.program().instructions.size());
  state.SetItemsProcessed(state.iterations() * steps);
  state.counters["per_step"] =
      benchmark::Counter{static_cast<double>(steps), benchmark::Counter::kIsIterationInvariantRate |
                                                         benchmark::Counter::kInvert};
}

BENCHMARK(executor_step)->ArgNames({"V", "M"})->Args({8, 64})->Args({1, 512})->Args({8, 512});

}  // namespace
