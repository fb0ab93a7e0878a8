#pragma once

#include <array>
#include <string>
#include <string_view>

#include <heddle/core/error.hpp>
#include <heddle/core/nearest.hpp>
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

inline Error unknown_schedule(std::string_view name) {
  std::string known;
  for (const auto schedule_name : schedule_names) {
    if (!known.empty()) known += ", ";
    known += schedule_name;
  }
  return Error{"no schedule is named '" + std::string{name} + "', did you mean '" +
               std::string{nearest_name(name, schedule_names)} + "'? Known are: " + known};
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
