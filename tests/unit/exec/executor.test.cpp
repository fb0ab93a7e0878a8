#include <doctest/doctest.h>

#include <heddle/exec/executor.hpp>

#include "support/matrix_pipeline.hpp"

using namespace heddle;
using namespace heddle_test;

TEST_CASE("loss and gradients equal the unsplit model bit by bit, for every schedule and shape") {
  for (const Mode mode : all_modes) {
    for (int micro_batches = 1; micro_batches <= 9; ++micro_batches) {
      for (int ranks = 1; ranks <= 4; ++ranks) {
        CAPTURE(micro_batches);
        CAPTURE(ranks);
        const PipelineShape flat{.ranks = ranks, .micro_batches = micro_batches};
        const Problem problem = make_problem(flat.stages(), 2 * micro_batches);
        CHECK(equals_unsplit<GPipe>(problem, flat, mode));
        CHECK(equals_unsplit<OneFOneB>(problem, flat, mode));
        for (int stages = 1; stages <= 3; ++stages) {
          CAPTURE(stages);
          const PipelineShape shape{ranks, stages, micro_batches};
          CHECK(equals_unsplit<Interleaved1F1B>(make_problem(shape.stages(), 2 * micro_batches),
                                                shape, mode));
        }
      }
    }
  }
}

TEST_CASE("gradients accumulate from run to run, and a rank's peaks are those of its program") {
  const PipelineShape shape{.ranks = 3, .stages_per_rank = 2, .micro_batches = 7};
  const Problem problem = make_problem(shape.stages(), 14);
  auto expected = problem.layers();
  for (int run = 0; run < 3; ++run) {
    train_unsplit(expected, cut(problem, shape.micro_batches), matrix::squared_error);
  }
  for (const Mode mode : all_modes) {
    const auto layers = run_pipeline<Interleaved1F1B>(
        shape, mode, [&](int stage) { return problem.layer(stage); },
        mean_loss(matrix::squared_error),
        [&](int, auto& step) {
          for (int run = 0; run < 3; ++run) {
            step.run({split(problem.inputs)}, {split(problem.targets)});
            CHECK(step.peaks() == LivePeaks{step.program().slots, step.program().buffers});
          }
        });
    CHECK(gradients_of(layers) == gradients_of(expected));
  }
}

TEST_CASE("a sum of losses and a loss scale reach the gradients, the scale alone not the loss") {
  const PipelineShape shape{.ranks = 2, .micro_batches = 4};
  const Problem problem = make_problem(shape.stages(), 8);
  auto pieces = cut(problem, shape.micro_batches);
  for (auto& piece : pieces) piece.weight = 1;
  auto expected = problem.layers();
  const double expected_loss = train_unsplit(expected, pieces, matrix::squared_error, 8);
  for (const Mode mode : all_modes) {
    double loss = 0;
    const auto layers = run_pipeline<OneFOneB>(
        shape, mode, [&](int stage) { return problem.layer(stage); },
        sum_loss(matrix::squared_error),
        [&](int rank, auto& step) {
          const auto result =
              step.run({split(problem.inputs)}, {split(problem.targets)}, {.gradient_scale = 8});
          CHECK(result.has_loss == (rank == 1));
          if (result.has_loss) loss = result.loss;
        });
    CHECK(loss == expected_loss);
    CHECK(gradients_of(layers) == gradients_of(expected));
  }
}
