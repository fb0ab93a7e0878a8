// What a step of the executor costs over plain eager execution: stages that multiply by one scalar,
// all on one rank, against the same calls in a loop. The peer of pytorch_step.py.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/version.h>

#include <heddle/heddle.hpp>
#include <heddle/torch/stage.hpp>

namespace {

using Schedule = heddle::Interleaved1F1B;
constexpr heddle::PipelineShape shape{.ranks = 1, .stages_per_rank = 8, .micro_batches = 64};
constexpr int repetitions = 50;

at::Tensor loss_of(const at::Tensor& outputs, const at::Tensor& targets) {
  return (outputs - targets).sum();
}

/// The least of many, in microseconds a step: what the machine's other work did not lengthen.
template <class Work>
double microseconds_a_step(Work work) {
  constexpr int steps = 2 * shape.stages() * shape.micro_batches;
  double least = 0;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - begin;
    least = repetition == 0 ? taken.count() : std::min(least, taken.count());
  }
  return least / steps;
}

}  // namespace

int main() {
  at::set_num_threads(1);
  std::vector<at::Tensor> factors;
  for (int stage = 0; stage < shape.stages(); ++stage) {
    factors.push_back(at::ones({1}).set_requires_grad(true));
  }
  const at::Tensor inputs = at::ones({shape.micro_batches, 4});
  const at::Tensor targets = at::zeros({shape.micro_batches, 4});

  const auto plain = [&] {
    const auto pieces = inputs.chunk(shape.micro_batches);
    const auto answers = targets.chunk(shape.micro_batches);
    for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
      at::Tensor value = pieces[piece];
      for (const auto& factor : factors) value = value * factor;
      loss_of(value, answers[piece]).backward();
    }
  };

  const heddle::InProcessGroup<heddle::TorchBundle> group{1};
  auto communicator = group.communicator(0);
  auto stages = heddle::local_stages<Schedule>(shape, 0, [&](int stage) {
    const at::Tensor factor = factors[static_cast<std::size_t>(stage)];
    return heddle::TorchStage{[factor](const at::Tensor& value) { return value * factor; }};
  });
  heddle::Executor step{heddle::proved<Schedule, shape>, std::move(stages), communicator,
                        heddle::sum_loss(loss_of)};
  const auto pipeline = [&] { step.run({heddle::split(inputs)}, {heddle::split(targets)}); };

  plain();
  pipeline();
  const double plain_step = microseconds_a_step(plain);
  const double pipeline_step = microseconds_a_step(pipeline);
  std::printf("heddle LibTorch %s: plain %.3f us, pipeline %.3f us, overhead %.3f us a step\n",
              TORCH_VERSION, plain_step, pipeline_step, pipeline_step - plain_step);
}
