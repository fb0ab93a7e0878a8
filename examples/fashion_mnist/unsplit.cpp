#include "unsplit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "report.hpp"

namespace fashion_mnist {

UnsplitStep::UnsplitStep(torch::nn::Sequential& model, const Batch& batch, int micro_batches) {
  const auto images = batch.images.chunk(micro_batches);
  const auto labels = batch.labels.chunk(micro_batches);
  for (std::size_t index = 0; index < images.size(); ++index) {
    const auto loss = cross_entropy(model->forward(images[index]), labels[index]);
    (loss / micro_batches).backward();
    loss_ += loss.item<double>() / micro_batches;
  }
  for (auto& parameter : model->parameters()) {
    gradients_.emplace_back(parameter, parameter.grad());
    parameter.mutable_grad().reset();
  }
}

bool UnsplitStep::is_equal(const Conversation& ranks, double loss,
                           const std::vector<at::Tensor>& parameters) const {
  const double pipeline_loss = ranks.sum(loss);
  const double of_loss = std::abs(pipeline_loss - loss_);
  const double of_gradients = ranks.largest(distance(parameters));
  std::array<char, 200> line{};
  std::snprintf(line.data(), line.size(),
                "first step: loss %.6f, unsplit %.6f; largest difference of the loss %g, of a "
                "gradient %g",
                pipeline_loss, loss_, of_loss, of_gradients);
  say(ranks, line.data());
  return of_loss == 0 && of_gradients == 0;
}

double UnsplitStep::distance(const std::vector<at::Tensor>& parameters) const {
  double largest = 0;
  for (const auto& parameter : parameters) {
    const auto& expected = gradient(parameter);
    if (!parameter.grad().defined()) return std::numeric_limits<double>::infinity();
    const auto difference = (parameter.grad() - expected).abs().max().item<double>();
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

const at::Tensor& UnsplitStep::gradient(const at::Tensor& parameter) const {
  return std::ranges::find_if(gradients_,
                              [&](const auto& pair) { return pair.first.is_same(parameter); })
      ->second;
}

}  // namespace fashion_mnist
