#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <heddle/core/error.hpp>
#include <heddle/exec/micro_batch.hpp>
#include <heddle/torch/bundle.hpp>
#include <heddle/torch/call.hpp>

namespace heddle {

/// The loss of a micro-batch: a tensor without history, read when it is asked for.
struct TorchLoss {
  at::Tensor value;

  explicit operator double() const { return value.item().toDouble(); }
};

/// A stage computed and differentiated by LibTorch, over a module or any callable.
///
/// A module is anything with a `forward`, held by value or by pointer (`std::shared_ptr<Block>`,
/// `torch::nn::Sequential`). It takes the boundary's tensors, or a TorchBundle, or a vector of
/// tensors, and returns a tensor, a tuple, a vector or a TorchBundle. Only floating and complex
/// inputs that require a gradient get one (zeros if the stage does not use them).
///
/// Requires: inputs are not changed in place.
/// Peak: per slot the inputs, the outputs and what autograd keeps, until the backward.
/// Errors: Error if another number of tensors comes out than the first time, or if gradients do not
/// fit.
template <class Callable>
class TorchStage {
 public:
  /// `finish` is called in every run when the gradients of this stage are complete.
  explicit TorchStage(Callable callable, std::function<void()> finish = {})
      : callable_{std::move(callable)}, finish_{std::move(finish)} {}

  TorchBundle forward(MicroBatch micro_batch, TorchBundle inputs) {
    if (!micro_batch.trains()) {
      const c10::AutoGradMode without_history{false};
      return checked(micro_batch, detail::call_forward(callable_, inputs));
    }
    const c10::AutoGradMode with_history{true};
    Saved& saved = saved_at(micro_batch.slot);
    saved.inputs = leaves_of(std::move(inputs));
    saved.outputs = checked(micro_batch, detail::call_forward(callable_, saved.inputs));
    return cut_off(saved.outputs);
  }

  template <class Loss>
  TorchLoss forward_loss(MicroBatch micro_batch, TorchBundle inputs, const TorchBundle& targets,
                         Loss& function, double scale) {
    const c10::AutoGradMode history{micro_batch.trains()};
    if (micro_batch.trains()) inputs = leaves_of(std::move(inputs));
    const auto outputs = checked(micro_batch, detail::call_forward(callable_, inputs));
    const at::Tensor loss = detail::call_loss(function, outputs, targets);
    if (!loss.defined() || loss.numel() != 1) {
      throw Error("the loss function must return one number, as a tensor with one element");
    }
    if (micro_batch.trains()) {
      Saved& saved = saved_at(micro_batch.slot);
      saved.inputs = std::move(inputs);
      saved.outputs = TorchBundle{loss};
      saved.loss_scale = scale;
      saved.ends_in_loss = true;
    }
    return {loss.detach()};
  }

  TorchBundle backward(MicroBatch micro_batch, TorchBundle output_gradients) {
    Saved saved = std::exchange(saved_at(micro_batch.slot), {});
    differentiate(roots_of(saved, std::move(output_gradients)), {}, false);
    return take_gradients(saved.inputs);
  }

  /// Costs what `backward` costs without the parameters' own gradients.
  TorchBundle backward_input(MicroBatch micro_batch, TorchBundle output_gradients) {
    Saved& saved = saved_at(micro_batch.slot);
    saved.roots = roots_of(saved, std::move(output_gradients));
    saved.outputs = {};
    std::vector<at::Tensor> wanted;
    for (const auto& input : saved.inputs) {
      if (wants_gradient(input)) wanted.push_back(input);
    }
    if (!wanted.empty()) differentiate(saved.roots, wanted, true);
    return take_gradients(saved.inputs);
  }

  /// Runs through the graph of the micro-batch once more, from the outputs to the parameters.
  void backward_weight(MicroBatch micro_batch) {
    const Saved saved = std::exchange(saved_at(micro_batch.slot), {});
    differentiate(saved.roots, {}, false);
  }

  void reserve(int slots) { saved_.resize(static_cast<std::size_t>(slots)); }

  void finish() {
    if (finish_) finish_();
  }

  void abandon() { saved_.assign(saved_.size(), {}); }

 private:
  /// Where a differentiation starts: tensors with history and their gradients.
  struct Roots {
    std::vector<at::Tensor> tensors;
    std::vector<at::Tensor> gradients;
  };

  struct Saved {
    TorchBundle inputs;   // leaves
    TorchBundle outputs;  // with history; the loss in a stage that ends in one
    Roots roots;          // between the halves of a backward
    double loss_scale = 1;
    bool ends_in_loss = false;
  };

  static bool wants_gradient(const at::Tensor& tensor) {
    return tensor.defined() && tensor.requires_grad();
  }

  Saved& saved_at(int slot) {
    const auto index = static_cast<std::size_t>(slot);
    if (index >= saved_.size()) saved_.resize(index + 1);
    return saved_[index];
  }

  TorchBundle checked(MicroBatch micro_batch, TorchBundle outputs) {
    if (!has_run_) {
      has_run_ = true;
      output_count_ = outputs.size();
    } else if (outputs.size() != output_count_) {
      throw Error("the stage returned " + std::to_string(outputs.size()) +
                  " tensors for micro-batch " + std::to_string(micro_batch.index) + ", but " +
                  std::to_string(output_count_) +
                  " the first time; return an undefined tensor for a slot that is absent");
    }
    return outputs;
  }

  /// Received tensors are leaves already and are used as they are.
  static TorchBundle leaves_of(TorchBundle inputs) {
    for (auto& input : inputs) {
      if (input.defined() && !input.is_leaf()) input = input.detach();
    }
    return inputs;
  }

  /// What the next stage gets: the same data, as leaves.
  static TorchBundle cut_off(const TorchBundle& outputs) {
    TorchBundle leaves;
    for (const auto& output : outputs) {
      leaves.append(wants_gradient(output) ? output.detach().set_requires_grad(true) : output);
    }
    return leaves;
  }

  static Roots roots_of(Saved& saved, TorchBundle gradients) {
    if (saved.ends_in_loss) {
      const at::Tensor& loss = saved.outputs[0];
      gradients = {};
      gradients.append(wants_gradient(loss) ? at::full_like(loss, saved.loss_scale) : at::Tensor{});
    }
    if (gradients.size() > saved.outputs.size()) {
      throw Error(std::to_string(gradients.size()) + " gradients came back for " +
                  std::to_string(saved.outputs.size()) + " outputs");
    }
    Roots roots;
    for (std::size_t slot = 0; slot < gradients.size(); ++slot) {
      if (!gradients[slot].defined() || !wants_gradient(saved.outputs[slot])) continue;
      roots.tensors.push_back(std::move(saved.outputs[slot]));
      roots.gradients.push_back(std::move(gradients[slot]));
    }
    return roots;
  }

  /// Adds the gradients to those of `wanted`, or of every leaf if none is named.
  static void differentiate(const Roots& roots, const std::vector<at::Tensor>& wanted,
                            bool keep_graph) {
    if (roots.tensors.empty()) return;
    torch::autograd::backward(roots.tensors, roots.gradients, keep_graph, false, wanted);
  }

  static TorchBundle take_gradients(TorchBundle& inputs) {
    TorchBundle gradients;
    for (auto& input : inputs) {
      if (!wants_gradient(input)) {
        gradients.append({});
        continue;
      }
      at::Tensor gradient = std::exchange(input.mutable_grad(), {});
      gradients.append(gradient.defined() ? std::move(gradient) : at::zeros_like(input));
    }
    return gradients;
  }

  Callable callable_;
  std::function<void()> finish_;
  std::vector<Saved> saved_;
  std::size_t output_count_ = 0;
  bool has_run_ = false;
};

}  // namespace heddle
