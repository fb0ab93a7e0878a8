#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <heddle/exec/micro_batch.hpp>

#include "matrix.hpp"

namespace matrix {

/// A loss and where its backward begins.
struct LossAndGradient {
  double loss = 0;
  Matrix gradient;
};

/// The mean over the rows of the summed squares.
inline LossAndGradient squared_error(const MatrixBundle& outputs, const MatrixBundle& targets) {
  const auto rows = static_cast<double>(outputs[0].rows());
  LossAndGradient result;
  result.gradient = combine(outputs[0], targets[0], [&](double output, double target) {
    return 2 * (output - target) / rows;
  });
  for (std::size_t index = 0; index < outputs[0].values().size(); ++index) {
    const double difference = outputs[0].values()[index] - targets[0].values()[index];
    result.loss += difference * difference / rows;
  }
  return result;
}

/// A stage: `tanh(inputs * weight)` with its gradients by hand. Models `heddle::stage_for`, with
/// the backward in halves and with a loss.
class Layer {
 public:
  explicit Layer(Matrix weight)
      : weight_{std::move(weight)}, gradient_{weight_.rows(), weight_.columns()} {}

  void reserve(int slots) { saved_.resize(static_cast<std::size_t>(slots)); }

  MatrixBundle forward(heddle::MicroBatch micro_batch, MatrixBundle inputs) {
    Matrix outputs = product(inputs[0], weight_);
    for (double& value : outputs.values()) value = std::tanh(value);
    if (micro_batch.trains()) saved(micro_batch) = {std::move(inputs[0]), outputs, {}};
    return MatrixBundle{{std::move(outputs)}};
  }

  template <class Loss>
  double forward_loss(heddle::MicroBatch micro_batch, MatrixBundle inputs,
                      const MatrixBundle& targets, Loss& loss, double scale) {
    const MatrixBundle outputs = forward(micro_batch, std::move(inputs));
    LossAndGradient result = loss(outputs, targets);
    if (micro_batch.trains()) {
      for (double& value : result.gradient.values()) value *= scale;
      saved(micro_batch).output_gradient = std::move(result.gradient);
    }
    return result.loss;
  }

  MatrixBundle backward(heddle::MicroBatch micro_batch, MatrixBundle output_gradients) {
    MatrixBundle input_gradients = backward_input(micro_batch, std::move(output_gradients));
    backward_weight(micro_batch);
    return input_gradients;
  }

  MatrixBundle backward_input(heddle::MicroBatch micro_batch, MatrixBundle output_gradients) {
    Saved& kept = saved(micro_batch);
    if (output_gradients.size() > 0) kept.output_gradient = std::move(output_gradients[0]);
    kept.output_gradient =
        combine(kept.output_gradient, kept.outputs,
                [](double gradient, double output) { return gradient * (1 - output * output); });
    return MatrixBundle{{product(kept.output_gradient, transposed(weight_))}};
  }

  void backward_weight(heddle::MicroBatch micro_batch) {
    const Saved kept = std::exchange(saved(micro_batch), Saved{});
    add(gradient_, product(transposed(kept.inputs), kept.output_gradient));
  }

  /// One step of gradient descent, after which the gradient is zero again.
  void descend(double rate) {
    add(weight_, gradient_, -rate);
    gradient_ = Matrix{weight_.rows(), weight_.columns()};
  }

  const Matrix& weight() const { return weight_; }
  const Matrix& gradient() const { return gradient_; }

 private:
  struct Saved {
    Matrix inputs;
    Matrix outputs;
    Matrix output_gradient;
  };

  Saved& saved(heddle::MicroBatch micro_batch) {
    return saved_[static_cast<std::size_t>(micro_batch.slot)];
  }

  Matrix weight_;
  Matrix gradient_;
  std::vector<Saved> saved_;
};

}  // namespace matrix
