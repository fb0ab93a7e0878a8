// A pipeline without LibTorch: a tensor type of our own (matrix.hpp), a stage with its gradients by
// hand (layer.hpp), and a training loop over four threads that ends where the same model on one
// thread ends.
#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>

#include <heddle/exec/executor.hpp>
#include <heddle/exec/in_process.hpp>
#include <heddle/exec/run_ranks.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>

#include "layer.hpp"
#include "matrix.hpp"

namespace {

using Schedule = heddle::Interleaved1F1B;
constexpr heddle::PipelineShape shape{.ranks = 4, .stages_per_rank = 2, .micro_batches = 8};
constexpr int width = 6;
constexpr int rows = 32;
constexpr int steps = 50;
constexpr double rate = 0.2;

matrix::Layer make_layer(int stage) {
  return matrix::Layer{matrix::random_matrix(width, width, 10u + static_cast<unsigned>(stage))};
}

/// Trains on one thread with the same micro-batches; returns the loss of the last step.
double train_on_one_thread(const matrix::Matrix& inputs, const matrix::Matrix& targets) {
  std::vector<matrix::Layer> layers;
  for (int stage = 0; stage < shape.stages(); ++stage) {
    layers.push_back(make_layer(stage));
    layers.back().reserve(1);
  }
  constexpr int part = rows / shape.micro_batches;
  constexpr double share = 1.0 / shape.micro_batches;
  double loss = 0;
  for (int step = 0; step < steps; ++step) {
    loss = 0;
    for (int index = 0; index < shape.micro_batches; ++index) {
      const heddle::MicroBatch micro_batch{index, 0};
      matrix::MatrixBundle bundle{{matrix::narrow(inputs, 0, index * part, part)}};
      const matrix::MatrixBundle target{{matrix::narrow(targets, 0, index * part, part)}};
      for (std::size_t at = 0; at + 1 < layers.size(); ++at) {
        bundle = layers[at].forward(micro_batch, std::move(bundle));
      }
      loss += share * layers.back().forward_loss(micro_batch, std::move(bundle), target,
                                                 matrix::squared_error, share);
      bundle = {};
      for (std::size_t at = layers.size(); at-- > 0;) {
        bundle = layers[at].backward(micro_batch, std::move(bundle));
      }
    }
    for (matrix::Layer& layer : layers) layer.descend(rate);
  }
  return loss;
}

/// Trains through the pipeline; returns the loss of the last step.
double train_through_pipeline(const matrix::Matrix& inputs, const matrix::Matrix& targets) {
  heddle::InProcessGroup<matrix::MatrixBundle> group{shape.ranks};
  double loss = 0;
  heddle::run_ranks(shape.ranks, [&](int rank) {
    auto communicator = group.communicator(rank);
    auto stages = heddle::local_stages<Schedule>(shape, rank, make_layer);
    heddle::Executor step{heddle::proved<Schedule, shape>, std::move(stages), communicator,
                          heddle::mean_loss(matrix::squared_error)};
    for (int index = 0; index < steps; ++index) {
      const auto result = step.run({heddle::split(inputs)}, {heddle::split(targets)});
      for (matrix::Layer& layer : step.stages()) layer.descend(rate);
      if (!result.has_loss) continue;
      loss = result.loss;
      if (index % 10 == 0) std::printf("step %2d  loss %.6f\n", index, loss);
    }
  });
  return loss;
}

}  // namespace

int main() {
  const auto inputs = matrix::random_matrix(rows, width, 1);
  const auto targets = matrix::random_matrix(rows, width, 2);
  const double loss = train_through_pipeline(inputs, targets);
  const bool is_equal = loss == train_on_one_thread(inputs, targets);
  std::printf("loss: %.6f\nequal to one thread: %s\n", loss, is_equal ? "yes" : "no");
  return is_equal ? 0 : 1;
}
