#pragma once

#include <cstdint>
#include <utility>

namespace heddle {

/// How the losses of the micro-batches become the loss of the batch.
enum class LossCombination : std::uint8_t {
  mean,  ///< each micro-batch weighs 1 / M: right if all are of one size and the function is a mean
         ///< over it
  sum,   ///< each weighs 1
  weighted,  ///< each weighs its count / the total count: right for means over unequal
             ///< micro-batches
};

/// For combinations that need no count.
struct NoCount {};

/// A loss function of the last stage together with how its values are combined. Make one by
/// `mean_loss`, `sum_loss` or `weighted_loss`.
template <class Function, class Count = NoCount>
struct Loss {
  Function function;
  LossCombination combination = LossCombination::mean;
  Count count{};  ///< weighted: what a micro-batch's targets count for (rows, valid tokens), a
                  ///< `double`
};

template <class Function>
constexpr Loss<Function> mean_loss(Function function) {
  return {std::move(function), LossCombination::mean, {}};
}

template <class Function>
constexpr Loss<Function> sum_loss(Function function) {
  return {std::move(function), LossCombination::sum, {}};
}

/// `function` gives a micro-batch's mean, `count(targets)` over how many it was taken.
template <class Function, class Count>
constexpr Loss<Function, Count> weighted_loss(Function function, Count count) {
  return {std::move(function), LossCombination::weighted, std::move(count)};
}

}  // namespace heddle
