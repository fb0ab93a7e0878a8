// Field problems at the boundaries of stages: cases C03, C05, C06 and C14 of the casebook.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <vector>

#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

#include <heddle/torch/fixed_shapes.hpp>
#include <heddle/torch/stage.hpp>

#include "support/matrix_pipeline.hpp"
#include "support/recording_communicator.hpp"
#include "support/torch_model.hpp"

#include <doctest/doctest.h>  // behind LibTorch, which has a CHECK of its own

using namespace heddle;
using namespace heddle_test;

namespace {

using Sent = std::vector<std::vector<SentMessage>>;

/// One run of a pipeline; what each rank sent.
template <class Schedule, class MakeStage, class Function>
Sent run_recorded(PipelineShape shape, Mode mode, MakeStage make_stage, Loss<Function> loss,
                  const std::vector<BatchInput<at::Tensor>>& inputs,
                  const std::vector<BatchInput<at::Tensor>>& targets) {
  InProcessGroup<TorchBundle> group{shape.ranks, {.transport = mode.transport}};
  Sent sent(static_cast<std::size_t>(shape.ranks));
  run_ranks(shape.ranks, [&](int rank) {
    RecordingCommunicator<InProcessCommunicator<TorchBundle>> communicator{
        group.communicator(rank)};
    Executor step{Schedule{},   shape, local_stages<Schedule>(shape, rank, make_stage),
                  communicator, loss,  {.waiting = mode.waiting, .deadline = patience}};
    step.run(inputs, targets);
    sent[static_cast<std::size_t>(rank)] = std::move(communicator.sent);
  });
  return sent;
}

std::vector<TorchBundle> gradients_sent(const std::vector<SentMessage>& sent) {
  std::vector<TorchBundle> gradients;
  for (const auto& message : sent) {
    if (message.id.send.kind == StepKind::send_gradient) gradients.push_back(message.bundle);
  }
  return gradients;
}

std::vector<std::size_t> present_slots(const TorchBundle& bundle) {
  std::vector<std::size_t> slots;
  for (std::size_t slot = 0; slot < bundle.size(); ++slot) {
    if (bundle[slot].defined()) slots.push_back(slot);
  }
  return slots;
}

at::Tensor sum_of_squares(const at::Tensor& output, const at::Tensor& target) {
  return output.sub(target).square().sum();
}

Blocks wide_blocks(int count) {
  Blocks blocks;
  for (int index = 0; index < count; ++index) {
    blocks.push_back(
        std::make_shared<Block>(Block{wave({32, 32}, 3 * index).mul(0.2).set_requires_grad(true),
                                      wave({32}, 3 * index + 1).set_requires_grad(true)}));
  }
  return blocks;
}

/// Lengths 16 + 4 (i mod 5), beginning at another one in each run.
std::vector<std::int64_t> lengths_of_run(int run) {
  std::vector<std::int64_t> lengths;
  for (int index = 0; index < 8; ++index) lengths.push_back(16 + 4 * ((index + 3 * run) % 5));
  return lengths;
}

struct Sequences {
  std::vector<std::int64_t> lengths;
  at::Tensor inputs;
  at::Tensor targets;
};

Sequences sequences_of_run(int run) {
  auto lengths = lengths_of_run(run);
  const auto total = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  return {std::move(lengths), wave({1, total, 32}, run), wave({1, total, 32}, run + 0.5)};
}

template <class Schedule>
void check_changing_lengths(PipelineShape shape) {
  const auto whole = wide_blocks(shape.stages());
  std::vector<double> expected;
  for (int run = 0; run < 2; ++run) {
    const auto batch = sequences_of_run(run);
    double loss = 0;
    std::int64_t begin = 0;
    for (const auto length : batch.lengths) {
      const auto value = sum_of_squares(chain_of(whole)(batch.inputs.narrow(1, begin, length)),
                                        batch.targets.narrow(1, begin, length));
      value.backward();
      loss += value.item().toDouble();
      begin += length;
    }
    expected.push_back(loss);
  }
  for (const Mode mode : all_modes) {
    const auto blocks = wide_blocks(shape.stages());
    std::vector<double> losses;
    run_pipeline<Schedule, TorchBundle>(
        shape, mode, [&](int stage) { return TorchStage{blocks[static_cast<std::size_t>(stage)]}; },
        sum_loss(sum_of_squares),
        [&](int, auto& step) {
          for (int run = 0; run < 2; ++run) {
            const auto batch = sequences_of_run(run);
            const auto result = step.run({split(batch.inputs, 1, batch.lengths)},
                                         {split(batch.targets, 1, batch.lengths)});
            if (result.has_loss) losses.push_back(result.loss);
          }
        });
    CHECK(losses == expected);
    CHECK(have_equal_gradients(blocks, whole));
  }
}

}  // namespace

TEST_CASE("C03: every micro-batch may have another length, and every run another order of them") {
  check_changing_lengths<OneFOneB>({.ranks = 4, .micro_batches = 8});
  check_changing_lengths<Interleaved1F1B>({.ranks = 4, .stages_per_rank = 2, .micro_batches = 8});
}

TEST_CASE("C03: fixed shapes refuse the first other length on the sender, with both shapes") {
  const PipelineShape shape{.ranks = 4, .micro_batches = 8};
  const auto blocks = wide_blocks(shape.stages());
  const auto batch = sequences_of_run(0);
  for (const auto transport : {Transport::buffered, Transport::rendezvous}) {
    InProcessGroup<TorchBundle> group{shape.ranks, {.transport = transport}};
    const auto run = [&] {
      run_ranks(shape.ranks, [&](int rank) {
        FixedShapes communicator{group.communicator(rank)};
        auto stages = local_stages<OneFOneB>(shape, rank, [&](int stage) {
          return TorchStage{blocks[static_cast<std::size_t>(stage)]};
        });
        Executor step{OneFOneB{}, shape, std::move(stages), communicator, sum_loss(sum_of_squares)};
        step.run({split(batch.inputs, 1, batch.lengths)}, {split(batch.targets, 1, batch.lengths)});
      });
    };
    try {
      run();
      FAIL("another length was sent");
    } catch (const PipelineError& error) {
      CHECK(error.origin.rank == 0);
      CHECK(error.origin.step == Step{StepKind::send_activation, 1, 0});
      CHECK(error.origin.message ==
            "the " + describe(MessageId{{StepKind::send_activation, 1, 0}, 0}) +
                " is Float [1, 20, 32] with gradient in slot 0, but the first message of this edge "
                "had Float [1, 16, 32] with gradient and shapes are fixed here; leave out "
                "FixedShapes to allow others");
    }
  }
}

namespace {

/// Sums where the mask allows; the integers move the numbers that have their shape.
struct Masked {
  int stage;
  at::Tensor weight;
  std::vector<TorchBundle> seen{};

  TorchBundle forward(TorchBundle inputs) {
    seen.push_back(inputs);
    const std::size_t ids = stage == 2 ? 3 : 2;
    const std::size_t flat = 5 - ids;
    const auto allowed = inputs[1].squeeze(1).to(at::kFloat);
    TorchBundle outputs{inputs};
    outputs[0] = allowed.matmul(inputs[0]).mul(weight);
    outputs[flat] = inputs[flat].mul(weight).add(inputs[ids].remainder(7));
    if (stage == 1) std::swap(outputs[2], outputs[3]);
    return outputs;
  }
};

at::Tensor masked_loss(const TorchBundle& outputs, const TorchBundle& /*targets*/) {
  return outputs[0].square().mean().add(outputs[2].square().mean());
}

std::vector<std::shared_ptr<Masked>> masked_stages() {
  std::vector<std::shared_ptr<Masked>> stages;
  for (int stage = 0; stage < 3; ++stage) {
    const auto weight = at::full({1}, 0.5 + stage, at::kFloat).set_requires_grad(true);
    stages.push_back(std::make_shared<Masked>(Masked{stage, weight}));
  }
  return stages;
}

}  // namespace

TEST_CASE("C05: booleans and integers cross a boundary as they are and get no gradient") {
  const PipelineShape shape{.ranks = 3, .micro_batches = 4};
  const TorchBundle batch{wave({8, 8, 16}, 1), wave({8, 1, 8, 8}, 2).gt(0),
                          wave({8, 8}, 3).mul(1e9).to(at::kLong), wave({8, 8}, 4)};
  const auto whole = masked_stages();
  for (int index = 0; index < 4; ++index) {
    TorchBundle value;
    for (const auto& tensor : batch) value.append(tensor.narrow(0, 2 * index, 2));
    for (const auto& stage : whole) value = stage->forward(value);
    masked_loss(value, {}).mul(0.25).backward();
  }
  std::vector<BatchInput<at::Tensor>> inputs;
  for (const auto& tensor : batch) inputs.push_back(split(tensor));
  for (const Mode mode : all_modes) {
    const auto stages = masked_stages();
    const auto sent = run_recorded<OneFOneB>(
        shape, mode, [&](int stage) { return TorchStage{stages[static_cast<std::size_t>(stage)]}; },
        mean_loss(masked_loss), inputs, {});
    for (std::size_t at = 0; at < 3; ++at) {
      CHECK(have_equal_gradients(stages[at]->weight, whole[at]->weight));
      REQUIRE(stages[at]->seen.size() == 4);
      for (std::size_t index = 0; index < 4; ++index) {
        for (std::size_t slot = 0; slot < 4; ++slot) {
          const auto& seen = stages[at]->seen[index][slot];
          const auto& expected = whole[at]->seen[index][slot];
          CHECK((seen.scalar_type() == expected.scalar_type()));
          CHECK(seen.equal(expected));
        }
      }
    }
    for (const auto& gradients : gradients_sent(sent[1])) {
      CHECK(present_slots(gradients) == std::vector<std::size_t>{0, 3});
    }
    for (const auto& gradients : gradients_sent(sent[2])) {
      CHECK(present_slots(gradients) == std::vector<std::size_t>{0, 2});
    }
    CHECK(gradients_sent(sent[1]).size() == 4);
    CHECK(gradients_sent(sent[2]).size() == 4);
  }
}

TEST_CASE("C06: a frozen prefix computes no gradients and sends none") {
  const PipelineShape shape{.ranks = 4, .micro_batches = 4, .first_trained_stage = 2};
  const auto frozen_blocks = [] {
    auto blocks = make_blocks(4);
    for (const std::size_t at : {std::size_t{0}, std::size_t{1}}) {
      for (auto parameter : blocks[at]->parameters()) parameter.set_requires_grad(false);
    }
    return blocks;
  };
  const auto inputs = wave({8, 3}, 1);
  const auto targets = wave({8, 4}, 2);
  const auto whole = frozen_blocks();
  train_whole(chain_of(whole), inputs, targets, 4);
  for (const Mode mode : all_modes) {
    const auto blocks = frozen_blocks();
    const auto sent = run_recorded<OneFOneB>(
        shape, mode, [&](int stage) { return TorchStage{blocks[static_cast<std::size_t>(stage)]}; },
        mean_loss(squared_error), {split(inputs)}, {split(targets)});
    CHECK(have_equal_gradients(blocks, whole));
    CHECK(!blocks[1]->weight.grad().defined());
    for (std::size_t rank = 0; rank < 4; ++rank) {
      CHECK(gradients_sent(sent[rank]).size() == (rank == 3 ? 4 : 0));
    }
    for (const auto& message : sent[0]) CHECK(!message.bundle[0].requires_grad());
  }
}

TEST_CASE("C06: an output that no stage uses gets a gradient of zeros, and both sides know") {
  const PipelineShape shape{.ranks = 4, .micro_batches = 4};
  const auto inputs = wave({8, 3}, 1);
  const auto targets = wave({8, 4}, 2);
  const auto whole = make_blocks(4);
  train_whole(chain_of(whole), inputs, targets, 4);
  for (const Mode mode : all_modes) {
    const auto blocks = make_blocks(4);
    const auto sent = run_recorded<OneFOneB>(
        shape, mode,
        [&](int stage) {
          return TorchStage{
              [stage, block = blocks[static_cast<std::size_t>(stage)]](const TorchBundle& values) {
                TorchBundle outputs{block->forward(values[0])};
                if (stage == 2) outputs.append(outputs[0].mul(2).sum(1));
                return outputs;
              }};
        },
        mean_loss([](const TorchBundle& outputs, const TorchBundle& wanted) {
          return squared_error(outputs[0], wanted[0]);
        }),
        {split(inputs)}, {split(targets)});
    CHECK(have_equal_gradients(blocks, whole));
    for (const auto& gradients : gradients_sent(sent[3])) {
      REQUIRE(present_slots(gradients) == std::vector<std::size_t>{0, 1});
      CHECK(gradients[1].eq(0).all().item().toBool());
    }
  }
}

TEST_CASE("C06: gradients pass through a stage without parameters") {
  const PipelineShape shape{.ranks = 4, .micro_batches = 4};
  const auto inputs = wave({8, 3}, 1);
  const auto targets = wave({8, 3}, 2);
  const auto whole = make_blocks(3);
  train_whole(
      [&](at::Tensor value) {
        value = whole[0]->forward(value).sigmoid();
        return whole[2]->forward(whole[1]->forward(value));
      },
      inputs, targets, 4);
  for (const Mode mode : all_modes) {
    const auto blocks = make_blocks(3);
    run_recorded<OneFOneB>(shape, mode,
                           [&](int stage) {
                             const auto block =
                                 blocks[static_cast<std::size_t>(stage > 1 ? stage - 1 : 0)];
                             return TorchStage{[stage, block](const at::Tensor& value) {
                               return stage == 1 ? value.sigmoid() : block->forward(value);
                             }};
                           },
                           mean_loss(squared_error), {split(inputs)}, {split(targets)});
    CHECK(have_equal_gradients(blocks, whole));
  }
}

namespace {

static_assert(!std::is_convertible_v<at::Tensor, BatchInput<at::Tensor>>,
              "a tensor is never cut by a rule that nobody chose");

/// Each token becomes the sum of its document's.
std::tuple<at::Tensor, at::Tensor, at::Tensor> sum_documents(const at::Tensor& tokens,
                                                             const at::Tensor& offsets,
                                                             const at::Tensor& temperature,
                                                             const at::Tensor& weight) {
  std::vector<at::Tensor> documents;
  for (std::int64_t at = 0; at + 1 < offsets.size(0); ++at) {
    const auto begin = offsets[at].item().toLong();
    const auto document = tokens.narrow(0, begin, offsets[at + 1].item().toLong() - begin);
    documents.push_back(document.sum(0, true).expand_as(document));
  }
  return {at::cat(documents).mul(weight).div(temperature), offsets, temperature};
}

}  // namespace

TEST_CASE("C14: packed sequences are cut by their documents, offsets by a rule of their own") {
  const PipelineShape shape{.ranks = 2, .micro_batches = 2};
  const auto tokens = wave({12, 4}, 1);
  const auto targets = wave({12, 4}, 2);
  const auto offsets = at::tensor({0, 3, 7, 9, 12}, at::kLong);
  const auto temperature = at::full({}, 0.7, at::kFloat);
  const auto weights = [] {
    return std::vector<at::Tensor>{wave({4}, 3).set_requires_grad(true),
                                   wave({4}, 4).set_requires_grad(true)};
  };
  const auto whole = weights();
  auto value = sum_documents(tokens, offsets, temperature, whole[0]);
  value = sum_documents(std::get<0>(value), offsets, temperature, whole[1]);
  const auto expected = sum_of_squares(std::get<0>(value), targets);
  expected.backward();

  const auto documents_of = [](const at::Tensor& all, int micro_batch, int) {
    const auto own = all.narrow(0, 2 * micro_batch, 3);
    return own.sub(own[0]);
  };
  for (const Mode mode : all_modes) {
    const auto parts = weights();
    std::vector<at::Tensor> seen;
    double loss = 0;
    run_pipeline<OneFOneB, TorchBundle>(
        shape, mode,
        [&](int stage) {
          return TorchStage{[stage, &seen, weight = parts[static_cast<std::size_t>(stage)]](
                                at::Tensor own, at::Tensor ends, at::Tensor heat) {
            if (stage == 1) seen.push_back(ends);
            return sum_documents(own, ends, heat, weight);
          }};
        },
        sum_loss([](const at::Tensor& output, at::Tensor, at::Tensor, const at::Tensor& target) {
          return sum_of_squares(output, target);
        }),
        [&](int, auto& step) {
          const auto result = step.run(
              {split(tokens, 0, {7, 5}), split_by(offsets, documents_of), replicate(temperature)},
              {split(targets, 0, {7, 5})});
          if (result.has_loss) loss = result.loss;
        });
    REQUIRE(seen.size() == 2);
    CHECK(seen[1].equal(at::tensor({0, 2, 5}, at::kLong)));
    CHECK(loss == doctest::Approx(expected.item().toDouble()));
    for (std::size_t at = 0; at < 2; ++at) CHECK(parts[at].grad().allclose(whole[at].grad(), 1e-5));
  }
}
