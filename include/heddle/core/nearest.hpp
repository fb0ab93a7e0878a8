#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle {

/// How many letters must be added, taken away or replaced to make `to` of `from`.
inline std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      const std::size_t one_longer = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      diagonal = std::exchange(row[j], replaced < one_longer ? replaced : one_longer);
    }
  }
  return row.back();
}

/// The name that is most like `name`, for an error to ask whether it was meant.
///
/// Requires: `names` is not empty.
template <class Names>
std::string_view nearest_name(std::string_view name, const Names& names) {
  std::string_view nearest = *names.begin();
  for (const std::string_view known : names) {
    if (edit_distance(name, known) < edit_distance(name, nearest)) nearest = known;
  }
  return nearest;
}

}  // namespace heddle
