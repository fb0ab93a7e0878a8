#include "model.hpp"

#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <ATen/Context.h>
#include <ATen/Functions.h>

namespace fashion_mnist {
namespace {

/// x + convolution(relu(x)), or just the convolution where it changes the shape.
class BlockImpl : public torch::nn::Module {
 public:
  BlockImpl(int channels_in, int channels_out, int stride)
      : convolution_{register_module(
            "convolution",
            torch::nn::Conv2d{
                torch::nn::Conv2dOptions(channels_in, channels_out, 3).stride(stride).padding(1)})},
        keeps_shape_{channels_in == channels_out && stride == 1} {}

  at::Tensor forward(const at::Tensor& x) {
    return keeps_shape_ ? x + convolution_(x.relu()) : convolution_(x);
  }

 private:
  torch::nn::Conv2d convolution_;
  bool keeps_shape_;
};
TORCH_MODULE(Block);

class HeadImpl : public torch::nn::Module {
 public:
  HeadImpl(int features, int classes)
      : linear_{register_module("linear", torch::nn::Linear{features, classes})} {}

  at::Tensor forward(const at::Tensor& x) { return linear_(x.relu().flatten(1)); }

 private:
  torch::nn::Linear linear_;
};
TORCH_MODULE(Head);

}  // namespace

torch::nn::Sequential make_model(std::uint64_t seed) {
  at::manual_seed(seed);
  torch::nn::Sequential model;
  model->push_back(Block{1, 16, 2});  // 28 x 28 pixels become 14 x 14
  while (model->size() < layers / 2) model->push_back(Block{16, 16, 1});
  model->push_back(Block{16, 32, 2});  // 7 x 7
  while (model->size() < layers - 1) model->push_back(Block{32, 32, 1});
  model->push_back(Head{32 * 7 * 7, 10});
  return model;
}

at::Tensor cross_entropy(const at::Tensor& scores, const at::Tensor& labels) {
  return at::cross_entropy_loss(scores, labels);
}

std::vector<torch::nn::Sequential> cut(torch::nn::Sequential& model, int stages) {
  std::vector<torch::nn::Sequential> parts(static_cast<std::size_t>(stages));
  int layer = 0;
  for (const auto& module : *model) {
    parts[static_cast<std::size_t>(layer++ * stages / layers)]->push_back(module);
  }
  return parts;
}

}  // namespace fashion_mnist
