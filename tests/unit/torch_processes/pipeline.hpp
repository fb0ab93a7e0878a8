#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include <heddle/exec/executor.hpp>
#include <heddle/torch/c10d_communicator.hpp>
#include <heddle/torch/stage.hpp>

namespace heddle_test {

/// A small piece of a model. Every process makes all of them alike, and trains its own.
struct Block {
  at::Tensor weight;
  at::Tensor bias;

  at::Tensor operator()(const at::Tensor& x) const { return at::tanh(at::linear(x, weight, bias)); }
};

using TensorFunction = std::function<at::Tensor(const at::Tensor&)>;

inline Block make_block(int stage, int width, at::ScalarType dtype = at::kFloat) {
  at::manual_seed(static_cast<std::uint64_t>(100 + stage));
  return {at::randn({width, width}, dtype).mul_(0.5).set_requires_grad(true),
          at::randn({width}, dtype).set_requires_grad(true)};
}

inline std::vector<Block> make_blocks(int stages, int width) {
  std::vector<Block> blocks;
  for (int stage = 0; stage < stages; ++stage) blocks.push_back(make_block(stage, width));
  return blocks;
}

inline at::Tensor squared_error(const at::Tensor& output, const at::Tensor& target) {
  return (output - target).square().mean();
}

/// The model on one rank: the same micro-batches one after the other, their gradients added up.
/// Gives the loss of the batch.
template <class Blocks>
double train_unsplit(Blocks& blocks, const std::vector<at::Tensor>& inputs,
                     const std::vector<at::Tensor>& targets, const std::vector<double>& weights) {
  double loss = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    at::Tensor value = inputs[i];
    for (const auto& block : blocks) value = block(value);
    const at::Tensor part = squared_error(value, targets[i]);
    part.backward(at::full_like(part, weights[i]));
    loss += weights[i] * part.item().toDouble();
  }
  return loss;
}

inline double train_unsplit(const std::vector<Block>& blocks, const at::Tensor& inputs,
                            const at::Tensor& targets, int micro_batches) {
  const std::vector<double> weights(static_cast<std::size_t>(micro_batches), 1.0 / micro_batches);
  return train_unsplit(blocks, inputs.chunk(micro_batches), targets.chunk(micro_batches), weights);
}

/// A stage that computes what `block` does; the two share their parameters.
inline auto stage_of(const Block& block) { return heddle::TorchStage{block}; }

/// Whether both have the same gradient, to the bit, or neither has one.
inline bool same_gradient(const at::Tensor& one, const at::Tensor& other) {
  if (one.grad().defined() != other.grad().defined()) return false;
  return !one.grad().defined() || one.grad().equal(other.grad());
}

}  // namespace heddle_test
