#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include <heddle/exec/batch.hpp>
#include <heddle/exec/bundle.hpp>

namespace heddle {

/// What a loader gives for one micro-batch: what the first stage takes, and the data that travel
/// along the stages beside the activations, for the stages that look at them (`has_load`) and as
/// targets for the loss.
template <bundle Bundle>
struct LoadedMicroBatch {
  Bundle inputs;
  Bundle targets;
};

namespace detail {

struct NoValue {};

template <class Bundle>
struct ValueOf {
  using type = NoValue;
};
template <splittable_bundle Bundle>
struct ValueOf<Bundle> {
  using type = typename Bundle::Value;
};

/// All inputs, or all targets, of a run.
template <class Bundle>
using Batch = std::vector<BatchInput<typename ValueOf<Bundle>::type>>;

/// Where a run that trains gets its inputs and targets if the caller has the whole batch.
template <bundle Bundle>
struct BatchSource {
  static constexpr bool evaluates = false;
  static constexpr bool loads = false;

  const Batch<Bundle>& batch_inputs;
  const Batch<Bundle>& batch_targets;
  int micro_batches;

  Bundle inputs(int micro_batch) const {
    return pieces_of<Bundle>(batch_inputs, micro_batch, micro_batches);
  }
  Bundle targets(int micro_batch) const {
    return pieces_of<Bundle>(batch_targets, micro_batch, micro_batches);
  }
};

/// The same for an evaluation, with a place for what the last stage gives.
template <bundle Bundle>
struct EvaluationSource {
  static constexpr bool evaluates = true;
  static constexpr bool loads = false;

  const Batch<Bundle>& batch_inputs;
  int micro_batches;
  std::vector<Bundle> outputs{};

  Bundle inputs(int micro_batch) const {
    return pieces_of<Bundle>(batch_inputs, micro_batch, micro_batches);
  }
};

/// Where a run that trains gets its inputs and targets if the order has data steps.
template <class Loader>
struct LoaderSource {
  static constexpr bool evaluates = false;
  static constexpr bool loads = true;

  Loader& loader;
};

}  // namespace detail

}  // namespace heddle
