#pragma once

#include <cstdint>
#include <vector>

#include <torch/nn/modules/container/sequential.h>

namespace fashion_mnist {

/// The layers of the classifier, of about equal cost: a convolution, residual ones, a linear one.
inline constexpr int layers = 16;

/// The whole classifier: from n x 1 x 28 x 28 floats to n x 10 scores. The same `seed` gives the
/// same parameters.
torch::nn::Sequential make_model(std::uint64_t seed);

/// The mean over a micro-batch.
at::Tensor cross_entropy(const at::Tensor& scores, const at::Tensor& labels);

/// The layers of `model`, shared with it, as `stages` parts of about equal length.
///
/// Requires: 1 <= stages <= layers.
std::vector<torch::nn::Sequential> cut(torch::nn::Sequential& model, int stages);

}  // namespace fashion_mnist
