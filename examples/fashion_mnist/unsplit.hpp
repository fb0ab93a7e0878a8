#pragma once

#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "conversation.hpp"
#include "data.hpp"
#include "model.hpp"

namespace fashion_mnist {

/// Loss and gradients of a first step of the whole model on one device, without heddle: the
/// reference for the pipeline.
class UnsplitStep {
 public:
  /// Runs `model` over the micro-batches of `batch`; the model is left without gradients.
  UnsplitStep(torch::nn::Sequential& model, const Batch& batch, int micro_batches);

  /// Whether the pipeline's first step had this very loss (0 on all ranks but one) and left these
  /// very gradients in `parameters`, the rank's own, to the bit; prints the differences. Every rank
  /// calls it.
  bool is_equal(const Conversation& ranks, double loss,
                const std::vector<at::Tensor>& parameters) const;

 private:
  double distance(const std::vector<at::Tensor>& parameters) const;
  const at::Tensor& gradient(const at::Tensor& parameter) const;

  double loss_ = 0;
  std::vector<std::pair<at::Tensor, at::Tensor>> gradients_;  ///< by parameter
};

}  // namespace fashion_mnist
