#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

// docs: begin
/// What crosses from one stage to the next: a list of numbers. Models `heddle::splittable_bundle`.
struct Numbers {
  using Value = std::vector<double>;

  static std::int64_t length(const Value& value, int /*dimension*/) { return std::ssize(value); }
  static Value narrow(const Value& value, int /*dimension*/, std::int64_t begin,
                      std::int64_t length) {
    return {value.begin() + begin, value.begin() + begin + length};
  }
  void append(Value value) { values = std::move(value); }

  Value values;
};
// docs: end

/// The summed squares of the differences, and their gradient.
inline std::pair<double, Numbers> squared_error(Numbers y, const Numbers& targets) {
  double loss = 0;
  for (std::size_t at = 0; at < y.values.size(); ++at) {
    const double difference = y.values[at] - targets.values[at];
    loss += difference * difference;
    y.values[at] = 2 * difference;
  }
  return {loss, std::move(y)};
}
