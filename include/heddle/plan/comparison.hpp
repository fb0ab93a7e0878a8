#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <heddle/core/number.hpp>
#include <heddle/plan/plan.hpp>

namespace heddle {

/// A plan among several, under the name of its schedule.
struct Candidate {
  std::string name;
  Plan plan;
};

namespace detail {

inline std::array<std::string, 6> comparison_row(const Candidate& candidate) {
  const Plan& plan = candidate.plan;
  const double bubble =
      plan.bubble.empty() ? 0 : *std::max_element(plan.bubble.begin(), plan.bubble.end());
  const int peak = plan.peak.empty() ? 0 : *std::max_element(plan.peak.begin(), plan.peak.end());
  const auto messages = std::accumulate(plan.messages.begin(), plan.messages.end(), 0LL);
  const double part = plan.makespan > 0 ? 100 * bubble / plan.makespan : 0;
  return {candidate.name,         number_text(plan.makespan, 3),
          number_text(bubble, 3), number_text(part, 1) + " %",
          std::to_string(peak),   std::to_string(messages)};
}

}  // namespace detail

/// `candidates` as a table, one a line in the order given: makespan, largest bubble of a rank and
/// its part of the makespan, largest peak of a rank, messages of all ranks.
inline std::string comparison_table(std::span<const Candidate> candidates) {
  std::vector<std::array<std::string, 6>> rows{
      {"schedule", "makespan", "bubble", "of makespan", "peak", "messages"}};
  for (const auto& candidate : candidates) rows.push_back(detail::comparison_row(candidate));
  std::array<std::size_t, 6> widths{};
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  std::string out;
  for (const auto& row : rows) {
    out += row[0] + std::string(widths[0] - row[0].size(), ' ');
    for (std::size_t column = 1; column < row.size(); ++column) {
      out += std::string(widths[column] - row[column].size() + 2, ' ') + row[column];
    }
    out += '\n';
  }
  return out;
}

/// `candidates` as a JSON list of what `plan_json` writes, each with its `schedule`.
///
/// Requires: names without quotes, backslashes and control characters.
inline std::string comparison_json(std::span<const Candidate> candidates) {
  std::string out = "[";
  for (const auto& candidate : candidates) {
    out += &candidate == candidates.data() ? "\n" : ",\n";
    out += R"(  {"schedule": ")" + candidate.name + "\", ";
    detail::append_plan_members(out, candidate.plan);
    out += '}';
  }
  return out + "\n]\n";
}

}  // namespace heddle
