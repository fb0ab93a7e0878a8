#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>

#include <heddle/schedule/gpipe.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/one_f_one_b.hpp>

#include "across_processes.hpp"
#include "gloo.hpp"
#include "pipeline.hpp"

using namespace heddle_test;
using heddle::PipelineShape;
using heddle::ProcessEnvironment;
using heddle_example::gloo_communicator;

namespace {

/// Trains several runs on this rank and compares with the unsplit model, which this rank runs too.
template <class Schedule>
void train_like_unsplit(const ProcessEnvironment& environment, PipelineShape shape) {
  constexpr int width = 6;
  auto communicator = gloo_communicator(environment);
  const auto blocks = make_blocks(shape.stages(), width);
  const auto reference = make_blocks(shape.stages(), width);
  auto stages = heddle::local_stages<Schedule>(shape, communicator.rank(), [&](int stage) {
    return stage_of(blocks[static_cast<std::size_t>(stage)]);
  });
  heddle::Executor step{Schedule{}, shape, std::move(stages), communicator,
                        heddle::mean_loss(squared_error)};
  for (int run = 0; run < 3; ++run) {
    at::manual_seed(static_cast<std::uint64_t>(run));
    const at::Tensor inputs = at::randn({2 * shape.micro_batches, width});
    const at::Tensor targets = at::randn({2 * shape.micro_batches, width});
    const auto result = step.run({heddle::split(inputs)}, {heddle::split(targets)});
    const double loss = train_unsplit(reference, inputs, targets, shape.micro_batches);
    CHECK(result.has_loss == (communicator.rank() == shape.ranks - 1));
    if (result.has_loss) CHECK(result.loss == loss);
    for (const int stage : step.program().stages) {
      const auto index = static_cast<std::size_t>(stage);
      REQUIRE(blocks[index].weight.grad().defined());
      CHECK(same_gradient(blocks[index].weight, reference[index].weight));
      CHECK(same_gradient(blocks[index].bias, reference[index].bias));
    }
  }
}

constexpr PipelineShape four{.ranks = 4, .micro_batches = 6};

/// Runs one step of 1F1B in which the stage of rank 2 calls `harm` in the forward of micro-batch 3,
/// and hands what it throws to `check`.
template <class Harm, class Check>
void run_with_harm(const ProcessEnvironment& environment, std::chrono::seconds deadline,
                   const Harm& harm, const Check& check) {
  constexpr int width = 4;
  auto communicator = gloo_communicator(environment);
  int forwards = 0;
  auto stages = heddle::local_stages<heddle::OneFOneB>(four, communicator.rank(), [&](int stage) {
    return heddle::TorchStage{
        TensorFunction{[&, stage, block = make_block(stage, width)](const at::Tensor& x) {
          if (stage == 2 && forwards++ == 3) harm();
          return block(x);
        }}};
  });
  heddle::Executor step{heddle::OneFOneB{},
                        four,
                        std::move(stages),
                        communicator,
                        heddle::mean_loss(squared_error),
                        {.deadline = deadline}};
  const at::Tensor inputs = at::randn({12, width});
  const auto begin = std::chrono::steady_clock::now();
  try {
    step.run({heddle::split(inputs)}, {heddle::split(inputs)});
    FAIL("no exception");
  } catch (const heddle::Error& error) {
    CHECK(std::chrono::steady_clock::now() - begin < deadline + std::chrono::seconds{2});
    CAPTURE(error.what());
    check(communicator.rank(), error);
  }
}

}  // namespace

TEST_CASE("GPipe over four processes has the loss and the gradients of the unsplit model") {
  across_processes(
      4, [](const auto& environment) { train_like_unsplit<heddle::GPipe>(environment, four); });
}

TEST_CASE("1F1B over four processes has the loss and the gradients of the unsplit model") {
  across_processes(
      4, [](const auto& environment) { train_like_unsplit<heddle::OneFOneB>(environment, four); });
}

TEST_CASE("Interleaved 1F1B over four processes has those of the unsplit model with V = 1") {
  across_processes(4, [](const auto& environment) {
    train_like_unsplit<heddle::Interleaved1F1B>(environment, four);
  });
}

TEST_CASE("Interleaved 1F1B over four processes has those of the unsplit model with V = 2") {
  across_processes(4, [](const auto& environment) {
    train_like_unsplit<heddle::Interleaved1F1B>(
        environment, {.ranks = 4, .stages_per_rank = 2, .micro_batches = 8});
  });
}

TEST_CASE("a stage that throws in one process ends all processes with its words") {
  across_processes(4, [](const auto& environment) {
    run_with_harm(
        environment, std::chrono::seconds{10}, [] { throw std::runtime_error("bad weather"); },
        [](int rank, const heddle::Error& error) {
          const auto* seen = dynamic_cast<const heddle::PipelineError*>(&error);
          REQUIRE(seen != nullptr);
          CHECK(seen->rank == rank);
          CHECK(seen->origin.rank == 2);
          CHECK(seen->origin.step == heddle::forward(3, 2));
          CHECK(seen->origin.message == "bad weather");
        });
  });
}

TEST_CASE("a process that is killed ends the others with the action that one of them awaited") {
  across_processes(4,
                   [](const auto& environment) {
                     run_with_harm(
                         environment, std::chrono::seconds{10}, [] { raise(SIGKILL); },
                         [](int, const heddle::Error& error) {
                           const std::string text = error.what();
                           CHECK(text.find("lost its connection") != std::string::npos);
                           CHECK(text.find("rank 2") != std::string::npos);
                           CHECK(text.find("micro-batch") != std::string::npos);
                         });
                   },
                   {.statuses = {0, 0, 128 + SIGKILL, 0}});
}

TEST_CASE("a process that sleeps past the deadline is found out by those that wait for it") {
  across_processes(4, [](const auto& environment) {
    run_with_harm(
        environment, std::chrono::seconds{2},
        [] { std::this_thread::sleep_for(std::chrono::milliseconds{3500}); },
        [](int, const heddle::Error& error) {
          const std::string text = error.what();
          CHECK(text.find("deadline") != std::string::npos);
          CHECK(text.find("micro-batch") != std::string::npos);
        });
  });
}
