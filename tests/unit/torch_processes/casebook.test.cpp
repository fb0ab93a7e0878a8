// Field problems over processes: cases C03, C05, C06 and C10 of the casebook.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/one_f_one_b.hpp>

#include "across_processes.hpp"
#include "gloo.hpp"
#include "pipeline.hpp"

using namespace heddle_test;
using heddle::BoundaryShapes;
using heddle::Interleaved1F1B;
using heddle::OneFOneB;
using heddle::PipelineShape;
using heddle::ProcessEnvironment;
using heddle::TorchBundle;
using heddle_example::gloo_communicator;

namespace {

bool close(const at::Tensor& one, const at::Tensor& other) {
  return one.grad().defined() && other.grad().defined() &&
         at::allclose(one.grad(), other.grad(), 1e-5, 1e-6);
}

// C03 ---------------------------------------------------------------------------------------------

/// The lengths of eight micro-batches in a run: a permutation of 16 + 4 * (i mod 5).
std::vector<std::int64_t> lengths(int run) {
  std::vector<std::int64_t> result;
  for (int i = 0; i < 8; ++i) result.push_back(16 + 4 * ((3 * run + i) % 8 % 5));
  return result;
}

std::int64_t sum(const std::vector<std::int64_t>& numbers) {
  std::int64_t total = 0;
  for (const auto number : numbers) total += number;
  return total;
}

template <class Schedule>
void train_on_any_length(const ProcessEnvironment& environment, PipelineShape shape) {
  constexpr int width = 32;
  auto communicator = gloo_communicator(environment, BoundaryShapes::per_micro_batch);
  const auto blocks = make_blocks(shape.stages(), width);
  const auto reference = make_blocks(shape.stages(), width);
  auto stages = heddle::local_stages<Schedule>(shape, communicator.rank(), [&](int stage) {
    return stage_of(blocks[static_cast<std::size_t>(stage)]);
  });
  const auto tokens = [](const TorchBundle& targets) { return double(targets[0].size(1)); };
  heddle::Executor step{Schedule{}, shape, std::move(stages), communicator,
                        heddle::weighted_loss(squared_error, tokens)};
  for (int run = 0; run < 2; ++run) {
    const auto sizes = lengths(run);
    const std::int64_t total = sum(sizes);
    at::manual_seed(static_cast<std::uint64_t>(run));
    const at::Tensor inputs = at::randn({1, total, width});
    const at::Tensor targets = at::randn({1, total, width});
    const auto result =
        step.run({heddle::split(inputs, 1, sizes)}, {heddle::split(targets, 1, sizes)});
    std::vector<double> weights;
    for (const auto size : sizes) weights.push_back(double(size) / double(total));
    const double loss = train_unsplit(reference, inputs.split_with_sizes(sizes, 1),
                                      targets.split_with_sizes(sizes, 1), weights);
    if (result.has_loss) CHECK(result.loss == doctest::Approx(loss).epsilon(1e-6));
    for (const int stage : step.program().stages) {
      const auto index = static_cast<std::size_t>(stage);
      CHECK(close(blocks[index].weight, reference[index].weight));
      CHECK(close(blocks[index].bias, reference[index].bias));
    }
  }
}

// C05 ---------------------------------------------------------------------------------------------

/// Takes values, a mask, tokens and weights of tokens; the last two arrive swapped after stage 1.
struct MaskedBlock {
  int stage;
  at::Tensor weight;

  TorchBundle operator()(const TorchBundle& in) const {
    const bool swapped = stage >= 2;
    const at::Tensor& tokens = in[swapped ? 3 : 2];
    const at::Tensor& importance = in[swapped ? 2 : 3];
    const at::Tensor attention = in[1].squeeze(1).to(at::kFloat) + at::eye(8);
    const at::Tensor values = at::tanh(attention.matmul(in[0]).matmul(weight)) +
                              tokens.remainder(7).to(at::kFloat).unsqueeze(2);
    const at::Tensor weighed = importance * weight.mean();
    return stage == 0 ? TorchBundle{values, in[1], tokens, weighed}
                      : TorchBundle{values, in[1], weighed, tokens};
  }
};

MaskedBlock make_masked_block(int stage) {
  at::manual_seed(static_cast<std::uint64_t>(stage));
  return {stage, at::randn({16, 16}).mul_(0.2).set_requires_grad(true)};
}

at::Tensor masked_loss(const TorchBundle& outputs, const TorchBundle& targets) {
  // tokens beyond what a float holds exactly: the sum shows that they came as integers
  return (outputs[0].mean(2) * outputs[2] - targets[0]).square().mean() +
         outputs[3].sum().remainder(1000).to(at::kFloat);
}

// C06 ---------------------------------------------------------------------------------------------

/// A model of four stages in which some are frozen, one has no parameters, or one gives a tensor
/// that nobody uses.
struct Variant {
  int first_trained_stage = 0;
  int without_parameters = -1;
  bool gives_unused = false;
};

using BundleFunction = std::function<TorchBundle(const TorchBundle&)>;

auto make_stage(const Variant& variant, const std::vector<Block>& blocks, int stage) {
  const Block& block = blocks[static_cast<std::size_t>(stage)];
  return heddle::TorchStage{BundleFunction{[variant, block, stage](const TorchBundle& in) {
    if (stage == variant.without_parameters) return TorchBundle{at::relu(in[0])};
    if (variant.gives_unused && stage == 2) return TorchBundle{block(in[0]), in[0] * block.bias};
    return TorchBundle{block(in[0])};
  }}};
}

std::vector<Block> make_variant_blocks(const Variant& variant) {
  auto blocks = make_blocks(4, 5);
  for (int stage = 0; stage < variant.first_trained_stage; ++stage) {
    blocks[static_cast<std::size_t>(stage)].weight.set_requires_grad(false);
    blocks[static_cast<std::size_t>(stage)].bias.set_requires_grad(false);
  }
  return blocks;
}

void train_variant(const ProcessEnvironment& environment, const Variant& variant) {
  const PipelineShape shape{
      .ranks = 4, .micro_batches = 4, .first_trained_stage = variant.first_trained_stage};
  auto communicator = gloo_communicator(environment);
  const auto blocks = make_variant_blocks(variant);
  const auto reference = make_variant_blocks(variant);
  auto stages = heddle::local_stages<OneFOneB>(
      shape, communicator.rank(), [&](int stage) { return make_stage(variant, blocks, stage); });
  heddle::Executor step{OneFOneB{}, shape, std::move(stages), communicator,
                        heddle::mean_loss(squared_error)};
  at::manual_seed(1);
  const at::Tensor inputs = at::randn({8, 5});
  const at::Tensor targets = at::randn({8, 5});
  const auto result = step.run({heddle::split(inputs)}, {heddle::split(targets)});

  double loss = 0;
  for (int i = 0; i < 4; ++i) {
    at::Tensor value = inputs.chunk(4)[static_cast<std::size_t>(i)];
    for (int stage = 0; stage < 4; ++stage) {
      const bool plain = stage == variant.without_parameters;
      value = plain ? at::relu(value) : reference[static_cast<std::size_t>(stage)](value);
    }
    const at::Tensor part = squared_error(value, targets.chunk(4)[static_cast<std::size_t>(i)]);
    part.backward(at::full_like(part, 0.25));
    loss += 0.25 * part.item().toDouble();
  }
  if (result.has_loss) CHECK(result.loss == loss);
  const auto own = static_cast<std::size_t>(communicator.rank());
  CHECK(same_gradient(blocks[own].weight, reference[own].weight));
  CHECK(same_gradient(blocks[own].bias, reference[own].bias));
  const bool trains = communicator.rank() >= variant.first_trained_stage &&
                      communicator.rank() != variant.without_parameters;
  CHECK(blocks[own].weight.grad().defined() == trains);
}

// C10 ---------------------------------------------------------------------------------------------

/// The names of the tied weights of a stage, in the order in which it has registered them.
std::string ties_of(int stage) {
  const std::vector<std::string> ties{"AB", "", "B", "BA"};
  return ties[static_cast<std::size_t>(stage)];
}

using Weights = std::map<char, at::Tensor>;

/// The weights of one stage; copies on other stages start alike.
Weights make_tied(int stage) {
  Weights weights;
  for (const char name : ties_of(stage)) {
    at::manual_seed(static_cast<std::uint64_t>(name));
    weights[name] = at::randn({3, 3}, at::kDouble).set_requires_grad(true);
  }
  return weights;
}

at::Tensor apply(int stage, const Weights& weights, at::Tensor x) {
  for (const char name : ties_of(stage)) x = at::tanh(x.matmul(weights.at(name)));
  return x * 1.5;
}

/// One step of plain gradient descent on `sum` of the gradients of all copies of each weight.
template <class Sum>
void descend(std::vector<Weights*> holders, Sum sum) {
  const at::AutoGradMode without_history{false};
  for (const char name : {'A', 'B'}) {  // the same order everywhere
    at::Tensor total = at::zeros({3, 3}, at::kDouble);
    for (Weights* weights : holders) {
      if (weights->contains(name)) total += weights->at(name).grad();
    }
    sum(total);
    for (Weights* weights : holders) {
      if (!weights->contains(name)) continue;
      at::Tensor& weight = weights->at(name);
      weight.sub_(total * 0.1);
      weight.mutable_grad().reset();
    }
  }
}

/// Copies on all ranks are equal to the bit: the lowest and the highest bits of each element, small
/// whole numbers of which sums are exact, have no variance among the copies.
void check_copies(heddle::C10dCommunicator& communicator, const std::vector<Weights*>& holders) {
  for (const char name : {'A', 'B'}) {
    for (int element = 0; element < 9; ++element) {
      std::vector<std::uint64_t> bits;
      for (const Weights* weights : holders) {
        if (!weights->contains(name)) continue;
        bits.push_back(std::bit_cast<std::uint64_t>(weights->at(name).data_ptr<double>()[element]));
      }
      std::array<double, 5> sums{};  // copies, two parts of each, their squares
      for (const std::uint64_t word : bits) {
        const auto low = double(word & 0xFFFF);
        const auto high = double(word >> 40);
        sums = {sums[0] + 1, sums[1] + low, sums[2] + high, sums[3] + low * low,
                sums[4] + high * high};
      }
      communicator.all_reduce_sum(sums, soon());
      CHECK(sums[0] * sums[3] == sums[1] * sums[1]);
      CHECK(sums[0] * sums[4] == sums[2] * sums[2]);
    }
  }
}

void train_tied(const ProcessEnvironment& environment, PipelineShape shape) {
  auto communicator = gloo_communicator(environment);
  std::vector<Weights> weights;
  std::vector<Weights> reference;
  for (int stage = 0; stage < 4; ++stage) {
    weights.push_back(make_tied(stage));
    reference.push_back(make_tied(stage));
  }
  auto stages = heddle::local_stages<Interleaved1F1B>(shape, communicator.rank(), [&](int stage) {
    return heddle::TorchStage{
        TensorFunction{[stage, own = weights[static_cast<std::size_t>(stage)]](
                           const at::Tensor& x) { return apply(stage, own, x); }}};
  });
  heddle::Executor step{Interleaved1F1B{}, shape, std::move(stages), communicator,
                        heddle::mean_loss(squared_error)};
  std::vector<Weights*> own;
  for (const int stage : step.program().stages) own.push_back(&weights[std::size_t(stage)]);
  std::vector<Weights*> all;
  for (Weights& each : reference) all.push_back(&each);

  at::manual_seed(1);
  const at::Tensor inputs = at::randn({8, 3}, at::kDouble);
  const at::Tensor targets = at::randn({8, 3}, at::kDouble);
  for (int run = 0; run < 3; ++run) {
    step.run({heddle::split(inputs)}, {heddle::split(targets)});
    descend(own, [&](at::Tensor& total) {
      communicator.all_reduce_sum({total.data_ptr<double>(), 9}, soon());
    });
    for (int i = 0; i < 4; ++i) {
      at::Tensor value = inputs.chunk(4)[static_cast<std::size_t>(i)];
      for (int stage = 0; stage < 4; ++stage)
        value = apply(stage, reference[std::size_t(stage)], value);
      const at::Tensor part = squared_error(value, targets.chunk(4)[static_cast<std::size_t>(i)]);
      part.backward(at::full_like(part, 0.25));
    }
    descend(all, [](at::Tensor&) {});
  }
  for (const int stage : step.program().stages) {
    for (const auto& [name, weight] : weights[std::size_t(stage)]) {
      CHECK(at::allclose(weight, reference[std::size_t(stage)].at(name), 0, 1e-9));
    }
  }
  check_copies(communicator, own);
}

}  // namespace

TEST_CASE("C03: another length for every micro-batch over processes with 1F1B") {
  across_processes(4, [](const auto& environment) {
    train_on_any_length<OneFOneB>(environment, {.ranks = 4, .micro_batches = 8});
  });
}

TEST_CASE("C03: another length for every micro-batch over processes with Interleaved 1F1B") {
  across_processes(4, [](const auto& environment) {
    train_on_any_length<Interleaved1F1B>(environment,
                                         {.ranks = 4, .stages_per_rank = 2, .micro_batches = 8});
  });
}

TEST_CASE("C03: with fixed shapes the first other length is refused on its sender") {
  across_processes(4, [](const ProcessEnvironment& environment) {
    const PipelineShape shape{.ranks = 4, .micro_batches = 8};
    auto communicator = gloo_communicator(environment);
    auto stages = heddle::local_stages<OneFOneB>(
        shape, communicator.rank(), [](int stage) { return stage_of(make_block(stage, 32)); });
    heddle::Executor step{OneFOneB{}, shape, std::move(stages), communicator,
                          heddle::sum_loss(squared_error)};
    const auto sizes = lengths(0);
    const at::Tensor inputs = at::randn({1, sum(sizes), 32});
    constexpr heddle::Step first_refused{heddle::StepKind::send_activation, 1, 0};
    try {
      step.run({heddle::split(inputs, 1, sizes)}, {heddle::split(inputs, 1, sizes)});
      FAIL("no exception");
    } catch (const heddle::PipelineError& error) {
      CAPTURE(error.what());
      CHECK(error.origin.rank == 0);
      CHECK(error.origin.step == first_refused);
      CHECK(error.origin.message.find("Float [1, 16, 32]") != std::string::npos);
      CHECK(error.origin.message.find("Float [1, 20, 32]") != std::string::npos);
    }
  });
}

TEST_CASE("C05: booleans and integers cross between processes unchanged and get no gradient") {
  across_processes(3, [](const ProcessEnvironment& environment) {
    const PipelineShape shape{.ranks = 3, .micro_batches = 4};
    auto communicator = gloo_communicator(environment);
    std::vector<MaskedBlock> blocks;
    std::vector<MaskedBlock> reference;
    for (int stage = 0; stage < 3; ++stage) {
      blocks.push_back(make_masked_block(stage));
      reference.push_back(make_masked_block(stage));
    }
    auto stages = heddle::local_stages<OneFOneB>(shape, communicator.rank(), [&](int stage) {
      return heddle::TorchStage{blocks[static_cast<std::size_t>(stage)]};
    });
    heddle::Executor step{OneFOneB{}, shape, std::move(stages), communicator,
                          heddle::mean_loss(masked_loss)};
    at::manual_seed(5);
    const at::Tensor values = at::randn({8, 8, 16});
    const at::Tensor mask = at::rand({8, 1, 8, 8}) > 0.5;
    const at::Tensor tokens = at::randint(1LL << 40, 1LL << 41, {8, 8}, at::kLong);
    const at::Tensor importance = at::rand({8, 8});
    const at::Tensor targets = at::randn({8, 8});
    using heddle::split;
    const auto result =
        step.run({split(values), split(mask), split(tokens), split(importance)}, {split(targets)});
    double loss = 0;
    for (int i = 0; i < 4; ++i) {
      const auto part_of = [i](const at::Tensor& all) { return all.narrow(0, 2 * i, 2); };
      TorchBundle bundle{part_of(values), part_of(mask), part_of(tokens), part_of(importance)};
      for (const auto& block : reference) bundle = block(bundle);
      const at::Tensor part = masked_loss(bundle, TorchBundle{part_of(targets)});
      part.backward(at::full_like(part, 0.25));
      loss += 0.25 * part.item().toDouble();
    }
    if (result.has_loss) CHECK(result.loss == loss);
    const auto own = static_cast<std::size_t>(communicator.rank());
    REQUIRE(blocks[own].weight.grad().defined());
    CHECK(same_gradient(blocks[own].weight, reference[own].weight));
  });
}

TEST_CASE("C06: a frozen prefix over processes gets no gradient and the rest the right one") {
  across_processes(
      4, [](const auto& environment) { train_variant(environment, {.first_trained_stage = 2}); });
}

TEST_CASE("C06: an output that no later stage uses gets zeros for its gradient over processes") {
  across_processes(
      4, [](const auto& environment) { train_variant(environment, {.gives_unused = true}); });
}

TEST_CASE("C06: gradients pass over processes through a stage without parameters") {
  across_processes(
      4, [](const auto& environment) { train_variant(environment, {.without_parameters = 1}); });
}

TEST_CASE("C10: tied weights over processes get the sum of all uses, once") {
  across_processes(4, [](const auto& environment) {
    train_tied(environment, {.ranks = 4, .micro_batches = 4});
  });
}

TEST_CASE("C10: tied weights over processes where one rank holds two copies") {
  across_processes(2, [](const auto& environment) {
    train_tied(environment, {.ranks = 2, .stages_per_rank = 2, .micro_batches = 4});
  });
}
