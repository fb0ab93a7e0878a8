#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <heddle/core/number.hpp>
#include <heddle/core/step.hpp>
#include <heddle/core/timeline.hpp>

namespace heddle::detail {

/// What a picture tells apart by colour.
enum class Look : std::uint8_t {
  forward,
  backward,
  input_half,
  weight_half,
  tower,
  transfer,
  other
};

inline constexpr std::size_t looks = 7;

constexpr std::string_view name_of(Look look) {
  constexpr std::array<std::string_view, looks> names{
      "forward", "backward", "input half", "weight half", "tower", "transfer", "other"};
  return names[static_cast<std::size_t>(look)];
}

constexpr Look look_of(StepKind kind) {
  using enum StepKind;
  if (kind == forward) return Look::forward;
  if (kind == backward) return Look::backward;
  if (kind == backward_input) return Look::input_half;
  if (kind == backward_weight) return Look::weight_half;
  if (kind == tower_forward || kind == tower_backward || kind == receive_and_tower_backward)
    return Look::tower;
  if (is_transfer(kind)) return Look::transfer;
  return Look::other;
}

/// Work that a rank is there for, as opposed to moving data and waiting for it.
constexpr bool is_work(Look look) { return look < Look::transfer; }

/// The part of all ranks' time that is work, 0 .. 1.
inline double busy_part(const Timeline& timeline) {
  double work = 0;
  for (const auto& spans : timeline.ranks) {
    for (const auto& span : spans) {
      if (is_work(look_of(span.step.kind))) work += span.end - span.begin;
    }
  }
  const double whole = timeline.makespan() * static_cast<double>(timeline.ranks.size());
  return whole > 0 ? work / whole : 0;
}

/// `12.5 chunk forwards, 84 % busy`.
inline std::string summary_of(const Timeline& timeline) {
  return number_text(timeline.makespan(), 4) + " " + timeline.unit + ", " +
         number_text(100 * busy_part(timeline), 0) + " % busy";
}

/// The stages whose work stands in `spans`, ascending: a picture shades by the place in this list.
inline std::vector<int> stages_in(const std::vector<TimelineSpan>& spans) {
  std::vector<int> stages;
  for (const auto& span : spans) {
    if (is_compute(span.step.kind)) stages.push_back(span.step.stage);
  }
  std::sort(stages.begin(), stages.end());
  stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
  return stages;
}

}  // namespace heddle::detail
