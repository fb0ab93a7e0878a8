#include <doctest/doctest.h>

#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <heddle/exec/executor.hpp>

#include "support/matrix_pipeline.hpp"

using namespace heddle;
using namespace heddle_test;

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

/// A layer that throws, or sleeps, at one step.
struct Fragile {
  Layer layer;
  Step breaks_at{};
  milliseconds sleeps{0};
  int stage = 0;
  int* abandoned = nullptr;

  void act(StepKind kind, MicroBatch micro_batch) const {
    if (breaks_at != Step{kind, micro_batch.index, stage}) return;
    if (sleeps.count() == 0) throw std::runtime_error("out of memory");
    std::this_thread::sleep_for(sleeps);
  }
  void reserve(int slots) { layer.reserve(slots); }
  MatrixBundle forward(MicroBatch micro_batch, MatrixBundle inputs) {
    act(StepKind::forward, micro_batch);
    return layer.forward(micro_batch, std::move(inputs));
  }
  template <class Loss>
  double forward_loss(MicroBatch micro_batch, MatrixBundle inputs, const MatrixBundle& targets,
                      Loss& loss, double scale) {
    act(StepKind::forward, micro_batch);
    return layer.forward_loss(micro_batch, std::move(inputs), targets, loss, scale);
  }
  MatrixBundle backward(MicroBatch micro_batch, MatrixBundle gradients) {
    act(StepKind::backward, micro_batch);
    return layer.backward(micro_batch, std::move(gradients));
  }
  void abandon() {
    if (abandoned != nullptr) ++*abandoned;
  }
};

/// What each rank's call of `run` threw.
struct Outcome {
  std::vector<std::exception_ptr> errors{};
  int abandoned = 0;
  steady_clock::duration took{};
};

template <class Schedule>
Outcome run_fragile(PipelineShape shape, Mode mode, Step breaks_at, milliseconds sleeps = {},
                    steady_clock::duration deadline = patience) {
  const Problem problem = make_problem(shape.stages(), 2 * shape.micro_batches);
  InProcessGroup<MatrixBundle> group{shape.ranks,
                                     {.transport = mode.transport, .deadline = deadline}};
  Outcome outcome;
  outcome.errors.resize(static_cast<std::size_t>(shape.ranks));
  std::vector<int> abandoned(static_cast<std::size_t>(shape.ranks));
  const auto begin = steady_clock::now();
  run_ranks(shape.ranks, [&](int rank) {
    const auto at = static_cast<std::size_t>(rank);
    auto communicator = group.communicator(rank);
    auto stages = local_stages<Schedule>(shape, rank, [&](int stage) {
      return Fragile{problem.layer(stage), breaks_at, sleeps, stage, &abandoned[at]};
    });
    Executor step{Schedule{},
                  shape,
                  std::move(stages),
                  communicator,
                  mean_loss(matrix::squared_error),
                  {.waiting = mode.waiting, .deadline = deadline}};
    try {
      step.run({split(problem.inputs)}, {split(problem.targets)});
    } catch (...) {
      outcome.errors[at] = std::current_exception();
      CHECK_THROWS_AS(step.run({split(problem.inputs)}, {split(problem.targets)}), Error);
    }
  });
  outcome.took = steady_clock::now() - begin;
  for (const int count : abandoned) outcome.abandoned += count;
  return outcome;
}

std::string message_of(const std::exception_ptr& error) {
  if (!error) return {};
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& exception) {
    return exception.what();
  }
}

template <class Kind>
bool is_a(const std::exception_ptr& error) {
  if (!error) return false;
  try {
    std::rethrow_exception(error);
  } catch (const Kind&) {
    return true;
  } catch (...) {
    return false;
  }
}

/// Whether every rank's error is a PipelineError that names this origin.
void check_all_name(const Outcome& outcome, int rank, Step step) {
  for (const auto& error : outcome.errors) {
    REQUIRE(error);
    try {
      std::rethrow_exception(error);
    } catch (const PipelineError& failure) {
      CHECK(failure.origin.rank == rank);
      CHECK(failure.origin.step == step);
      CHECK(failure.origin.message == "out of memory");
    } catch (const std::exception& other) {
      FAIL_CHECK(other.what());
    }
  }
}

}  // namespace

TEST_CASE("a stage that throws ends the run on all ranks, which name where it began") {
  for (const Mode mode : all_modes) {
    for (const auto& [breaks_at, rank] :
         {std::pair{forward(3, 2), 2}, std::pair{backward(1, 2), 2}, std::pair{forward(0, 0), 0},
          std::pair{backward(7, 0), 0}, std::pair{forward(7, 3), 3}}) {
      const auto outcome = run_fragile<OneFOneB>({.ranks = 4, .micro_batches = 8}, mode, breaks_at);
      check_all_name(outcome, rank, breaks_at);
      CHECK(outcome.abandoned == 4);
      CHECK(outcome.took < seconds{2});
    }
    const auto outcome = run_fragile<Interleaved1F1B>({4, 2, 8}, mode, backward(5, 6));
    check_all_name(outcome, 2, backward(5, 6));
  }
}

TEST_CASE(
    "the rank where a run failed keeps the original exception, and all ranks say it in words") {
  const auto outcome =
      run_fragile<OneFOneB>({.ranks = 3, .micro_batches = 4}, Mode{}, forward(2, 1));
  CHECK(message_of(outcome.errors[0]) ==
        "the run ended on rank 0; it began at rank 1, forward of micro-batch 2 on stage 1: out of "
        "memory");
  try {
    std::rethrow_exception(outcome.errors[1]);
  } catch (const PipelineError& error) {
    CHECK_THROWS_WITH_AS(std::rethrow_if_nested(error), "out of memory", std::runtime_error);
  }
  CHECK_THROWS_WITH_AS(
      run_ranks(3, [&](int rank) { std::rethrow_exception(outcome.errors[std::size_t(rank)]); }),
      "the run ended on rank 1; it began at rank 1, forward of micro-batch 2 on stage 1: out of "
      "memory",
      PipelineError);
}

TEST_CASE("the error of a pipeline inside a pipeline ends the run of the outer one on all ranks") {
  const PipelineShape shape{.ranks = 3, .micro_batches = 4};
  const Problem problem = make_problem(shape.stages(), 2 * shape.micro_batches);
  const auto fails = [](const Matrix&, int, int) -> Matrix {
    throw PipelineError{7, Failure{7, forward(0, 7), "the inner one failed"}};
  };
  for (const Mode mode : all_modes) {
    InProcessGroup<MatrixBundle> group{shape.ranks, {.transport = mode.transport}};
    const auto begin = steady_clock::now();
    run_ranks(shape.ranks, [&](int rank) {
      auto communicator = group.communicator(rank);
      auto stages = local_stages<OneFOneB>(shape, rank,
                                           [&](int stage) { return Layer{problem.layer(stage)}; });
      Executor step{OneFOneB{}, shape, std::move(stages), communicator,
                    mean_loss(matrix::squared_error)};
      CHECK_THROWS_AS(step.run({split_by(problem.inputs, fails)}, {split(problem.targets)}),
                      PipelineError);
    });
    CHECK(steady_clock::now() - begin < seconds{2});
  }
}

TEST_CASE("after a failure new objects work in the same process") {
  const PipelineShape shape{.ranks = 3, .micro_batches = 4};
  for (const Mode mode : all_modes) {
    run_fragile<OneFOneB>(shape, mode, backward(0, 1));
    CHECK(equals_unsplit<OneFOneB>(make_problem(3, 8), shape, mode));
  }
}

TEST_CASE("a rank that sleeps past the deadline is named by those that waited for it") {
  for (const Mode mode : all_modes) {
    const auto outcome =
        run_fragile<OneFOneB>({.ranks = 4, .micro_batches = 8}, mode, forward(3, 2),
                              milliseconds{1500}, milliseconds{200});
    CHECK(outcome.took < seconds{3});
    int timeouts = 0;
    for (const auto& error : outcome.errors) {
      REQUIRE(error);
      const bool is_timeout = is_a<TimeoutError>(error);
      timeouts += is_timeout ? 1 : 0;
      CHECK((is_timeout || is_a<PipelineError>(error)));
      CHECK(message_of(error).find("past its deadline") != std::string::npos);
    }
    CHECK(timeouts >= 1);
  }
}

TEST_CASE("a rank that never comes is named with the action that waited for it") {
  const PipelineShape shape{.ranks = 2, .micro_batches = 2};
  const Problem problem = make_problem(2, 4);
  const auto error_on = [&](int rank, Transport transport) {
    InProcessGroup<MatrixBundle> group{2, {.transport = transport, .deadline = milliseconds{100}}};
    auto communicator = group.communicator(rank);
    Executor step{OneFOneB{},
                  shape,
                  local_stages<OneFOneB>(shape, rank, [&](int at) { return problem.layer(at); }),
                  communicator,
                  mean_loss(matrix::squared_error),
                  {.deadline = milliseconds{100}}};
    try {
      step.run({split(problem.inputs)}, {split(problem.targets)});
    } catch (const TimeoutError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(
      error_on(1, Transport::buffered) ==
      "rank 1: a receive waited for the send of the activation of micro-batch 0 on stage 0 in run "
      "0 from rank 0 past its deadline");
  CHECK(
      error_on(0, Transport::buffered) ==
      "rank 0: a receive waited for the send of the gradient of micro-batch 0 on stage 1 in run 0 "
      "from rank 1 past its deadline");
  CHECK(
      error_on(0, Transport::rendezvous) ==
      "rank 0: send of the activation of micro-batch 0 on stage 0 in run 0 waited for its receive "
      "on rank 1 past its deadline");
}

namespace {

/// Gives another number of tensors from some micro-batch on.
struct Miscounting {
  Layer layer;
  int stage = 0;
  Step miscounts_at{};

  void reserve(int slots) { layer.reserve(slots); }
  MatrixBundle counted(StepKind kind, MicroBatch micro_batch, MatrixBundle bundle) const {
    if (miscounts_at == Step{kind, micro_batch.index, stage}) bundle.append(Matrix{});
    return bundle;
  }
  MatrixBundle forward(MicroBatch micro_batch, MatrixBundle inputs) {
    return counted(StepKind::forward, micro_batch, layer.forward(micro_batch, std::move(inputs)));
  }
  template <class Loss>
  double forward_loss(MicroBatch micro_batch, MatrixBundle inputs, const MatrixBundle& targets,
                      Loss& loss, double scale) {
    return layer.forward_loss(micro_batch, std::move(inputs), targets, loss, scale);
  }
  MatrixBundle backward(MicroBatch micro_batch, MatrixBundle gradients) {
    return counted(StepKind::backward, micro_batch,
                   layer.backward(micro_batch, std::move(gradients)));
  }
};

}  // namespace

TEST_CASE("a stage that returns another number of tensors is stopped before they are sent") {
  const PipelineShape shape{.ranks = 2, .micro_batches = 4};
  const Problem problem = make_problem(2, 8);
  const auto error_of = [&](Step miscounts_at) {
    try {
      run_pipeline<OneFOneB>(
          shape, Mode{},
          [&](int stage) {
            return Miscounting{problem.layer(stage), stage, miscounts_at};
          },
          mean_loss(matrix::squared_error),
          [&](int, auto& step) { step.run({split(problem.inputs)}, {split(problem.targets)}); });
    } catch (const PipelineError& error) {
      return error.origin.message;
    }
    return std::string{};
  };
  CHECK(error_of(Step{}).empty());
  CHECK(
      error_of(forward(2, 0)) ==
      "stage 0 returned 2 tensors from the forward of micro-batch 2; it must return 1, as for its "
      "first micro-batch");
  CHECK(error_of(backward(0, 1)) ==
        "stage 1 returned 2 tensors from the backward of micro-batch 0; it must return 1, one for "
        "each input");
}

TEST_CASE("stages and communicators that do not fit the order are refused before any message") {
  const PipelineShape shape{.ranks = 2, .stages_per_rank = 2, .micro_batches = 4};
  const Problem problem = make_problem(4, 8);
  const auto error_of = [&](std::vector<int> indices, int ranks) {
    InProcessGroup<MatrixBundle> group{ranks};
    auto communicator = group.communicator(1);
    LocalStages<Layer> stages;
    for (const int index : indices) stages.add(index, problem.layer(index));
    try {
      Executor{Interleaved1F1B{}, shape, std::move(stages), communicator,
               mean_loss(matrix::squared_error)};
    } catch (const Error& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(error_of({1, 3}, 2).empty());
  CHECK(error_of({3, 1}, 2) ==
        "rank 1 was given the stages 3, 1, but runs the stages 1, 3, ascending; local_stages makes "
        "such a list");
  CHECK(error_of({1}, 2).find("was given the stages 1, but runs the stages 1, 3") !=
        std::string::npos);
  CHECK(error_of({1, 2, 3}, 2).find("1, 2, 3") != std::string::npos);
  CHECK(error_of({1, 3}, 3) ==
        "the communicator has 3 ranks, but the order is for 2; shape.ranks must be the size of the "
        "communicator");
}

TEST_CASE("a shape that the schedule cannot have and an order that cannot proceed are refused") {
  InProcessGroup<MatrixBundle> group{2};
  auto communicator = group.communicator(0);
  const Problem problem = make_problem(2, 8);
  const auto stages = [&] {
    LocalStages<Layer> made;
    made.add(0, problem.layer(0));
    return made;
  };
  CHECK_THROWS_AS((Executor{GPipe{}, PipelineShape{2, 2, 4}, stages(), communicator,
                            mean_loss(matrix::squared_error)}),
                  ShapeError);
  CHECK_THROWS_AS((Executor{OneFOneB{}, PipelineShape{2, 1, 0}, stages(), communicator,
                            mean_loss(matrix::squared_error)}),
                  ShapeError);
  Order order = exec_order(OneFOneB{}, PipelineShape{2, 1, 4});
  CHECK_NOTHROW((Executor{order, stages(), communicator, mean_loss(matrix::squared_error)}));
  std::swap(order.steps[0], order.steps[1]);
  CHECK_THROWS_AS((Executor{order, stages(), communicator, mean_loss(matrix::squared_error)}),
                  ScheduleError);
}

TEST_CASE("targets that count for nothing end the run on all ranks, not on the last alone") {
  const PipelineShape shape{.ranks = 3, .micro_batches = 2};
  const Problem problem = make_problem(3, 4);
  std::vector<int> told(3);
  const auto begin = steady_clock::now();
  run_pipeline<OneFOneB>(
      shape, Mode{}, [&](int stage) { return problem.layer(stage); },
      weighted_loss(matrix::squared_error, [](const MatrixBundle&) { return 0.0; }),
      [&](int rank, auto& step) {
        try {
          step.run({split(problem.inputs)}, {split(problem.targets)});
        } catch (const PipelineError& error) {
          told[static_cast<std::size_t>(rank)] = error.origin.rank;
        }
      });
  CHECK(told == std::vector<int>{2, 2, 2});
  CHECK(steady_clock::now() - begin < seconds{5});
}

TEST_CASE("a first stage without inputs is worth a warning, to those who listen") {
  const PipelineShape shape{.ranks = 2, .micro_batches = 2};
  const Problem problem = make_problem(2, 4);
  std::vector<std::string> warnings;
  CHECK_THROWS_AS(
      run_pipeline<OneFOneB>(
          shape, Mode{},
          [&](int stage) {
            return Fragile{problem.layer(stage), forward(0, 0)};
          },
          mean_loss(matrix::squared_error),
          [&](int, auto& step) { step.run({}, {split(problem.targets)}); },
          {.diagnostics = [&](const Diagnostic& said) { warnings.push_back(said.message); }}),
      PipelineError);
  CHECK(warnings ==
        std::vector<std::string>{"rank 0 runs the first stage, but was given no inputs"});
}

TEST_CASE("a batch that one rank refuses ends the call on all ranks, long before their deadline") {
  const PipelineShape shape{.ranks = 3, .micro_batches = 2};
  const Problem problem = make_problem(3, 4);
  const Matrix odd = matrix::random_matrix(3, 2, 7);
  const auto train = [&](auto& step, const Matrix& inputs) {
    step.run({split(inputs)}, {split(problem.targets)});
  };
  const auto evaluate = [&](auto& step, const Matrix& inputs) {
    step.evaluate({split(inputs)}, 2);
  };
  const auto check = [&](Mode mode, auto call) {
    std::vector<std::string> errors(3);
    const auto begin = steady_clock::now();
    run_pipeline<OneFOneB>(
        shape, mode, [&](int stage) { return problem.layer(stage); },
        mean_loss(matrix::squared_error),
        [&](int rank, auto& step) {
          try {
            call(step, rank == 0 ? odd : problem.inputs);
          } catch (const Error& error) {
            errors[static_cast<std::size_t>(rank)] = error.what();
          }
        });
    CHECK(steady_clock::now() - begin < seconds{5});
    const std::string fault =
        "input 0: 3 rows along dimension 0 do not divide by 2 micro-batches; give the sizes, e.g. "
        "split(x, 0, {2, 1})";
    CHECK(errors[0] == fault);
    CHECK(errors[2] == "the run ended on rank 2; it began at rank 0: " + fault);
  };
  for (const Mode mode : all_modes) {
    check(mode, train);
    check(mode, evaluate);
  }
}
