#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>

#include <heddle/torch/bundle.hpp>
#include <heddle/torch/stage.hpp>

/// A small model of LibTorch, and the model on one thread without stages to compare with.
namespace heddle_test {

/// Numbers between -1 and 1 that are the same in every version of LibTorch.
inline at::Tensor wave(at::IntArrayRef sizes, double seed) {
  std::int64_t count = 1;
  for (const auto size : sizes) count *= size;
  return at::arange(count, at::kFloat).add(seed).mul(1.7).sin().view(sizes);
}

/// tanh(input * weight + bias).
struct Block {
  at::Tensor weight;
  at::Tensor bias;

  at::Tensor forward(const at::Tensor& input) const {
    return input.matmul(weight).add(bias).tanh();
  }
  std::vector<at::Tensor> parameters() const { return {weight, bias}; }
};

using Blocks = std::vector<std::shared_ptr<Block>>;

/// The same blocks at each call; neighbouring boundaries differ in width.
inline Blocks make_blocks(int count) {
  const auto width = [](int boundary) { return std::int64_t{3 + boundary % 3}; };
  Blocks blocks;
  for (int index = 0; index < count; ++index) {
    auto weight = wave({width(index), width(index + 1)}, 10 * index);
    auto bias = wave({width(index + 1)}, 10 * index + 5);
    blocks.push_back(std::make_shared<Block>(
        Block{weight.set_requires_grad(true), bias.set_requires_grad(true)}));
  }
  return blocks;
}

inline at::Tensor squared_error(const at::Tensor& output, const at::Tensor& target) {
  return output.sub(target).square().mean();
}

/// Trains on equal micro-batches along dimension 0 whose losses are averaged; returns the loss.
template <class Model>
double train_whole(Model&& model, const at::Tensor& inputs, const at::Tensor& targets,
                   int micro_batches) {
  double loss = 0;
  const auto rows = inputs.size(0) / micro_batches;
  for (int index = 0; index < micro_batches; ++index) {
    const auto output = model(inputs.narrow(0, index * rows, rows));
    const auto value = squared_error(output, targets.narrow(0, index * rows, rows));
    value.mul(1.0 / micro_batches).backward();
    loss += 1.0 / micro_batches * value.item().toDouble();
  }
  return loss;
}

/// All blocks one after the other.
inline auto chain_of(const Blocks& blocks) {
  return [&blocks](at::Tensor value) {
    for (const auto& block : blocks) value = block->forward(value);
    return value;
  };
}

inline bool have_equal_gradients(const at::Tensor& left, const at::Tensor& right) {
  if (!left.grad().defined() || !right.grad().defined()) {
    return left.grad().defined() == right.grad().defined();
  }
  return left.grad().equal(right.grad());
}

inline bool have_equal_gradients(const Blocks& left, const Blocks& right) {
  for (std::size_t at = 0; at < left.size(); ++at) {
    if (!have_equal_gradients(left[at]->weight, right[at]->weight)) return false;
    if (!have_equal_gradients(left[at]->bias, right[at]->bias)) return false;
  }
  return left.size() == right.size();
}

}  // namespace heddle_test
