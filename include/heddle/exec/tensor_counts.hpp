#pragma once

#include <concepts>
#include <cstddef>
#include <string>

#include <heddle/core/error.hpp>
#include <heddle/core/step.hpp>
#include <heddle/core/step_names.hpp>

namespace heddle {

/// A bundle that says how many tensors it holds.
template <class Bundle>
concept has_size = requires(const Bundle& bundle) {
  { bundle.size() } -> std::convertible_to<std::size_t>;
};

namespace detail {

/// How many tensors go into a stage and come out of it; what the first micro-batch had, all others
/// must have.
class TensorCounts {
 public:
  template <class Bundle>
  void see_inputs(const Bundle& bundle) {
    if constexpr (has_size<Bundle>) inputs_ = static_cast<std::ptrdiff_t>(bundle.size());
  }

  template <class Bundle>
  void check_outputs(const Bundle& bundle, Step step) {
    if constexpr (has_size<Bundle>) {
      const auto count = static_cast<std::ptrdiff_t>(bundle.size());
      if (outputs_ < 0) outputs_ = count;
      if (count != outputs_) refuse(step, count, outputs_, "as for its first micro-batch");
    }
  }

  template <class Bundle>
  void check_gradients(const Bundle& bundle, Step step) const {
    if constexpr (has_size<Bundle>) {
      const auto count = static_cast<std::ptrdiff_t>(bundle.size());
      if (count != inputs_) refuse(step, count, inputs_, "one for each input");
    }
  }

 private:
  [[noreturn]] static void refuse(Step step, std::ptrdiff_t count, std::ptrdiff_t expected,
                                  const std::string& why) {
    throw Error("stage " + std::to_string(step.stage) + " returned " + std::to_string(count) +
                " tensors from the " + words_of(step.kind) + " of micro-batch " +
                std::to_string(step.micro_batch) + "; it must return " + std::to_string(expected) +
                ", " + why);
  }

  std::ptrdiff_t inputs_ = -1;
  std::ptrdiff_t outputs_ = -1;
};

}  // namespace detail

}  // namespace heddle
