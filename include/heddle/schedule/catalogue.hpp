#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <heddle/core/error.hpp>
#include <heddle/schedule/gpipe.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/one_f_one_b.hpp>

namespace heddle {

/// The names that `with_schedule` knows, as they are written in a configuration.
inline constexpr std::array schedule_names{GPipe::name, OneFOneB::name, Interleaved1F1B::name};

/// The options of those schedules that have some.
struct ScheduleOptions {
  InterleavedOptions interleaved{};

  friend constexpr bool operator==(const ScheduleOptions&, const ScheduleOptions&) = default;
};

namespace detail {

/// How many letters must change to make `to` of `from`.
inline std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row;
  for (std::size_t j = 0; j <= to.size(); ++j) row.push_back(j);
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      const std::size_t shorter = row[j] < row[j - 1] ? row[j] : row[j - 1];
      diagonal = std::exchange(row[j], replaced <= shorter ? replaced : shorter + 1);
    }
  }
  return row.back();
}

/// The known name that is most like `name`.
inline std::string_view nearest_schedule_name(std::string_view name) {
  std::string_view nearest = schedule_names[0];
  for (const auto known : schedule_names) {
    if (edit_distance(name, known) < edit_distance(name, nearest)) nearest = known;
  }
  return nearest;
}

inline Error unknown_schedule(std::string_view name) {
  std::string known;
  for (const auto schedule_name : schedule_names) {
    if (!known.empty()) known += ", ";
    known += schedule_name;
  }
  return Error{"no schedule is named '" + std::string{name} + "', did you mean '" +
               std::string{nearest_schedule_name(name)} + "'? Known are: " + known};
}

template <class Interleaved, class Function>
decltype(auto) with_named(std::string_view name, Interleaved interleaved, Function& function) {
  if (name == GPipe::name) return function(GPipe{});
  if (name == OneFOneB::name) return function(OneFOneB{});
  if (name == Interleaved::name) return function(interleaved);
  throw unknown_schedule(name);
}

}  // namespace detail

/// Calls `function` with the schedule of this name: from a configuration to a type.
///
/// Requires: `function` returns the same type for every schedule.
///
/// Errors: Error with the known names and the nearest one.
///
/// Example: `with_schedule("1f1b", [&](auto schedule) { return exec_order(schedule, shape); })`
template <class Function>
decltype(auto) with_schedule(std::string_view name, Function&& function) {
  return detail::with_named(name, Interleaved1F1B{}, function);
}

/// The same with options from a configuration; Interleaved 1F1B is a `RuntimeInterleaved1F1B` then.
template <class Function>
decltype(auto) with_schedule(std::string_view name, const ScheduleOptions& options,
                             Function&& function) {
  return detail::with_named(name, RuntimeInterleaved1F1B{options.interleaved}, function);
}

}  // namespace heddle
