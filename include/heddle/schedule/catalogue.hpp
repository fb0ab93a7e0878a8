#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include <heddle/core/error.hpp>
#include <heddle/core/nearest.hpp>
#include <heddle/schedule/gpipe.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/mpipe_options.hpp>
#include <heddle/schedule/mpipe_transpose.hpp>
#include <heddle/schedule/one_f_one_b.hpp>

namespace heddle {

/// The names that `with_schedule` knows, as they are written in a configuration.
inline constexpr std::array schedule_names{GPipe::name, OneFOneB::name, Interleaved1F1B::name,
                                           RuntimeMPipeTranspose<>::name};

/// Those of them that have no body: what `MPipeTranspose` can be put around.
inline constexpr std::array body_names{GPipe::name, OneFOneB::name, Interleaved1F1B::name};

/// The options of those schedules that have some.
struct ScheduleOptions {
  InterleavedOptions interleaved{};
  MPipeOptions mpipe{};
  std::string_view body = Interleaved1F1B::name;  ///< that MPipe is put around

  friend constexpr bool operator==(const ScheduleOptions&, const ScheduleOptions&) = default;
};

namespace detail {

inline Error unknown_name(std::string_view kind, std::string_view name,
                          std::span<const std::string_view> names) {
  std::string known;
  for (const auto schedule_name : names) {
    if (!known.empty()) known += ", ";
    known += schedule_name;
  }
  return Error{"no " + std::string{kind} + " is named '" + std::string{name} + "', did you mean '" +
               std::string{nearest_name(name, names)} + "'? Known are: " + known};
}

/// Calls `function` with the schedule of this name if it is one of `body_names`, else `otherwise`.
template <class Interleaved, class Function, class Otherwise>
decltype(auto) with_body(std::string_view name, Interleaved interleaved, Function& function,
                         Otherwise otherwise) {
  if (name == GPipe::name) return function(GPipe{});
  if (name == OneFOneB::name) return function(OneFOneB{});
  if (name == Interleaved::name) return function(interleaved);
  return otherwise();
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
  using MPipe = MPipeTranspose<OverflowMode::full>;
  return detail::with_body(name, Interleaved1F1B{}, function, [&]() -> decltype(auto) {
    if (name == MPipe::name) return function(MPipe{});
    throw detail::unknown_name("schedule", name, schedule_names);
  });
}

/// The same with options from a configuration; Interleaved 1F1B is a `RuntimeInterleaved1F1B` then
/// and MPipe Transpose a `RuntimeMPipeTranspose` of its body.
///
/// Errors: Error for options that contradict each other, too.
template <class Function>
decltype(auto) with_schedule(std::string_view name, const ScheduleOptions& options,
                             Function&& function) {
  const RuntimeInterleaved1F1B interleaved{options.interleaved};
  auto transposed = [&](auto body) -> decltype(auto) {
    return function(RuntimeMPipeTranspose<decltype(body)>{options.mpipe, body});
  };
  return detail::with_body(name, interleaved, function, [&]() -> decltype(auto) {
    if (name != RuntimeMPipeTranspose<>::name)
      throw detail::unknown_name("schedule", name, schedule_names);
    return detail::with_body(options.body, interleaved, transposed,
                             [&]() -> decltype(transposed(interleaved)) {
                               throw detail::unknown_name("body", options.body, body_names);
                             });
  });
}

}  // namespace heddle
