#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <heddle/core/error.hpp>
#include <heddle/exec/bundle.hpp>

namespace heddle {

/// A bundle that can be filled with pieces of a batch.
///
/// **Semantics.** `length` is the size of a value along a dimension, `narrow` the part `[begin,
/// begin + length)` of it (a view, where the tensor library has views), `append` adds a value
/// behind those that the bundle has.
template <class Bundle>
concept splittable_bundle =
    bundle<Bundle> && requires(Bundle& bundle, const typename Bundle::Value& value, int dimension,
                               std::int64_t number) {
      { Bundle::length(value, dimension) } -> std::convertible_to<std::int64_t>;
      {
        Bundle::narrow(value, dimension, number, number)
      } -> std::convertible_to<typename Bundle::Value>;
      bundle.append(typename Bundle::Value(value));
    };

/// How the micro-batches are cut from one tensor of a batch. Made by `split`, `split_by` and
/// `replicate`.
template <class Value>
struct SplitRule {
  enum class Kind : std::uint8_t { equal, sized, whole, own };
  using Function = std::function<Value(const Value& value, int micro_batch, int micro_batches)>;

  Kind kind = Kind::equal;
  int dimension = 0;
  std::vector<std::int64_t> sizes;  ///< sized: the length of each micro-batch
  Function function;                ///< own
};

/// A tensor of a batch together with its rule. A bare tensor does not convert to it, so that none
/// is cut by a rule that nobody chose.
template <class Value>
class BatchInput {
 public:
  BatchInput(Value value, SplitRule<Value> rule)
      : value_{std::move(value)}, rule_{std::move(rule)} {}

  const Value& value() const { return value_; }
  const SplitRule<Value>& rule() const { return rule_; }

 private:
  Value value_;
  SplitRule<Value> rule_;
};

/// Equal parts along `dimension`, one a micro-batch.
template <class Value>
BatchInput<Value> split(Value value, int dimension = 0) {
  return {std::move(value), {SplitRule<Value>::Kind::equal, dimension, {}, {}}};
}

/// Parts of the given sizes along `dimension`: `split(tokens, 0, {7, 5})`.
template <class Value>
BatchInput<Value> split(Value value, int dimension, std::vector<std::int64_t> sizes) {
  return {std::move(value), {SplitRule<Value>::Kind::sized, dimension, std::move(sizes), {}}};
}

/// The whole tensor for every micro-batch.
template <class Value>
BatchInput<Value> replicate(Value value) {
  return {std::move(value), {SplitRule<Value>::Kind::whole, 0, {}, {}}};
}

/// What `rule(value, micro_batch, micro_batches)` returns.
template <class Value, class Rule>
BatchInput<Value> split_by(Value value, Rule rule) {
  return {std::move(value), {SplitRule<Value>::Kind::own, 0, {}, std::move(rule)}};
}

namespace detail {

/// Sizes that come as near to equal as they can, to show how they are written.
inline std::string nearly_equal_sizes(std::int64_t length, int micro_batches) {
  std::string text = "{";
  for (int index = 0; index < micro_batches; ++index) {
    if (index > 0) text += ", ";
    text += std::to_string(length / micro_batches + (index < length % micro_batches ? 1 : 0));
  }
  return text + "}";
}

/// What is wrong with a cut of `length` elements into `micro_batches` parts; empty if nothing is.
template <class Value>
std::string split_fault(const SplitRule<Value>& rule, std::int64_t length, int micro_batches) {
  const auto along = " along dimension " + std::to_string(rule.dimension);
  const auto parts = std::to_string(micro_batches) + " micro-batches";
  if (rule.kind == SplitRule<Value>::Kind::equal) {
    if (length % micro_batches == 0) return {};
    return std::to_string(length) + " rows" + along + " do not divide by " + parts +
           "; give the sizes, e.g. split(x, " + std::to_string(rule.dimension) + ", " +
           nearly_equal_sizes(length, micro_batches) + ")";
  }
  if (rule.sizes.size() != static_cast<std::size_t>(micro_batches)) {
    return std::to_string(rule.sizes.size()) + " sizes are given for " + parts;
  }
  if (std::ranges::any_of(rule.sizes, [](std::int64_t size) { return size < 0; })) {
    return "a size is negative; sizes are at least 0";
  }
  const auto sum = std::accumulate(rule.sizes.begin(), rule.sizes.end(), std::int64_t{0});
  if (sum == length) return {};
  return "the sizes add up to " + std::to_string(sum) + ", but there are " +
         std::to_string(length) + " rows" + along;
}

/// Refuses a batch that cannot be cut into `micro_batches`. `what` is "input" or "target".
template <splittable_bundle Bundle>
void check_batch(const std::vector<BatchInput<typename Bundle::Value>>& batch, int micro_batches,
                 const std::string& what) {
  using Kind = typename SplitRule<typename Bundle::Value>::Kind;
  for (std::size_t index = 0; index < batch.size(); ++index) {
    const auto& rule = batch[index].rule();
    if (rule.kind == Kind::whole || rule.kind == Kind::own) continue;
    const std::int64_t length = Bundle::length(batch[index].value(), rule.dimension);
    const auto fault = split_fault(rule, length, micro_batches);
    if (!fault.empty()) throw Error(what + " " + std::to_string(index) + ": " + fault);
  }
}

/// Whether some tensor is cut into parts of different sizes.
template <class Value>
bool has_unequal_sizes(const std::vector<BatchInput<Value>>& batch) {
  return std::ranges::any_of(batch, [](const BatchInput<Value>& input) {
    const auto& sizes = input.rule().sizes;
    return std::ranges::adjacent_find(sizes, std::ranges::not_equal_to{}) != sizes.end();
  });
}

/// The part of `input` that belongs to `micro_batch`. Requires: `check_batch` accepts it.
template <splittable_bundle Bundle>
typename Bundle::Value piece_of(const BatchInput<typename Bundle::Value>& input, int micro_batch,
                                int micro_batches) {
  using Kind = typename SplitRule<typename Bundle::Value>::Kind;
  const auto& rule = input.rule();
  switch (rule.kind) {
    case Kind::whole: return input.value();
    case Kind::own: return rule.function(input.value(), micro_batch, micro_batches);
    case Kind::equal: {
      const std::int64_t size = Bundle::length(input.value(), rule.dimension) / micro_batches;
      return Bundle::narrow(input.value(), rule.dimension, micro_batch * size, size);
    }
    case Kind::sized: {
      const auto end = rule.sizes.begin() + micro_batch;
      const auto begin = std::accumulate(rule.sizes.begin(), end, std::int64_t{0});
      return Bundle::narrow(input.value(), rule.dimension, begin, *end);
    }
  }
  return input.value();
}

/// The part of a whole batch that belongs to `micro_batch`.
template <splittable_bundle Bundle>
Bundle pieces_of(const std::vector<BatchInput<typename Bundle::Value>>& batch, int micro_batch,
                 int micro_batches) {
  Bundle pieces;
  for (const auto& input : batch) {
    pieces.append(piece_of<Bundle>(input, micro_batch, micro_batches));
  }
  return pieces;
}

}  // namespace detail

}  // namespace heddle
