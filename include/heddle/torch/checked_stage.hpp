#pragma once

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
    for (const auto& parameter : parameters_) {
      const at::Tensor& gradient = parameter.grad();
      if (gradient.defined() && !at::isfinite(gradient).all().item().toBool()) return true;
    }
    return false;
  }

 private:
  std::vector<at::Tensor> parameters_;
};

}  // namespace heddle
