#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <heddle/exec/executor.hpp>
#include <heddle/exec/in_process.hpp>
#include <heddle/exec/run_ranks.hpp>
#include <heddle/schedule/gpipe.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/one_f_one_b.hpp>

#include "../../examples/matrix/layer.hpp"
#include "../../examples/matrix/matrix.hpp"

/// A small model of matrices, run unsplit and through a pipeline of threads.
namespace heddle_test {

using matrix::Layer;
using matrix::Matrix;
using matrix::MatrixBundle;

/// How an in-process pipeline is run.
struct Mode {
  heddle::Transport transport = heddle::Transport::buffered;
  heddle::Waiting waiting = heddle::Waiting::posted_ahead;
};

inline constexpr std::array all_modes{
    Mode{heddle::Transport::buffered, heddle::Waiting::posted_ahead},
    Mode{heddle::Transport::rendezvous, heddle::Waiting::posted_ahead},
    Mode{heddle::Transport::buffered, heddle::Waiting::inline_},
    Mode{heddle::Transport::rendezvous, heddle::Waiting::inline_},
};

/// The weight of each stage, and one batch.
struct Problem {
  std::vector<Matrix> weights;
  Matrix inputs;
  Matrix targets;
};

/// Neighbouring boundaries differ in width, so that bundles that are mixed up do not fit.
inline Problem make_problem(int stages, int rows) {
  const auto width = [](int boundary) { return 2 + boundary % 3; };
  Problem problem;
  for (int stage = 0; stage < stages; ++stage) {
    problem.weights.push_back(
        matrix::random_matrix(width(stage), width(stage + 1), 100u + static_cast<unsigned>(stage)));
  }
  problem.inputs = matrix::random_matrix(rows, width(0), 1);
  problem.targets = matrix::random_matrix(rows, width(stages), 2);
  return problem;
}

/// What a run of training leaves: the loss and the gradient of every stage.
struct Trained {
  double loss = 0;
  std::vector<Matrix> gradients;

  friend bool operator==(const Trained&, const Trained&) = default;
};

/// The reference: all stages on one thread, one micro-batch after the other.
inline Trained train_unsplit(const Problem& problem, int micro_batches) {
  std::vector<Layer> layers;
  for (const Matrix& weight : problem.weights) layers.emplace_back(weight).reserve(1);
  const double scale = 1.0 / micro_batches;
  const auto rows = problem.inputs.rows() / micro_batches;
  Trained trained;
  for (int index = 0; index < micro_batches; ++index) {
    const heddle::MicroBatch micro_batch{index, 0};
    MatrixBundle bundle{{matrix::narrow(problem.inputs, 0, index * rows, rows)}};
    const MatrixBundle targets{{matrix::narrow(problem.targets, 0, index * rows, rows)}};
    for (std::size_t at = 0; at + 1 < layers.size(); ++at) {
      bundle = layers[at].forward(micro_batch, std::move(bundle));
    }
    trained.loss += scale * layers.back().forward_loss(micro_batch, std::move(bundle), targets,
                                                       matrix::squared_error, scale);
    bundle = MatrixBundle{};
    for (std::size_t at = layers.size(); at-- > 0;) {
      bundle = layers[at].backward(micro_batch, std::move(bundle));
    }
  }
  for (const Layer& layer : layers) trained.gradients.push_back(layer.gradient());
  return trained;
}

/// The same through a pipeline.
template <class Schedule>
Trained train_pipelined(const Problem& problem, heddle::PipelineShape shape, Mode mode) {
  heddle::InProcessGroup<MatrixBundle> group{shape.ranks, {.transport = mode.transport}};
  Trained trained;
  trained.gradients.resize(static_cast<std::size_t>(shape.stages()));
  heddle::run_ranks(shape.ranks, [&](int rank) {
    auto communicator = group.communicator(rank);
    auto stages = heddle::local_stages<Schedule>(shape, rank, [&](int stage) {
      return Layer{problem.weights[static_cast<std::size_t>(stage)]};
    });
    const auto indices = stages.indices;
    heddle::Executor step{Schedule{},
                          shape,
                          std::move(stages),
                          communicator,
                          heddle::mean_loss(matrix::squared_error),
                          {.waiting = mode.waiting}};
    const auto result = step.run({heddle::split(problem.inputs)}, {heddle::split(problem.targets)});
    if (result.has_loss) trained.loss = result.loss;
    for (std::size_t local = 0; local < indices.size(); ++local) {
      trained.gradients[static_cast<std::size_t>(indices[local])] = step.stages()[local].gradient();
    }
  });
  return trained;
}

}  // namespace heddle_test
