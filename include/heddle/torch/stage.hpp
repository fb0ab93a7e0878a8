#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <heddle/core/error.hpp>
#include <heddle/exec/micro_batch.hpp>
#include <heddle/torch/bundle.hpp>
#include <heddle/torch/call.hpp>
#include <heddle/torch/movable_box.hpp>

namespace heddle {

/// The loss of a micro-batch: a tensor without history, read when it is asked for.
struct TorchLoss {
  at::Tensor value;

  explicit operator double() const { return value.item().toDouble(); }
};

/// A stage that LibTorch computes and differentiates, over a module or any callable.
///
/// A module is what has a `forward`, itself or behind a pointer (`std::shared_ptr<Block>`,
/// `torch::nn::Sequential`). Module or callable takes the tensors of the boundary one by one, as a
/// TorchBundle or as a vector, and returns a tensor, a tuple, a vector or a TorchBundle. Inputs
/// that require a gradient get one (zeros if nothing depends on them), others none.
///
/// A loss function, `at::Tensor(outputs..., targets...)` or of two TorchBundle, returns one number.
///
/// Requires: inputs are not changed in place.
/// Peak: for each micro-batch that waits for its backward, what autograd keeps for it.
/// Errors: Error for a number of tensors that the callable does not take, a loss that is not one
/// number, or more gradients than outputs.
template <class Callable>
class TorchStage {
 public:
  /// `finish` is called in each run once the gradients of this stage are complete.
  explicit TorchStage(Callable callable, std::function<void()> finish = {})
      : callable_{std::move(callable)}, finish_{std::move(finish)} {}

  TorchBundle forward(MicroBatch micro_batch, TorchBundle inputs) {
    const c10::AutoGradMode history{micro_batch.trains()};
    if (!micro_batch.trains()) return detail::call_forward(*callable_, inputs);
    inputs = leaves_of(std::move(inputs));
    TorchBundle outputs = detail::call_forward(*callable_, inputs);
    Saved& saved = saved_at(micro_batch.slot);
    saved.inputs = wanting_of(std::move(inputs));
    saved.outputs = cut_off(outputs);
    return outputs;
  }

  template <class Loss>
  TorchLoss forward_loss(MicroBatch micro_batch, TorchBundle inputs, const TorchBundle& targets,
                         Loss& function, double scale) {
    const c10::AutoGradMode history{micro_batch.trains()};
    if (micro_batch.trains()) inputs = leaves_of(std::move(inputs));
    const at::Tensor loss =
        detail::call_loss(function, detail::call_forward(*callable_, inputs), targets);
    if (!loss.defined() || loss.numel() != 1) {
      throw Error("a loss function must return one number, as a tensor with one element");
    }
    if (micro_batch.trains()) {
      Saved& saved = saved_at(micro_batch.slot);
      saved.inputs = wanting_of(std::move(inputs));
      saved.outputs = detail::to_bundle(loss);
      if (loss.requires_grad()) saved.gradients = detail::to_bundle(at::full_like(loss, scale));
    }
    return {loss.detach()};
  }

  TorchBundle backward(MicroBatch micro_batch, TorchBundle output_gradients) {
    Saved saved = std::exchange(saved_at(micro_batch.slot), {});
    start_from(saved, std::move(output_gradients));
    differentiate(saved, {}, false);
    return take_gradients(saved.inputs);
  }

  TorchBundle backward_input(MicroBatch micro_batch, TorchBundle output_gradients) {
    Saved& saved = saved_at(micro_batch.slot);
    start_from(saved, std::move(output_gradients));
    std::vector<at::Tensor> wanted;
    for (const auto& input : saved.inputs) {
      if (input.defined()) wanted.push_back(input);
    }
    if (!wanted.empty()) differentiate(saved, wanted, true);
    return take_gradients(saved.inputs);
  }

  /// Walks the graph of the micro-batch once more: autograd keeps no results between the halves.
  void backward_weight(MicroBatch micro_batch) {
    const Saved saved = std::exchange(saved_at(micro_batch.slot), {});
    differentiate(saved, {}, false);
  }

  void reserve(int slots) { saved_.resize(static_cast<std::size_t>(slots)); }

  void finish() {
    if (finish_) finish_();
  }

  void abandon() { saved_.assign(saved_.size(), {}); }

 private:
  /// What a micro-batch keeps until its backward. An absent slot carries no gradient.
  struct Saved {
    TorchBundle inputs;     // leaves that the backward leaves gradients in
    TorchBundle outputs;    // the ends of the graph, without their data
    TorchBundle gradients;  // of the outputs, once they are known
  };

  static bool wants_gradient(const at::Tensor& tensor) {
    return tensor.defined() && tensor.requires_grad();
  }

  Saved& saved_at(int slot) {
    const auto index = static_cast<std::size_t>(slot);
    if (index >= saved_.size()) saved_.resize(index + 1);
    return saved_[index];
  }

  /// What came over a boundary is a leaf already and used as it is.
  static TorchBundle leaves_of(TorchBundle inputs) {
    for (auto& input : inputs) {
      if (input.defined() && !input.is_leaf()) input = input.detach();
    }
    return inputs;
  }

  static TorchBundle wanting_of(TorchBundle inputs) {
    for (auto& input : inputs) {
      if (!wants_gradient(input)) input.reset();
    }
    return inputs;
  }

  /// Makes leaves with the same data of `outputs`, for the next stage, and returns the ends of the
  /// graph that they came from. These hold no data: it is freed when the next stage is done with
  /// it, unless the graph needs it.
  static TorchBundle cut_off(TorchBundle& outputs) {
    TorchBundle ends;
    for (auto& output : outputs) {
      if (!wants_gradient(output)) {
        ends.append({});
        continue;
      }
      ends.append(torch::autograd::make_variable(at::empty({0}, output.options()),
                                                 torch::autograd::impl::gradient_edge(output)));
      output = output.detach().set_requires_grad(true);
    }
    return ends;
  }

  /// A stage that ends in a loss knows its gradient already.
  static void start_from(Saved& saved, TorchBundle gradients) {
    if (gradients.size() > saved.outputs.size()) {
      throw Error(std::to_string(gradients.size()) + " gradients came back for " +
                  std::to_string(saved.outputs.size()) + " outputs; give one for each output");
    }
    if (!gradients.empty()) saved.gradients = std::move(gradients);
  }

  /// Adds to the gradients of `wanted`, or of every leaf if none is named.
  static void differentiate(const Saved& saved, const std::vector<at::Tensor>& wanted,
                            bool keep_graph) {
    std::vector<at::Tensor> ends;
    std::vector<at::Tensor> gradients;
    for (std::size_t slot = 0; slot < saved.gradients.size(); ++slot) {
      if (!saved.outputs[slot].defined() || !saved.gradients[slot].defined()) continue;
      ends.push_back(saved.outputs[slot]);
      gradients.push_back(saved.gradients[slot]);
    }
    if (ends.empty()) return;
    torch::autograd::backward(ends, gradients, keep_graph, false, wanted);
  }

  static TorchBundle take_gradients(const TorchBundle& inputs) {
    TorchBundle gradients;
    for (const auto& input : inputs) {
      at::Tensor gradient;
      if (input.defined()) gradient = std::exchange(input.mutable_grad(), {});
      if (input.defined() && !gradient.defined()) gradient = at::zeros_like(input);
      gradients.append(std::move(gradient));
    }
    return gradients;
  }

  detail::MovableBox<Callable> callable_;
  std::function<void()> finish_;
  std::vector<Saved> saved_;
};

}  // namespace heddle
