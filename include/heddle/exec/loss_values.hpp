#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <heddle/core/step.hpp>

namespace heddle::detail {

/// The losses of the micro-batches of a run, as the last stage gave them; perhaps still on a
/// device.
template <class Value>
class LossValues {
 public:
  void reserve(int micro_batches) { losses_.resize(static_cast<std::size_t>(micro_batches)); }
  void clear() {
    for (Loss& loss : losses_) loss.value.reset();
  }
  bool any() const { return !losses_.empty(); }

  void put(Step step, double weight, Value value) {
    losses_[static_cast<std::size_t>(step.micro_batch)] = {step, weight, std::move(value)};
  }

  /// What they add up to, by ascending micro-batch; they are forgotten. `at` follows, for errors
  /// that surface here.
  double sum(Step& at) {
    double sum = 0;
    for (Loss& loss : losses_) {
      at = loss.step;
      sum += loss.weight * static_cast<double>(*loss.value);
      loss.value.reset();
    }
    return sum;
  }

 private:
  struct Loss {
    Step step{};
    double weight = 0;
    std::optional<Value> value{};
  };

  std::vector<Loss> losses_;
};

}  // namespace heddle::detail
