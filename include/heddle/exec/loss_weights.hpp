#pragma once

#include <concepts>
#include <string>

#include <heddle/core/error.hpp>
#include <heddle/exec/loss.hpp>
#include <heddle/exec/options.hpp>

namespace heddle::detail {

/// What the loss of each micro-batch weighs in the loss of the batch.
template <class Function, class Count>
class LossWeights {
 public:
  LossWeights(Loss<Function, Count>& loss, int micro_batches, double gradient_scale)
      : loss_{loss}, gradient_scale_{gradient_scale} {
    if (loss.combination == LossCombination::mean) denominator_ = micro_batches;
  }

  bool needs_total() const { return loss_.combination == LossCombination::weighted; }

  /// Requires, where a total is needed: it is what all counts add up to.
  void set_total(double total) {
    if (!(total > 0)) {
      throw Error("weighted_loss: the counts add up to " + std::to_string(total) +
                  "; a batch must count for more than 0");
    }
    denominator_ = total;
  }

  template <class Bundle>
  double count(const Bundle& targets) const {
    if constexpr (std::same_as<Count, NoCount>) {
      return 1;
    } else {
      return needs_total() ? static_cast<double>(loss_.count(targets)) : 1;
    }
  }

  double gradient_scale() const { return gradient_scale_; }

  template <class Bundle>
  double weight(const Bundle& targets) const {
    return count(targets) / denominator_;
  }

 private:
  Loss<Function, Count>& loss_;
  double denominator_ = 1;
  double gradient_scale_;
};

}  // namespace heddle::detail
