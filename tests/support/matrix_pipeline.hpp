#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
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

/// Small models run unsplit and through a pipeline of threads.
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

/// No test waits longer than this for a rank that does not come.
inline constexpr auto patience = std::chrono::seconds{20};

/// One micro-batch and what its loss weighs.
template <class Bundle = MatrixBundle>
struct Piece {
  Bundle inputs;
  Bundle targets;
  double weight = 1;
};

/// The reference: all stages on one thread, one micro-batch after the other. Returns the loss;
/// gradients are in `stages`.
template <class Stage, class Bundle, class Function>
double train_unsplit(std::vector<Stage>& stages, const std::vector<Piece<Bundle>>& pieces,
                     Function function, double gradient_scale = 1) {
  double loss = 0;
  if constexpr (heddle::has_reserve<Stage>) {
    for (Stage& stage : stages) stage.reserve(1);
  }
  for (std::size_t index = 0; index < pieces.size(); ++index) {
    const Piece<Bundle>& piece = pieces[index];
    const heddle::MicroBatch micro_batch{static_cast<int>(index), 0};
    Bundle bundle = piece.inputs;
    for (std::size_t at = 0; at + 1 < stages.size(); ++at) {
      bundle = stages[at].forward(micro_batch, std::move(bundle));
    }
    loss += piece.weight * static_cast<double>(stages.back().forward_loss(
                               micro_batch, std::move(bundle), piece.targets, function,
                               piece.weight * gradient_scale));
    bundle = Bundle{};
    for (std::size_t at = stages.size(); at-- > 0;) {
      bundle = stages[at].backward(micro_batch, std::move(bundle));
    }
  }
  return loss;
}

/// Runs `body(rank, step)` on a thread a rank, where `step` is the executor of that rank, and
/// returns all stages of the pipeline as they are then.
template <class Schedule, class Bundle = MatrixBundle, class MakeStage, class Loss, class Body>
auto run_pipeline(heddle::PipelineShape shape, Mode mode, MakeStage make_stage, Loss loss,
                  Body body, heddle::ExecutorOptions options = {}) {
  using Stage = decltype(make_stage(int{}));
  options.waiting = mode.waiting;
  options.deadline = std::min<std::chrono::steady_clock::duration>(options.deadline, patience);
  heddle::InProcessGroup<Bundle> group{shape.ranks,
                                       {.transport = mode.transport, .deadline = options.deadline}};
  std::vector<std::optional<Stage>> collected(static_cast<std::size_t>(shape.stages()));
  heddle::run_ranks(shape.ranks, [&](int rank) {
    auto communicator = group.communicator(rank);
    auto stages = heddle::local_stages<Schedule>(shape, rank, make_stage);
    heddle::Executor step{Schedule{}, shape, std::move(stages), communicator, loss, options};
    body(rank, step);
    for (std::size_t local = 0; local < step.stages().size(); ++local) {
      const int stage = step.program().stages[local];
      collected[static_cast<std::size_t>(stage)].emplace(std::move(step.stages()[local]));
    }
  });
  std::vector<Stage> all;
  for (auto& stage : collected) all.push_back(std::move(*stage));
  return all;
}

/// The weight of each stage, and one batch.
struct Problem {
  std::vector<Matrix> weights;
  Matrix inputs;
  Matrix targets;

  Layer layer(int stage) const { return Layer{weights[static_cast<std::size_t>(stage)]}; }
  std::vector<Layer> layers() const { return {weights.begin(), weights.end()}; }
};

/// `width(i)` is the width of the boundary before stage i.
template <class Width>
Problem make_problem(int stages, std::int64_t rows, Width width) {
  Problem problem;
  for (int stage = 0; stage < stages; ++stage) {
    problem.weights.push_back(
        matrix::random_matrix(width(stage), width(stage + 1), 100u + static_cast<unsigned>(stage)));
  }
  problem.inputs = matrix::random_matrix(rows, width(0), 1);
  problem.targets = matrix::random_matrix(rows, width(stages), 2);
  return problem;
}

/// Neighbouring boundaries differ in width, so that bundles that are mixed up do not fit.
inline Problem make_problem(int stages, std::int64_t rows) {
  return make_problem(stages, rows, [](int boundary) { return 2 + boundary % 3; });
}

/// The micro-batches of a problem, `sizes` rows each.
inline std::vector<Piece<>> cut(const Problem& problem, const std::vector<std::int64_t>& sizes,
                                const std::vector<double>& weights) {
  std::vector<Piece<>> pieces;
  std::int64_t begin = 0;
  for (std::size_t index = 0; index < sizes.size(); ++index) {
    const auto rows = sizes[index];
    pieces.push_back({MatrixBundle{{matrix::narrow(problem.inputs, 0, begin, rows)}},
                      MatrixBundle{{matrix::narrow(problem.targets, 0, begin, rows)}},
                      weights[index]});
    begin += rows;
  }
  return pieces;
}

/// The same in equal parts whose losses are averaged.
inline std::vector<Piece<>> cut(const Problem& problem, int micro_batches) {
  const auto count = static_cast<std::size_t>(micro_batches);
  const std::vector<std::int64_t> sizes(count, problem.inputs.rows() / micro_batches);
  return cut(problem, sizes, std::vector<double>(count, 1.0 / micro_batches));
}

inline std::vector<Matrix> gradients_of(const std::vector<Layer>& layers) {
  std::vector<Matrix> gradients;
  for (const Layer& layer : layers) gradients.push_back(layer.gradient());
  return gradients;
}

/// The largest difference between two elements that belong together.
inline double largest_difference(const std::vector<Matrix>& left,
                                 const std::vector<Matrix>& right) {
  double largest = 0;
  for (std::size_t at = 0; at < left.size(); ++at) {
    for (std::size_t index = 0; index < left[at].values().size(); ++index) {
      const double difference = left[at].values()[index] - right[at].values()[index];
      largest = std::max(largest, std::abs(difference));
    }
  }
  return largest;
}

/// Trains one batch through a pipeline and checks loss and gradients, bit by bit, against the model
/// on one thread.
template <class Schedule>
bool equals_unsplit(const Problem& problem, heddle::PipelineShape shape, Mode mode) {
  std::vector<Layer> expected = problem.layers();
  const double expected_loss =
      train_unsplit(expected, cut(problem, shape.micro_batches), matrix::squared_error);
  double loss = 0;
  const auto layers = run_pipeline<Schedule>(
      shape, mode, [&](int stage) { return problem.layer(stage); },
      heddle::mean_loss(matrix::squared_error),
      [&](int, auto& step) {
        const auto result =
            step.run({heddle::split(problem.inputs)}, {heddle::split(problem.targets)});
        if (result.has_loss) loss = result.loss;
      });
  return loss == expected_loss && gradients_of(layers) == gradients_of(expected);
}

}  // namespace heddle_test
