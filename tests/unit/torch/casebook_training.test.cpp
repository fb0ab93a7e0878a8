// Field problems of training with LibTorch: cases C08, C10 and C13 of the casebook.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <c10/core/GradMode.h>
#include <c10/util/intrusive_ptr.h>

#include <heddle/torch/stage.hpp>
#include <heddle/torch/tied_parameters.hpp>

#include "support/matrix_pipeline.hpp"
#include "support/recording_communicator.hpp"
#include "support/torch_model.hpp"

#include <doctest/doctest.h>  // behind LibTorch, which has a CHECK of its own

using namespace heddle;
using namespace heddle_test;

namespace {

/// Counts which of the tensors that it has seen still exist, without keeping them.
class Watch {
 public:
  void see(const at::Tensor& tensor) {
    seen_.emplace_back(tensor.getIntrusivePtr());
    most_ = std::max(most_, alive());
  }
  int alive() const {
    return static_cast<int>(
        std::ranges::count_if(seen_, [](const auto& tensor) { return tensor.use_count() > 0; }));
  }
  int most() const { return most_; }

 private:
  std::vector<c10::weak_intrusive_ptr<c10::TensorImpl>> seen_;
  int most_ = 0;
};

}  // namespace

TEST_CASE("C08: memory does not grow with the micro-batches and nothing is left after a run") {
  for (const int micro_batches : {4, 16, 64}) {
    const PipelineShape shape{.ranks = 4, .micro_batches = micro_batches};
    const auto blocks = make_blocks(4);
    const auto inputs = wave({micro_batches, 3}, 1);
    const auto targets = wave({micro_batches, 4}, 2);
    std::array<Watch, 4> hidden;      // what a graph keeps
    std::array<Watch, 4> boundaries;  // what comes over a boundary
    std::array<Watch, 4> ends;        // what goes over one
    run_pipeline<OneFOneB, TorchBundle>(
        shape, {.transport = Transport::rendezvous},
        [&](int stage) {
          const auto at = static_cast<std::size_t>(stage);
          return TorchStage{
              [at, &hidden, &boundaries, &ends, block = blocks[at]](const at::Tensor& input) {
                boundaries[at].see(input);
                const auto squared = block->forward(input);
                hidden[at].see(squared);
                auto output = squared.mul(squared);
                ends[at].see(output);
                return output;
              }};
        },
        mean_loss(squared_error),
        [&](int rank, auto& step) {
          const auto at = static_cast<std::size_t>(rank);
          const at::TensorImpl* accumulator = nullptr;
          for (int run = 0; run < 3; ++run) {
            step.run({split(inputs)}, {split(targets)});
            const auto* gradient = blocks[at]->weight.grad().unsafeGetTensorImpl();
            if (run > 0 && gradient != accumulator) FAIL("another accumulator");
            accumulator = gradient;
          }
        });
    for (std::size_t at = 0; at < 4; ++at) {
      CAPTURE(at);
      CHECK(hidden[at].most() == 4 - static_cast<int>(at));
      CHECK(boundaries[at].most() <= 5 - static_cast<int>(at));
      CHECK(ends[at].most() == 1);
      CHECK(hidden[at].alive() + boundaries[at].alive() + ends[at].alive() == 0);
    }
  }
}

namespace {

/// Two weights and where they are used: A by stages 0 and 3, B by stages 0, 2 and 3.
struct TiedWeights {
  std::array<at::Tensor, 4> a;
  std::array<at::Tensor, 4> b;
  at::Tensor own;

  at::Tensor forward(std::size_t stage, const at::Tensor& input) const {
    switch (stage) {
      case 0: return input.matmul(a[0]).tanh().matmul(b[0]).tanh();
      case 1: return input.matmul(own).tanh();
      case 2: return input.matmul(b[2]).tanh();
      default: return input.matmul(b[3]).tanh().matmul(a[3].t());
    }
  }

  std::vector<at::Tensor> parameters() const { return {a[0], a[3], b[0], b[2], b[3], own}; }
};

/// Copies begin with other values than the lowest stage's, or are one tensor.
TiedWeights make_tied(bool is_whole, bool shares_b) {
  const auto weight = [](double seed) { return wave({4, 4}, seed).set_requires_grad(true); };
  TiedWeights weights;
  weights.own = weight(3);
  weights.a[0] = weight(1);
  weights.b[0] = weight(2);
  weights.a[3] = is_whole ? weights.a[0] : weight(5);
  weights.b[2] = is_whole || shares_b ? weights.b[0] : weight(6);
  weights.b[3] = is_whole ? weights.b[0] : weight(7);
  return weights;
}

/// Plain descent on each tensor once, as an optimizer of each rank does.
void descend(const std::vector<at::Tensor>& parameters) {
  const c10::AutoGradMode history{false};
  std::vector<at::Tensor> done;
  for (auto parameter : parameters) {
    const auto is_same = [&](const at::Tensor& other) { return other.is_same(parameter); };
    if (std::ranges::any_of(done, is_same) || !parameter.grad().defined()) continue;
    done.push_back(parameter);
    parameter.sub_(parameter.grad().mul(0.1));
    parameter.mutable_grad().reset();
  }
}

constexpr int micro_batches = 4;
constexpr int optimizer_steps = 3;

struct Batches {
  std::array<at::Tensor, 2> inputs{wave({8, 4}, 1), wave({8, 4}, 2)};
  std::array<at::Tensor, 2> targets{wave({8, 4}, 3), wave({8, 4}, 4)};
};

/// Two runs that accumulate before each step of the optimizer.
template <class Schedule>
void train_tied(PipelineShape shape, Mode mode, const TiedWeights& weights,
                TiedWeights& last_gradients) {
  const Batches batches;
  InProcessGroup<TorchBundle> group{shape.ranks, {.transport = mode.transport}};
  run_ranks(shape.ranks, [&](int rank) {
    auto communicator = group.communicator(rank);
    auto stages = local_stages<Schedule>(shape, rank, [&](int stage) {
      return TorchStage{[&weights, at = static_cast<std::size_t>(stage)](const at::Tensor& value) {
        return weights.forward(at, value);
      }};
    });
    const std::vector<int> held = stages.indices;
    Executor step{Schedule{}, shape, std::move(stages), communicator, mean_loss(squared_error)};

    TiedParameters ties{Schedule{}, shape, communicator};
    const auto tie_a = [&] {
      ties.tie("A", {3, 0}, [&](int at) { return weights.a[static_cast<std::size_t>(at)]; });
    };
    const auto tie_b = [&] {
      ties.tie("B", {0, 2, 3}, [&](int at) { return weights.b[static_cast<std::size_t>(at)]; });
    };
    if (rank == 0) {
      tie_a();
      tie_b();
    } else {
      tie_b();
      tie_a();
    }
    ties.copy_from_lowest_stage();

    std::vector<at::Tensor> own;
    for (const int stage : held) {
      const auto at = static_cast<std::size_t>(stage);
      if (stage == 1) own.push_back(weights.own);
      if (weights.a[at].defined()) own.push_back(weights.a[at]);
      if (weights.b[at].defined()) own.push_back(weights.b[at]);
    }
    for (int update = 0; update < optimizer_steps; ++update) {
      for (std::size_t run = 0; run < 2; ++run) {
        ties.run(
            [&] { return step.run({split(batches.inputs[run])}, {split(batches.targets[run])}); });
      }
      for (const int stage : held) {
        const auto at = static_cast<std::size_t>(stage);
        if (weights.a[at].defined()) last_gradients.a[at] = weights.a[at].grad().clone();
        if (weights.b[at].defined()) last_gradients.b[at] = weights.b[at].grad().clone();
      }
      descend(own);
    }
  });
}

template <class Schedule>
void check_tied(PipelineShape shape, bool shares_b) {
  const auto whole = make_tied(true, true);
  TiedWeights expected;
  const Batches batches;
  for (int update = 0; update < optimizer_steps; ++update) {
    for (std::size_t run = 0; run < 2; ++run) {
      train_whole(
          [&](at::Tensor value) {
            for (std::size_t stage = 0; stage < 4; ++stage) value = whole.forward(stage, value);
            return value;
          },
          batches.inputs[run], batches.targets[run], micro_batches);
    }
    expected.a[0] = whole.a[0].grad().clone();
    expected.b[0] = whole.b[0].grad().clone();
    descend(whole.parameters());
  }
  for (const Mode mode : all_modes) {
    const auto weights = make_tied(false, shares_b);
    TiedWeights gradients;
    train_tied<Schedule>(shape, mode, weights, gradients);
    CHECK(gradients.a[0].allclose(expected.a[0], 1e-5, 1e-6));
    CHECK(gradients.b[0].allclose(expected.b[0], 1e-5, 1e-6));
    CHECK(weights.a[0].allclose(whole.a[0], 1e-5, 1e-6));
    CHECK(weights.own.allclose(whole.own, 1e-5, 1e-6));
    CHECK(gradients.a[3].equal(gradients.a[0]));
    CHECK(weights.a[3].equal(weights.a[0]));
    for (const std::size_t at : {std::size_t{2}, std::size_t{3}}) {
      CHECK(gradients.b[at].equal(gradients.b[0]));
      CHECK(weights.b[at].equal(weights.b[0]));
    }
  }
}

}  // namespace

TEST_CASE("C10: tied weights get the sum of all uses once, and stay equal") {
  check_tied<OneFOneB>({.ranks = 4, .micro_batches = micro_batches}, false);
}

TEST_CASE("C10: two stages on one rank may hold copies of a tied weight, or the same tensor") {
  const PipelineShape shape{.ranks = 2, .stages_per_rank = 2, .micro_batches = micro_batches};
  check_tied<Interleaved1F1B>(shape, false);
  check_tied<Interleaved1F1B>(shape, true);
  check_tied<Interleaved1F1B>({.ranks = 1, .stages_per_rank = 4, .micro_batches = micro_batches},
                              false);
}

TEST_CASE("Copies of an embedding begin alike and get the sum of their gradients") {
  const PipelineShape shape{.ranks = 1, .stages_per_rank = 4, .micro_batches = 2};
  const InProcessGroup<TorchBundle> group{1};
  auto communicator = group.communicator(0);
  const auto blocks = make_blocks(4);
  blocks[3]->weight = wave({3, 4}, 9).set_requires_grad(true);
  Executor step{Interleaved1F1B{}, shape,
                local_stages<Interleaved1F1B>(
                    shape, 0, [&](int stage) { return TorchStage{blocks.at(std::size_t(stage))}; }),
                communicator, mean_loss(squared_error)};
  const auto inputs = wave({4, 3}, 1);
  const auto targets = wave({4, 4}, 2);

  // docs: begin ties
  heddle::TiedParameters ties{Interleaved1F1B{}, shape, communicator};
  ties.tie("embedding", {0, 3}, [&](int stage) { return blocks.at(std::size_t(stage))->weight; });
  ties.copy_from_lowest_stage();  // once, before training

  ties.run([&] { return step.run({split(inputs)}, {split(targets)}); });  // instead of step.run
  // docs: end
  CHECK(blocks[0]->weight.equal(blocks[3]->weight));
  CHECK(blocks[0]->weight.grad().equal(blocks[3]->weight.grad()));
  CHECK(!blocks[0]->weight.grad().is_same(blocks[3]->weight.grad()));
}

TEST_CASE("A tie is refused that is named twice or has a stage that does not exist") {
  const PipelineShape shape{.ranks = 1, .stages_per_rank = 2, .micro_batches = 1};
  const InProcessGroup<TorchBundle> group{1};
  auto communicator = group.communicator(0);
  TiedParameters ties{Interleaved1F1B{}, shape, communicator};
  const auto weight = [](int) { return wave({2}, 1); };
  ties.tie("A", {0, 1}, weight);
  CHECK_THROWS_WITH(ties.tie("A", {0, 1}, weight),
                    "'A' is tied already; name all of its stages in one call");
  CHECK_THROWS_WITH(ties.tie("B", {0, 2}, weight),
                    "the stages of the tie 'B' must be different ones of 0 to 1");
  CHECK_THROWS_WITH(ties.tie("B", {1, 1}, weight), doctest::Contains("different ones"));
}

TEST_CASE("A run that fails leaves the gradients of tied parameters as they were") {
  const PipelineShape shape{.ranks = 1, .stages_per_rank = 2, .micro_batches = 1};
  const InProcessGroup<TorchBundle> group{1};
  auto communicator = group.communicator(0);
  TiedParameters ties{Interleaved1F1B{}, shape, communicator};
  const auto weight = wave({2}, 1).set_requires_grad(true);
  const auto before = wave({2}, 2);
  weight.mutable_grad() = before.clone();
  ties.tie("A", {0}, [&](int) { return weight; });
  CHECK_THROWS_AS(ties.run([]() -> int { throw Error("no"); }), Error);
  CHECK(weight.grad().equal(before));
}

TEST_CASE("C13: evaluations before and between training change nothing and keep nothing") {
  const PipelineShape shape{.ranks = 4, .stages_per_rank = 2, .micro_batches = 8};
  const auto train_inputs = wave({8, 16, 3}, 1);
  const auto train_targets = wave({8, 16, 5}, 2);
  const auto evaluated = wave({3, 12, 3}, 3);
  const auto evaluated_once = wave({1, 16, 3}, 4);
  const auto train = [&](bool evaluates, Mode mode, const Blocks& blocks,
                         std::vector<double>& losses) {
    std::vector<TorchBundle> outputs;
    std::array<Watch, 8> inputs;
    const auto append = [&](std::vector<TorchBundle> more) {
      for (auto& output : more) outputs.push_back(std::move(output));
    };
    run_pipeline<Interleaved1F1B, TorchBundle>(
        shape, mode,
        [&](int stage) {
          const auto at = static_cast<std::size_t>(stage);
          return TorchStage{[at, &inputs, block = blocks[at]](const at::Tensor& input) {
            inputs[at].see(input);
            return block->forward(input);
          }};
        },
        mean_loss(squared_error),
        [&](int rank, auto& step) {
          const auto run = [&] {
            const auto result = step.run({split(train_inputs)}, {split(train_targets)});
            if (result.has_loss) losses.push_back(result.loss);
          };
          if (evaluates) {
            auto more = step.evaluate({split(evaluated)}, 3);
            if (rank == 3) append(std::move(more));
            if (rank == 2 && inputs[6].alive() != 0) FAIL("an evaluation keeps its inputs");
          }
          run();
          if (evaluates) {
            auto more = step.evaluate({split(evaluated_once)}, 1);
            if (rank == 3) append(std::move(more));
          }
          run();
        });
    return outputs;
  };
  const auto expected_blocks = make_blocks(8);
  std::vector<double> expected_losses;
  train(false, {}, expected_blocks, expected_losses);
  for (const Mode mode : all_modes) {
    const auto blocks = make_blocks(8);
    std::vector<double> losses;
    const auto outputs = train(true, mode, blocks, losses);
    CHECK(losses == expected_losses);
    CHECK(losses.size() == 2);
    CHECK(have_equal_gradients(blocks, expected_blocks));
    REQUIRE(outputs.size() == 4);
    for (int index = 0; index < 4; ++index) {
      const auto input = index < 3 ? evaluated.narrow(0, index, 1) : evaluated_once;
      const auto& output = outputs[static_cast<std::size_t>(index)];
      REQUIRE(output.size() == 1);
      CHECK(output[0].equal(chain_of(blocks)(input)));
      CHECK(!output[0].requires_grad());
    }
  }
}
