#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <heddle/core/number.hpp>
#include <heddle/core/order.hpp>
#include <heddle/plan/costs.hpp>
#include <heddle/plan/simulation.hpp>
#include <heddle/verify/memory.hpp>
#include <heddle/verify/slots.hpp>

namespace heddle {

/// What an order costs in time and in memory, per rank.
struct Plan : Simulation {
  std::vector<int> peak;   ///< most chunks (a stage and a micro-batch) that wait for their backward
  std::vector<int> slots;  ///< places that hold the saved state of a chunk
  std::vector<int> features;  ///< most features of a tower; empty if there is none
};

/// Runs `order` on a clock and counts what it keeps.
///
/// Requires: a lowered order that `verify` accepts.
/// Complexity: linear in steps.
/// Errors: Error for costs that cannot be, and for an order that does not complete.
inline Plan make_plan(OrderView order, const Costs& costs = {},
                      Receives receives = Receives::async) {
  Plan plan{simulate(order, costs, receives), {}, {}, {}};
  const auto runs_tower = [](Step step) { return step.kind == StepKind::tower_forward; };
  const bool has_tower = std::ranges::any_of(order.steps, runs_tower);
  std::vector<int> slots;
  for (int rank = 0; rank < order.ranks(); ++rank) {
    const RankMemory memory = peak_memory(order, rank);
    plan.peak.push_back(memory.activations);
    if (has_tower) plan.features.push_back(memory.features);
    slots.resize(order.rank(rank).size());
    plan.slots.push_back(assign_slots(order, rank, slots));
  }
  return plan;
}

namespace detail {

inline void append_json_number(std::string& out, double value) { append_number(out, value, 9); }
inline void append_json_number(std::string& out, int value) { out += std::to_string(value); }

template <class Number>
void append_json_list(std::string& out, std::string_view name, const std::vector<Number>& numbers) {
  out += ", \"";
  out += name;
  out += "\": [";
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    if (index > 0) out += ", ";
    append_json_number(out, numbers[index]);
  }
  out += ']';
}

/// Appends the members of the object that `plan_json` writes.
inline void append_plan_members(std::string& out, const Plan& plan) {
  out += "\"makespan\": ";
  append_json_number(out, plan.makespan);
  append_json_list(out, "bubble", plan.bubble);
  append_json_list(out, "peak", plan.peak);
  append_json_list(out, "slots", plan.slots);
  append_json_list(out, "messages", plan.messages);
  if (!plan.features.empty()) append_json_list(out, "features", plan.features);
}

}  // namespace detail

/// The numbers of `plan` as a JSON object: `makespan`, and a list by rank for `bubble`, `peak`,
/// `slots`, `messages` and, where there is a tower, `features`.
inline std::string plan_json(const Plan& plan) {
  std::string out = "{";
  detail::append_plan_members(out, plan);
  return out + "}\n";
}

}  // namespace heddle
