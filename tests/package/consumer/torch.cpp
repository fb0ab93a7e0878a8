// What the component torch promises: any callable over tensors is a stage.
#include <heddle/torch/stage.hpp>

#include <heddle/heddle.hpp>

namespace {

struct Same {
  at::Tensor operator()(const at::Tensor& input) const { return input; }
};

static_assert(heddle::stage_for<heddle::TorchStage<Same>, heddle::TorchBundle>);

}  // namespace
