#include <memory>
#include <tuple>
#include <vector>

#include <ATen/ATen.h>

#include <heddle/exec/stage.hpp>
#include <heddle/torch/bundle.hpp>
#include <heddle/torch/stage.hpp>

#include <doctest/doctest.h>  // behind LibTorch, which has a CHECK of its own

namespace {

using heddle::TorchBundle;
using heddle::TorchStage;

struct Linear {
  at::Tensor weight;

  at::Tensor forward(const at::Tensor& input) { return at::matmul(input, weight); }
};

at::Tensor half_square(const at::Tensor& output, const at::Tensor& target) {
  return (output - target).square().sum() * 0.5;
}

using Model = TorchStage<std::shared_ptr<Linear>>;
using Function = at::Tensor (*)(const at::Tensor&, const at::Tensor&);
static_assert(heddle::stage_for<Model, TorchBundle>);
static_assert(heddle::has_forward_loss<Model, TorchBundle, Function>);
static_assert(heddle::has_split_backward<Model, TorchBundle>);
static_assert(heddle::has_reserve<Model> && heddle::has_finish<Model> &&
              heddle::has_abandon<Model>);
static_assert(!heddle::has_flag<Model>);

}  // namespace

TEST_CASE("A module's loss, gradient and input gradient are those of autograd without stages") {
  at::manual_seed(1);
  const auto first = std::make_shared<Linear>(at::randn({3, 4}).set_requires_grad(true));
  const auto last = std::make_shared<Linear>(at::randn({4, 2}).set_requires_grad(true));
  const auto input = at::randn({5, 3});
  const auto target = at::randn({5, 2});
  const auto expected = half_square(last->forward(at::tanh(first->forward(input))), target);
  (expected * 0.25).backward();
  const auto first_gradient = first->weight.grad().clone();
  const auto last_gradient = last->weight.grad().clone();
  first->weight.mutable_grad().reset();
  last->weight.mutable_grad().reset();

  TorchStage stage0{[first](const at::Tensor& x) { return at::tanh(first->forward(x)); }};
  TorchStage stage1{last};
  auto loss_function = &half_square;
  const heddle::MicroBatch micro_batch{0, 0};
  auto boundary = stage0.forward(micro_batch, {input});
  CHECK(boundary[0].is_leaf());
  CHECK(boundary[0].requires_grad());
  const auto loss =
      stage1.forward_loss(micro_batch, std::move(boundary), {target}, loss_function, 0.25);
  auto gradients = stage1.backward(micro_batch, {});
  CHECK(stage0.backward(micro_batch, std::move(gradients))[0].defined() == false);
  CHECK(static_cast<double>(loss) == expected.item().toDouble());
  CHECK(at::equal(first->weight.grad(), first_gradient));
  CHECK(at::equal(last->weight.grad(), last_gradient));
}
