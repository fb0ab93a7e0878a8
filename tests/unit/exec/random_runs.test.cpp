#include <doctest/doctest.h>

#include <random>

#include <heddle/exec/executor.hpp>

#include "support/matrix_pipeline.hpp"

using namespace heddle;
using namespace heddle_test;

namespace {

/// Runs a few steps of one pipeline, training and evaluating, and says whether all is as on one
/// thread.
template <class Schedule>
bool runs_right(PipelineShape shape, Mode mode, int runs, int evaluated) {
  const Problem problem = make_problem(shape.stages(), 2 * shape.micro_batches);
  auto expected = problem.layers();
  for (int run = 0; run < runs; ++run) {
    train_unsplit(expected, cut(problem, shape.micro_batches), matrix::squared_error);
  }
  const Matrix inputs = matrix::random_matrix(2 * evaluated, 2, 5);
  const auto layers = run_pipeline<Schedule>(
      shape, mode, [&](int stage) { return problem.layer(stage); },
      mean_loss(matrix::squared_error),
      [&](int, auto& step) {
        for (int run = 0; run < runs; ++run) {
          step.run({split(problem.inputs)}, {split(problem.targets)});
          step.evaluate({split(inputs)}, evaluated);
        }
      });
  for (int stage = shape.first_trained_stage; stage < shape.stages(); ++stage) {
    const auto at = static_cast<std::size_t>(stage);
    if (layers[at].gradient() != expected[at].gradient()) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a thousand steps of random shapes, schedules and modes equal the unsplit model") {
  std::mt19937 generator{20261201};
  const auto upto = [&](int end) {
    return static_cast<int>(generator() % static_cast<unsigned>(end));
  };
  constexpr int runs = 5;
  for (int steps = 0; steps < 1000; steps += runs) {
    const Mode mode = all_modes[static_cast<std::size_t>(upto(4))];
    const int schedule = upto(3);
    PipelineShape shape{1 + upto(4), schedule == 2 ? 1 + upto(3) : 1, 1 + upto(9)};
    shape.first_trained_stage = upto(3) == 0 ? upto(shape.stages() + 1) : 0;
    const int evaluated = 1 + upto(6);
    CAPTURE(shape.ranks);
    CAPTURE(shape.stages_per_rank);
    CAPTURE(shape.micro_batches);
    CAPTURE(shape.first_trained_stage);
    CAPTURE(schedule);
    if (schedule == 0) CHECK(runs_right<GPipe>(shape, mode, runs, evaluated));
    if (schedule == 1) CHECK(runs_right<OneFOneB>(shape, mode, runs, evaluated));
    if (schedule == 2) CHECK(runs_right<Interleaved1F1B>(shape, mode, runs, evaluated));
  }
}
