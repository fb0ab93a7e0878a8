#pragma once

#include <string>
#include <string_view>

#include <heddle/core/number.hpp>
#include <heddle/plan/costs.hpp>
#include <heddle/schedule/mpipe_options.hpp>

namespace heddle {

/// What the same model costs with its tower left inside the first stage, for an order of the body
/// alone: what transposing the tower has to beat.
constexpr Costs with_tower_in_first_stage(Costs costs, Tower tower) {
  costs.first_stage_forward += costs.tower_forward;
  if (tower == Tower::trainable) costs.first_stage_backward += costs.tower_backward;
  return costs;
}

/// Whether transposing pays, a line: `mpipe takes 39, interleaved_1f1b with the tower in stage 0
/// takes 48: transposing pays (1.231 times as fast)`.
inline std::string transposition_verdict(std::string_view name, double transposed,
                                         std::string_view body, double in_first_stage) {
  std::string line = std::string{name} + " takes " + detail::number_text(transposed, 3) + ", " +
                     std::string{body} + " with the tower in stage 0 takes " +
                     detail::number_text(in_first_stage, 3) + ": transposing ";
  if (transposed < in_first_stage) {
    line += "pays (" + detail::number_text(in_first_stage / transposed, 3) + " times as fast)";
  } else {
    line += "does not pay";
  }
  return line + '\n';
}

}  // namespace heddle
