#include <doctest/doctest.h>

#include <vector>

#include <heddle/exec/executor.hpp>
#include <heddle/exec/in_process.hpp>
#include <heddle/exec/run_ranks.hpp>

#include "support/matrix_pipeline.hpp"

using namespace heddle;
using namespace heddle_test;

namespace {

template <class Schedule>
void check_equal_to_unsplit(PipelineShape shape, Mode mode) {
  CAPTURE(shape.ranks);
  CAPTURE(shape.stages_per_rank);
  CAPTURE(shape.micro_batches);
  const Problem problem = make_problem(shape.stages(), 2 * shape.micro_batches);
  const Trained expected = train_unsplit(problem, shape.micro_batches);
  const Trained got = train_pipelined<Schedule>(problem, shape, mode);
  CHECK(got.loss == expected.loss);
  CHECK(got.gradients == expected.gradients);
}

}  // namespace

TEST_CASE("loss and gradients equal the unsplit model bit by bit, for every schedule and shape") {
  for (const Mode mode : all_modes) {
    for (int micro_batches = 1; micro_batches <= 9; ++micro_batches) {
      for (int ranks = 1; ranks <= 4; ++ranks) {
        const PipelineShape flat{.ranks = ranks, .micro_batches = micro_batches};
        check_equal_to_unsplit<GPipe>(flat, mode);
        check_equal_to_unsplit<OneFOneB>(flat, mode);
        for (int stages = 1; stages <= 3; ++stages) {
          check_equal_to_unsplit<Interleaved1F1B>(
              {.ranks = ranks, .stages_per_rank = stages, .micro_batches = micro_batches}, mode);
        }
      }
    }
  }
}
