#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <heddle/exec/batch.hpp>
#include <heddle/exec/stage.hpp>
#include <heddle/torch/bundle.hpp>
#include <heddle/torch/checked_stage.hpp>
#include <heddle/torch/stage.hpp>

#include "support/torch_model.hpp"

#include <doctest/doctest.h>  // behind LibTorch, which has a CHECK of its own

using namespace heddle;
using namespace heddle_test;

namespace {

using Module = TorchStage<std::shared_ptr<Block>>;
using Function = at::Tensor (*)(const at::Tensor&, const at::Tensor&);

static_assert(splittable_bundle<TorchBundle>);
static_assert(stage_for<Module, TorchBundle>);
static_assert(has_forward_loss<Module, TorchBundle, Function>);
static_assert(has_split_backward<Module, TorchBundle>);
static_assert(has_reserve<Module> && has_finish<Module> && has_abandon<Module>);
static_assert(!has_flag<Module> && has_flag<CheckedTorchStage<std::shared_ptr<Block>>>);

inline auto capturing = [number = std::make_unique<int>(1)](at::Tensor x) { return x; };
static_assert(!std::movable<decltype(capturing)>);
static_assert(stage_for<TorchStage<decltype(capturing)>, TorchBundle>);

/// Says, like LibTorch's holders of modules, that it can be called with anything.
struct Holder {
  std::shared_ptr<Block> block;

  Block* operator->() const { return block.get(); }
  template <class... Arguments>
  decltype(auto) operator()(Arguments... arguments) const {
    return block->forward(arguments...);
  }
};

constexpr MicroBatch first{0, 0};
constexpr MicroBatch frozen{0, -1};

at::Tensor leaf(at::IntArrayRef sizes, double seed) {
  return wave(sizes, seed).set_requires_grad(true);
}

std::vector<at::Tensor> last_first(std::vector<at::Tensor> tensors) {
  std::ranges::reverse(tensors);
  return tensors;
}

template <class Callable>
TorchBundle outputs_of(Callable callable, TorchBundle inputs) {
  return TorchStage{std::move(callable)}.forward(frozen, std::move(inputs));
}

}  // namespace

TEST_CASE("A stage is a module behind a pointer, a module, or a callable") {
  const auto block = make_blocks(1)[0];
  const auto input = wave({2, 3}, 1);
  const auto expected = block->forward(input);
  CHECK(outputs_of(block, {input})[0].equal(expected));
  CHECK(outputs_of(*block, {input})[0].equal(expected));
  CHECK(outputs_of(Holder{block}, {input})[0].equal(expected));
  CHECK(outputs_of([&](auto x) { return block->forward(x); }, {input})[0].equal(expected));
  const std::function<at::Tensor(at::Tensor)> function = [&](const at::Tensor& x) {
    return block->forward(x);
  };
  CHECK(outputs_of(function, {input})[0].equal(expected));
}

TEST_CASE("A callable takes tensors, a bundle or a vector, and returns them or a tuple") {
  const auto left = wave({2}, 1);
  const auto right = wave({2}, 2);
  const auto check = [&](const TorchBundle& swapped) {
    REQUIRE(swapped.size() == 2);
    CHECK(swapped[0].equal(right));
    CHECK(swapped[1].equal(left));
  };
  const TorchBundle inputs{left, right};
  check(outputs_of([](at::Tensor a, at::Tensor b) { return std::tuple{b, a}; }, inputs));
  check(outputs_of([](TorchBundle in) { return TorchBundle{in[1], in[0]}; }, inputs));
  check(outputs_of(
      [](const std::vector<at::Tensor>& in) {
        return std::vector{in[1], in[0]};
      },
      inputs));
  check(outputs_of([](auto... in) { return last_first(std::vector<at::Tensor>{in...}); }, inputs));
}

TEST_CASE("A callable for another number of tensors is refused with both ways out") {
  CHECK_THROWS_WITH_AS(
      outputs_of([](at::Tensor a, at::Tensor b) { return a.add(b); }, {wave({2}, 1)}),
      "the stage does not take 1 tensors; let it take that many (at most 8) or a "
      "heddle::TorchBundle",
      Error);
}

TEST_CASE("A loss function that does not return one number is refused") {
  TorchStage stage{[](at::Tensor x) { return x; }};
  auto loss = [](const at::Tensor& output, const at::Tensor&) { return output; };
  CHECK_THROWS_WITH_AS(stage.forward_loss(first, {wave({2}, 1)}, {wave({2}, 2)}, loss, 1.0),
                       doctest::Contains("must return one number"), Error);
}

TEST_CASE("Two stages give loss and gradients of autograd, and the loss has no history") {
  const auto whole = make_blocks(2);
  const auto input = wave({5, 3}, 1);
  const auto target = wave({5, 5}, 2);
  const auto expected = squared_error(chain_of(whole)(input), target);
  expected.mul(0.25).backward();

  const auto blocks = make_blocks(2);
  TorchStage lower{blocks[0]};
  TorchStage upper{blocks[1]};
  auto function = &squared_error;
  auto boundary = lower.forward(first, {input});
  CHECK(boundary[0].is_leaf());
  CHECK(boundary[0].requires_grad());
  const auto loss = upper.forward_loss(first, std::move(boundary), {target}, function, 0.25);
  CHECK(!loss.value.requires_grad());
  const auto nothing = lower.backward(first, upper.backward(first, {}));
  REQUIRE(nothing.size() == 1);
  CHECK(!nothing[0].defined());
  CHECK(static_cast<double>(loss) == expected.item().toDouble());
  CHECK(have_equal_gradients(blocks, whole));
}

TEST_CASE("Absent slots, integers and slots without gradient go through and get no gradient") {
  TorchStage stage{[](TorchBundle in) {
    in[0] = in[0].mul(in[2]);
    return in;
  }};
  const auto boundary = leaf({3}, 1);
  const auto integers = wave({3}, 2).mul(9).to(at::kLong);
  const auto outputs = stage.forward(first, {boundary, {}, integers, wave({3}, 4)});
  REQUIRE(outputs.size() == 4);
  CHECK(outputs[0].requires_grad());
  CHECK(!outputs[1].defined());
  CHECK(outputs[2].is_same(integers));
  CHECK(!outputs[3].requires_grad());
  const auto gradients = stage.backward(first, {wave({3}, 5), {}, {}, {}});
  REQUIRE(gradients.size() == 4);
  CHECK(gradients[0].equal(wave({3}, 5).mul(integers)));
  for (std::size_t slot = 1; slot < 4; ++slot) CHECK(!gradients[slot].defined());
}

TEST_CASE("An input that nothing depends on gets zeros, even if no output has a gradient") {
  TorchStage stage{[](const at::Tensor& used, const at::Tensor&) { return used.mul(2); }};
  stage.forward(first, {leaf({2}, 1), leaf({3}, 2)});
  const auto gradients = stage.backward(first, {wave({2}, 3)});
  CHECK(gradients[1].equal(wave({3}, 2).mul(0)));
  stage.forward(first, {wave({2}, 1), leaf({3}, 2)});
  CHECK(stage.backward(first, {{}})[1].equal(wave({3}, 2).mul(0)));
}

TEST_CASE("An input that is handed through gets the gradient that came for it") {
  TorchStage stage{[](const at::Tensor& x) { return std::tuple{x, x.mul(3)}; }};
  const auto outputs = stage.forward(first, {leaf({2}, 1)});
  CHECK(outputs[0].is_leaf());
  const auto gradients = stage.backward(first, {wave({2}, 2), wave({2}, 3)});
  CHECK(gradients[0].allclose(wave({2}, 2).add(wave({2}, 3).mul(3))));
}

TEST_CASE("Several micro-batches wait for their backward in slots of their own") {
  const auto block = make_blocks(1)[0];
  const auto whole = make_blocks(1)[0];
  TorchStage stage{block};
  stage.reserve(2);
  for (int index = 0; index < 2; ++index) stage.forward({index, 1 - index}, {wave({2, 3}, index)});
  for (int index = 0; index < 2; ++index) {
    stage.backward({index, 1 - index}, {wave({2, 4}, index + 5)});
    whole->forward(wave({2, 3}, index)).backward(wave({2, 4}, index + 5));
  }
  CHECK(have_equal_gradients({block}, {whole}));
}

TEST_CASE("The halves of a backward give what the whole one gives") {
  for (const bool wants_input_gradient : {true, false}) {
    const auto block = make_blocks(1)[0];
    const auto whole = make_blocks(1)[0];
    TorchStage stage{block};
    TorchStage expected{whole};
    const auto input = [&] { return wave({2, 3}, 1).set_requires_grad(wants_input_gradient); };
    stage.forward(first, {input()});
    expected.forward(first, {input()});
    const auto gradients = stage.backward_input(first, {wave({2, 4}, 2)});
    CHECK(!block->weight.grad().defined());
    const auto expected_gradients = expected.backward(first, {wave({2, 4}, 2)});
    CHECK(gradients[0].defined() == wants_input_gradient);
    if (wants_input_gradient) CHECK(gradients[0].equal(expected_gradients[0]));
    stage.backward_weight(first);
    CHECK(have_equal_gradients({block}, {whole}));
  }
}

TEST_CASE("More gradients than outputs are refused") {
  TorchStage stage{[](const at::Tensor& x) { return x.mul(2); }};
  stage.forward(first, {leaf({2}, 1)});
  CHECK_THROWS_WITH_AS(stage.backward(first, {wave({2}, 2), wave({2}, 3)}),
                       "2 gradients came back for 1 outputs; give one for each output", Error);
}

TEST_CASE("A stage says once when its gradients are complete") {
  int calls = 0;
  TorchStage stage{[](at::Tensor x) { return x; }, [&] { ++calls; }};
  stage.finish();
  CHECK(calls == 1);
}

TEST_CASE("After a failure a stage keeps nothing") {
  const auto input = leaf({2}, 1);
  TorchStage stage{[](const at::Tensor& x) { return x.mul(2); }};
  stage.forward(first, {input});
  CHECK(input.use_count() > 1);
  stage.abandon();
  CHECK(input.use_count() == 1);
}
