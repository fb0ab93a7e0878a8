// Field problems with evaluation: case C13 of the casebook.
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include <heddle/exec/executor.hpp>

#include "support/matrix_pipeline.hpp"

using namespace heddle;
using namespace heddle_test;

namespace {

/// What the whole model gives for each micro-batch, on one thread.
std::vector<MatrixBundle> evaluate_unsplit(const Problem& problem, const Matrix& inputs,
                                           int micro_batches) {
  std::vector<MatrixBundle> outputs;
  const auto rows = inputs.rows() / micro_batches;
  for (int index = 0; index < micro_batches; ++index) {
    MatrixBundle bundle{{matrix::narrow(inputs, 0, index * rows, rows)}};
    for (Layer& layer : problem.layers()) bundle = layer.forward({index, -1}, std::move(bundle));
    outputs.push_back(std::move(bundle));
  }
  return outputs;
}

}  // namespace

TEST_CASE("C13: evaluation before and between training changes nothing") {
  const PipelineShape shape{.ranks = 4, .stages_per_rank = 2, .micro_batches = 8};
  const Problem problem = make_problem(8, 8 * 16);
  const Matrix first = matrix::random_matrix(3 * 12, 2, 11);
  const Matrix second = matrix::random_matrix(12, 2, 12);
  auto expected = problem.layers();
  for (int run = 0; run < 2; ++run) {
    train_unsplit(expected, cut(problem, 8), matrix::squared_error);
  }
  for (const Mode mode : all_modes) {
    const auto layers = run_pipeline<Interleaved1F1B>(
        shape, mode, [&](int stage) { return problem.layer(stage); },
        mean_loss(matrix::squared_error),
        [&](int rank, auto& step) {
          const auto check = [&](const Matrix& inputs, int micro_batches) {
            const auto outputs = step.evaluate({split(inputs)}, micro_batches);
            if (rank == 3) {
              CHECK(outputs == evaluate_unsplit(problem, inputs, micro_batches));
            } else {
              CHECK(outputs.empty());
            }
          };
          check(first, 3);
          step.run({split(problem.inputs)}, {split(problem.targets)});
          check(second, 1);
          step.run({split(problem.inputs)}, {split(problem.targets)});
        });
    CHECK(gradients_of(layers) == gradients_of(expected));
  }
}

TEST_CASE("evaluation runs every shape, however many micro-batches") {
  for (const Mode mode : all_modes) {
    for (int ranks = 1; ranks <= 4; ++ranks) {
      for (int stages = 1; stages <= 3; ++stages) {
        const PipelineShape shape{ranks, stages, 2};
        const Problem problem = make_problem(shape.stages(), 4);
        run_pipeline<Interleaved1F1B>(
            shape, mode, [&](int stage) { return problem.layer(stage); },
            mean_loss(matrix::squared_error),
            [&](int rank, auto& step) {
              for (const int micro_batches : {1, 2, 5, 8}) {
                const Matrix inputs = matrix::random_matrix(2 * micro_batches, 2, 5);
                const auto outputs = step.evaluate({split(inputs)}, micro_batches);
                if (rank == ranks - 1) {
                  CHECK(outputs == evaluate_unsplit(problem, inputs, micro_batches));
                }
              }
            });
      }
    }
  }
}

namespace {

/// What the ranks say when rank 1 does something else while the others evaluate.
template <class Instead, class After>
std::vector<std::string> errors_without_evaluation(Transport transport, Instead instead,
                                                   After after) {
  const PipelineShape shape{.ranks = 3, .micro_batches = 2};
  const Problem problem = make_problem(3, 4);
  const auto deadline = std::chrono::milliseconds{300};
  InProcessGroup<MatrixBundle> group{3, {.transport = transport, .deadline = deadline}};
  std::vector<std::string> errors(3);
  run_ranks(3, [&](int rank) {
    auto communicator = group.communicator(rank);
    Executor step{OneFOneB{},
                  shape,
                  local_stages<OneFOneB>(shape, rank, [&](int at) { return problem.layer(at); }),
                  communicator,
                  mean_loss(matrix::squared_error),
                  {.deadline = deadline}};
    try {
      if (rank == 1) {
        instead(problem, step);
      } else {
        step.evaluate({split(problem.inputs)}, 2);
        after(problem, step);
      }
    } catch (const Error& error) {
      errors[static_cast<std::size_t>(rank)] = error.what();
    }
  });
  return errors;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("C13: an evaluation that one rank misses is reported by name") {
  for (const Transport transport : {Transport::buffered, Transport::rendezvous}) {
    const auto begin = std::chrono::steady_clock::now();
    const auto nothing = [](const auto&, auto&) {};
    const auto silent = errors_without_evaluation(transport, nothing, nothing);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{2});
    CHECK(contains(silent[2], "evaluation 0"));

    const auto train = [](const auto& problem, auto& step) {
      step.run({split(problem.inputs)}, {split(problem.targets)});
    };
    const auto trains = errors_without_evaluation(transport, train, train);
    CHECK(contains(trains[1],
                   "expected the send of the activation of micro-batch 0 on stage 0 in run 0"));
    CHECK(contains(trains[1], "in evaluation 0"));
    CHECK(contains(trains[2], "it began at rank 1"));
  }
}
