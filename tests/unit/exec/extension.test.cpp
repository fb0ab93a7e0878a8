#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <heddle/exec/executor.hpp>

#include "support/matrix_pipeline.hpp"

using namespace heddle;
using namespace heddle_test;

namespace {

/// A layer that writes down the data that come by and when its gradients are complete.
struct Watching {
  Layer layer;
  std::vector<MatrixBundle> data{};
  int backwards = 0;
  std::vector<int> finished_after{};

  void reserve(int slots) { layer.reserve(slots); }
  void load(MicroBatch, const MatrixBundle& loaded) { data.push_back(loaded); }
  MatrixBundle forward(MicroBatch micro_batch, MatrixBundle inputs) {
    return layer.forward(micro_batch, std::move(inputs));
  }
  template <class Loss>
  double forward_loss(MicroBatch micro_batch, MatrixBundle inputs, const MatrixBundle& targets,
                      Loss& loss, double scale) {
    return layer.forward_loss(micro_batch, std::move(inputs), targets, loss, scale);
  }
  MatrixBundle backward(MicroBatch micro_batch, MatrixBundle gradients) {
    ++backwards;
    return layer.backward(micro_batch, std::move(gradients));
  }
  void finish() { finished_after.push_back(backwards); }
};

template <class Schedule>
void check_loaded(PipelineShape shape, Mode mode) {
  const Problem problem = make_problem(shape.stages(), 2 * shape.micro_batches);
  const auto pieces = cut(problem, shape.micro_batches);
  auto expected = problem.layers();
  const double expected_loss = train_unsplit(expected, pieces, matrix::squared_error);
  double loss = 0;
  std::vector<int> loads(static_cast<std::size_t>(shape.ranks));
  const auto stages = run_pipeline<Schedule>(
      shape, mode, [&](int stage) { return Watching{problem.layer(stage)}; },
      mean_loss(matrix::squared_error),
      [&](int rank, auto& step) {
        const auto result = step.run_loaded([&](int micro_batch) {
          ++loads[static_cast<std::size_t>(rank)];
          const auto& piece = pieces[static_cast<std::size_t>(micro_batch)];
          MatrixBundle data = piece.targets;
          data.append(Matrix{1, 1, static_cast<double>(micro_batch)});
          return LoadedMicroBatch<MatrixBundle>{piece.inputs, std::move(data)};
        });
        if (result.has_loss) loss = result.loss;
      },
      {.data_steps = DataSteps::chain});
  CHECK(loss == expected_loss);
  for (int rank = 0; rank < shape.ranks; ++rank) {
    CHECK(loads[static_cast<std::size_t>(rank)] == (rank == 0 ? shape.micro_batches : 0));
  }
  for (std::size_t at = 0; at < stages.size(); ++at) {
    CHECK(stages[at].layer.gradient() == expected[at].gradient());
    REQUIRE(stages[at].data.size() == pieces.size());
    for (std::size_t index = 0; index < pieces.size(); ++index) {
      CHECK(stages[at].data[index][0] == pieces[index].targets[0]);
      CHECK(stages[at].data[index][1].at(0, 0) == static_cast<double>(index));
    }
  }
}

}  // namespace

TEST_CASE("with data steps the first rank alone loads, and every stage sees the data") {
  for (const Mode mode : all_modes) {
    for (const int micro_batches : {1, 3, 8}) {
      check_loaded<GPipe>({3, 1, micro_batches}, mode);
      check_loaded<OneFOneB>({3, 1, micro_batches}, mode);
      check_loaded<Interleaved1F1B>({2, 2, micro_batches}, mode);
      check_loaded<Interleaved1F1B>({1, 3, micro_batches}, mode);
      check_loaded<Interleaved1F1B>({4, 2, micro_batches}, mode);
    }
  }
}

TEST_CASE("a loader that throws ends the run, and a run without its loader is refused") {
  const Problem problem = make_problem(2, 4);
  const auto run = [&](DataSteps data_steps, auto call) {
    run_pipeline<OneFOneB>(
        {.ranks = 2, .micro_batches = 2}, Mode{}, [&](int stage) { return problem.layer(stage); },
        mean_loss(matrix::squared_error), [&](int, auto& step) { call(step); },
        {.data_steps = data_steps});
  };
  const auto broken_loader = [](int) -> LoadedMicroBatch<MatrixBundle> {
    throw std::runtime_error("the disk is gone");
  };
  const auto load = [&](auto& step) { step.run_loaded(broken_loader); };
  const auto train = [&](auto& step) {
    step.run({split(problem.inputs)}, {split(problem.targets)});
  };
  CHECK_THROWS_WITH_AS(run(DataSteps::chain, load),
                       "the run ended on rank 0; it began at rank 0, load of the data of "
                       "micro-batch 0 on stage 0: the disk is gone",
                       PipelineError);
  CHECK_THROWS_WITH_AS(run(DataSteps::chain, train),
                       "the order has data steps, which need a loader; call run_loaded", Error);
  CHECK_THROWS_WITH_AS(run(DataSteps::none, load),
                       "the order has no data steps, so a loader is of no use; set "
                       "ExecutorOptions::data_steps to DataSteps::chain or call run",
                       Error);
}

TEST_CASE("a stage is told once a run that its gradients are complete") {
  const PipelineShape shape{2, 2, 5};
  const Problem problem = make_problem(4, 10);
  const auto stages = run_pipeline<Interleaved1F1B>(
      shape, Mode{}, [&](int stage) { return Watching{problem.layer(stage)}; },
      mean_loss(matrix::squared_error),
      [&](int, auto& step) {
        for (int run = 0; run < 2; ++run) {
          step.run({split(problem.inputs)}, {split(problem.targets)});
        }
      });
  for (const Watching& stage : stages) CHECK(stage.finished_after == std::vector<int>{5, 10});
}

namespace {

/// Backwards in halves, the weight halves of a rank together at its end, and steps of the user's
/// own between.
struct LateWeights {
  static std::vector<Step> columns(PipelineShape shape, int rank) {
    std::vector<Step> columns;
    for (int index = 0; index < shape.micro_batches; ++index)
      columns.push_back(forward(index, rank));
    columns.push_back({user_kind(3), no_micro_batch, no_stage});
    for (int index = 0; index < shape.micro_batches; ++index) {
      columns.push_back(backward_input(index, rank));
    }
    for (int index = 0; index < shape.micro_batches; ++index) {
      columns.push_back(backward_weight(index, rank));
      columns.push_back({user_kind(5), index, rank});
    }
    return columns;
  }
};

}  // namespace

TEST_CASE("a user's schedule may split backwards and have steps of its own kinds") {
  const PipelineShape shape{.ranks = 3, .micro_batches = 4};
  const Problem problem = make_problem(3, 8);
  auto expected = problem.layers();
  train_unsplit(expected, cut(problem, 4), matrix::squared_error);
  for (const Mode mode : all_modes) {
    std::vector<std::vector<Step>> seen(3);
    const auto layers = run_pipeline<LateWeights>(
        shape, mode, [&](int stage) { return problem.layer(stage); },
        mean_loss(matrix::squared_error),
        [&](int rank, auto& step) {
          auto& mine = seen[static_cast<std::size_t>(rank)];
          CHECK_THROWS_WITH_AS(step.run({split(problem.inputs)}, {split(problem.targets)}),
                               "the order has a step of user kind 3, which has no handler; give it "
                               "one by on(user_kind(3), handler)",
                               Error);
          step.on(user_kind(3), [&](Step own) { mine.push_back(own); });
          step.on(user_kind(5), [&](Step own) { mine.push_back(own); });
          CHECK_THROWS_WITH_AS(step.on(user_kind(5), [](Step) {}),
                               "the step of user kind 5 has a handler already; take another number",
                               Error);
          CHECK_THROWS_WITH_AS(
              step.on(StepKind::forward, [](Step) {}),
              "a forward is a built-in kind of step; a kind of your own is user_kind(number)",
              Error);
          step.run({split(problem.inputs)}, {split(problem.targets)});
        });
    CHECK(gradients_of(layers) == gradients_of(expected));
    for (int rank = 0; rank < 3; ++rank) {
      const auto& steps = seen[static_cast<std::size_t>(rank)];
      REQUIRE(steps.size() == 5);
      CHECK(steps[0] == Step{user_kind(3), no_micro_batch, no_stage});
      CHECK(steps[4] == Step{user_kind(5), 3, rank});
    }
  }
}

TEST_CASE("a handler that throws ends the run with the step it was at") {
  const PipelineShape shape{.ranks = 3, .micro_batches = 2};
  const Problem problem = make_problem(3, 4);
  CHECK_THROWS_WITH_AS(run_pipeline<LateWeights>(
                           shape, Mode{}, [&](int stage) { return problem.layer(stage); },
                           mean_loss(matrix::squared_error),
                           [&](int rank, auto& step) {
                             step.on(user_kind(3), [](Step) {});
                             step.on(user_kind(5), [&](Step own) {
                               if (rank == 1 && own.micro_batch == 1)
                                 throw std::runtime_error("no more ink");
                             });
                             step.run({split(problem.inputs)}, {split(problem.targets)});
                           }),
                       "the run ended on rank 1; it began at rank 1, step of user kind 5 of "
                       "micro-batch 1 on stage 1: "
                       "no more ink",
                       PipelineError);
}

TEST_CASE("an order proved at compile time runs like one verified at run time, and is observed") {
  constexpr PipelineShape shape{.ranks = 2, .stages_per_rank = 2, .micro_batches = 4};
  const Problem problem = make_problem(4, 8);
  auto expected = problem.layers();
  train_unsplit(expected, cut(problem, 4), matrix::squared_error);
  InProcessGroup<MatrixBundle> group{2};
  run_ranks(2, [&](int rank) {
    auto communicator = group.communicator(rank);
    auto stages =
        local_stages<Interleaved1F1B>(shape, rank, [&](int stage) { return problem.layer(stage); });
    Executor step{proved<Interleaved1F1B, shape>,   std::move(stages), communicator,
                  mean_loss(matrix::squared_error), ExecutorOptions{}, TimelineObserver{}};
    step.run({split(problem.inputs)}, {split(problem.targets)});
    for (std::size_t local = 0; local < 2; ++local) {
      const auto stage = static_cast<std::size_t>(step.program().stages[local]);
      CHECK(step.stages()[local].gradient() == expected[stage].gradient());
    }
    const auto& spans = step.observer().spans();
    REQUIRE(spans.size() == step.program().instructions.size());
    for (std::size_t at = 0; at < spans.size(); ++at) {
      CHECK(spans[at].step == step.program().instructions[at].step);
      CHECK(spans[at].begin <= spans[at].end);
      if (at > 0) CHECK(spans[at - 1].end <= spans[at].begin);
    }
  });
}
