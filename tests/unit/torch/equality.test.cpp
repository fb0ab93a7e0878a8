// Loss and gradients of a pipeline, bit by bit those of the model without stages.
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include <heddle/torch/checked_stage.hpp>
#include <heddle/torch/stage.hpp>
#include <heddle/torch/threads.hpp>

#include "support/matrix_pipeline.hpp"
#include "support/torch_model.hpp"

#include <doctest/doctest.h>  // behind LibTorch, which has a CHECK of its own

using namespace heddle;
using namespace heddle_test;

namespace {

/// What a pipeline gives for two runs that accumulate; each Mode of the pipeline.
template <class Schedule>
void check_equals_whole(PipelineShape shape) {
  CAPTURE(shape.ranks);
  CAPTURE(shape.stages_per_rank);
  CAPTURE(shape.micro_batches);
  const auto whole = make_blocks(shape.stages());
  const auto inputs = wave({2 * shape.micro_batches, 3}, 0.5);
  const auto targets = wave({2 * shape.micro_batches, 3 + shape.stages() % 3}, 0.25);
  const double loss = train_whole(chain_of(whole), inputs, targets, shape.micro_batches);
  train_whole(chain_of(whole), inputs, targets, shape.micro_batches);
  for (const auto transport : {Transport::buffered, Transport::rendezvous}) {
    const auto blocks = make_blocks(shape.stages());
    std::vector<double> losses;
    run_pipeline<Schedule, TorchBundle>(
        shape, {.transport = transport},
        [&](int stage) { return TorchStage{blocks[static_cast<std::size_t>(stage)]}; },
        mean_loss(squared_error),
        [&](int, auto& step) {
          for (int run = 0; run < 2; ++run) {
            const auto result = step.run({split(inputs)}, {split(targets)});
            if (result.has_loss) losses.push_back(result.loss);
          }
        });
    CHECK(losses == std::vector<double>{loss, loss});
    CHECK(have_equal_gradients(blocks, whole));
  }
}

}  // namespace

TEST_CASE("Interleaved 1F1B gives the loss and the gradients of the model without stages") {
  for (int ranks = 1; ranks <= 4; ++ranks) {
    for (int stages_per_rank = 1; stages_per_rank <= 3; ++stages_per_rank) {
      for (int micro_batches = 1; micro_batches <= 9; ++micro_batches) {
        check_equals_whole<Interleaved1F1B>({ranks, stages_per_rank, micro_batches});
      }
    }
  }
}

TEST_CASE("1F1B and GPipe give the loss and the gradients of the model without stages") {
  for (int ranks = 1; ranks <= 4; ++ranks) {
    for (int micro_batches = 1; micro_batches <= 9; ++micro_batches) {
      check_equals_whole<OneFOneB>({ranks, 1, micro_batches});
      check_equals_whole<GPipe>({ranks, 1, micro_batches});
    }
  }
}

TEST_CASE("A gradient that is not finite on one rank flags the run on all ranks") {
  const PipelineShape shape{.ranks = 2, .stages_per_rank = 2, .micro_batches = 4};
  const auto blocks = make_blocks(shape.stages());
  const auto inputs = wave({8, 3}, 0.5);
  const auto targets = wave({8, 4}, 0.25);
  std::array<std::vector<bool>, 2> flags;
  run_pipeline<Interleaved1F1B, TorchBundle>(
      shape, {},
      [&](int stage) { return CheckedTorchStage{blocks[static_cast<std::size_t>(stage)]}; },
      mean_loss(squared_error),
      [&](int rank, auto& step) {
        auto& seen = flags[static_cast<std::size_t>(rank)];
        seen.push_back(step.run({split(inputs)}, {split(targets)}).flagged);
        const double overflow = std::numeric_limits<double>::infinity();
        seen.push_back(
            step.run({split(inputs)}, {split(targets)}, {.gradient_scale = overflow}).flagged);
      });
  CHECK(flags[0] == std::vector<bool>{false, true});
  CHECK(flags[1] == std::vector<bool>{false, true});
}

TEST_CASE("A stage that returns another number of tensors ends the run by name") {
  const PipelineShape shape{.ranks = 2, .micro_batches = 2};
  const auto run = [&] {
    run_pipeline<OneFOneB, TorchBundle>(
        shape, {},
        [&](int stage) {
          return TorchStage{[stage, calls = 0](TorchBundle inputs) mutable {
            if (stage == 0 && calls++ == 1) inputs.append(inputs[0]);
            return inputs;
          }};
        },
        mean_loss(squared_error),
        [&](int, auto& step) {
          step.run({split(wave({4, 3}, 1))}, {split(wave({4, 3}, 2))});
        });
  };
  CHECK_THROWS_WITH_AS(
      run(),
      doctest::Contains(
          "stage 0 returned 2 tensors from the forward of micro-batch 1; it must return 1"),
      PipelineError);
}

TEST_CASE("The threads of LibTorch are divided among the ranks of a process") {
  CHECK(limit_torch_threads(2, 8) == 4);
  CHECK(at::get_num_threads() == 4);
  CHECK(limit_torch_threads(8, 2) == 1);
  CHECK(limit_torch_threads(1000) == 1);
}
