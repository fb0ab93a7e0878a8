#pragma once

#include <concepts>
#include <utility>

#include <heddle/exec/bundle.hpp>
#include <heddle/exec/micro_batch.hpp>

namespace heddle {

// The atoms of the concept, each one call that a stage can answer.

template <class Stage, class Bundle>
concept has_forward = requires(Stage& stage, MicroBatch micro_batch, Bundle inputs) {
  { stage.forward(micro_batch, std::move(inputs)) } -> std::convertible_to<Bundle>;
};

template <class Stage, class Bundle>
concept has_backward = requires(Stage& stage, MicroBatch micro_batch, Bundle output_gradients) {
  { stage.backward(micro_batch, std::move(output_gradients)) } -> std::convertible_to<Bundle>;
};

/// One stage of a model: a forward, and the backward that belongs to it.
///
/// **Semantics.** `forward` is called at most once for a micro-batch of a run. If
/// `micro_batch.trains()`, it keeps under `micro_batch.slot` what `backward` will need, and one
/// `backward` with the same micro-batch follows before the slot is used again; it gets a gradient
/// for each output, adds to the gradients of the stage's parameters and returns a gradient for each
/// input (empty for inputs that want none, all empty on stage 0). Backwards of a stage come in
/// ascending micro-batch order, so that sums are the same under every schedule. Calls come from one
/// thread.
template <class Stage, class Bundle>
concept stage_for = bundle<Bundle> && std::movable<Stage> && has_forward<Stage, Bundle> &&
                    has_backward<Stage, Bundle>;

/// Refinement for the last stage: computes the loss of what its forward gives.
///
/// **Semantics.** `forward_loss` is `forward` followed by `loss(outputs, targets)` in whatever way
/// stage and loss function have agreed upon. It returns a number that converts to `double` when
/// asked, which happens after the last step of the run, so that a device need not be waited for.
/// `Loss` is the user's function itself, as `mean_loss` and its like were given it.
/// The gradient that the following `backward` (called with an empty bundle) starts from is `scale`
/// times that of the returned loss.
template <class Stage, class Bundle, class Loss>
concept has_forward_loss = requires(Stage& stage, MicroBatch micro_batch, Bundle inputs,
                                    const Bundle& targets, Loss& loss, double scale) {
  { static_cast<double>(stage.forward_loss(micro_batch, std::move(inputs), targets, loss, scale)) };
};

/// Refinement: the backward in two halves, so that the weight half can wait.
///
/// **Semantics.** `backward_input` returns the input gradients and keeps under the slot what
/// `backward_weight`, called later with the same micro-batch, needs to add to the parameters'
/// gradients.
template <class Stage, class Bundle>
concept has_split_backward =
    requires(Stage& stage, MicroBatch micro_batch, Bundle output_gradients) {
      {
        stage.backward_input(micro_batch, std::move(output_gradients))
      } -> std::convertible_to<Bundle>;
      stage.backward_weight(micro_batch);
    };

/// Refinement: is told once, before the first run, how many slots there are.
template <class Stage>
concept has_reserve = requires(Stage& stage, int slots) { stage.reserve(slots); };

/// Refinement: is shown the data that travel with a micro-batch, before its forward, in orders with
/// data steps.
template <class Stage, class Bundle>
concept has_load = requires(Stage& stage, MicroBatch micro_batch, const Bundle& data) {
  stage.load(micro_batch, data);
};

/// Refinement: is told when its gradients of this run are complete, while other stages still
/// compute; the place to start a data-parallel reduction.
template <class Stage>
concept has_finish = requires(Stage& stage) { stage.finish(); };

/// Refinement: says at the end of a run whether something is wrong that all ranks must know, such
/// as a gradient that is not finite. All ranks get the same answer in the run's result.
template <class Stage>
concept has_flag = requires(Stage& stage) {
  { stage.flag() } -> std::convertible_to<bool>;
};

/// Refinement: drops all that it keeps for micro-batches, after a run that failed.
template <class Stage>
concept has_abandon = requires(Stage& stage) { stage.abandon(); };

}  // namespace heddle
