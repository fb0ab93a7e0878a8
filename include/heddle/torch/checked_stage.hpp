#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/isfinite.h>

#include <heddle/torch/stage.hpp>

namespace heddle {

/// A TorchStage that raises its flag if a gradient of its parameters is not finite, so that all
/// ranks skip the optimizer's step together (`RunResult::flagged`).
///
/// Complexity: reads every gradient once a run.
template <class Callable>
class CheckedTorchStage : public TorchStage<Callable> {
 public:
  CheckedTorchStage(Callable callable, std::vector<at::Tensor> parameters,
                    std::function<void()> finish = {})
      : TorchStage<Callable>{std::move(callable), std::move(finish)},
        parameters_{std::move(parameters)} {}

  /// Over a module behind a pointer, with all its parameters.
  explicit CheckedTorchStage(Callable module)
    requires requires { module->parameters(); }
      : CheckedTorchStage{module, module->parameters()} {}

  bool flag() const {
    return std::ranges::any_of(parameters_, [](const at::Tensor& parameter) {
      const at::Tensor& gradient = parameter.grad();
      return gradient.defined() && !at::isfinite(gradient).all().item().toBool();
    });
  }

 private:
  std::vector<at::Tensor> parameters_;
};

}  // namespace heddle
