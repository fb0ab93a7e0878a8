#pragma once

#include <heddle/core/order.hpp>
#include <heddle/core/placement.hpp>
#include <heddle/core/shape.hpp>
#include <heddle/core/step.hpp>
#include <heddle/schedule/lower.hpp>
#include <heddle/schedule/order_tables.hpp>
#include <heddle/schedule/schedule.hpp>

namespace heddle {

/// What every rank computes, column by column, without transfers; idle columns included.
///
/// Errors: ShapeError if `policy` cannot have `shape`.
template <schedule Schedule>
Order compute_order(const Schedule& policy, PipelineShape shape) {
  if (const auto fault = shape_fault(policy, shape)) throw ShapeError(*fault, name_of(policy));
  Order order;
  order.shape = shape;
  order.rank_of_stage = ranks_of_stages(placement_of(policy), shape);
  if constexpr (has_owners<Schedule>) order.owner_of_micro_batch = policy.owners(shape);
  order.offsets.push_back(0);
  for (int rank = 0; rank < shape.ranks; ++rank) {
    detail::visit_columns(policy, shape, rank, [&](Step step) { order.steps.push_back(step); });
    order.offsets.push_back(static_cast<int>(order.steps.size()));
  }
  return order;
}

/// The order that every rank executes.
///
/// Complexity: linear in its columns.
///
/// Errors: ShapeError if `policy` cannot have `shape`.
template <schedule Schedule>
Order exec_order(const Schedule& policy, PipelineShape shape, DataSteps data = DataSteps::none) {
  return detail::lower_to_order(policy, compute_order(policy, shape), data);
}

/// `compute_order` of a shape that is known at compile time: a table of static storage.
template <schedule Schedule, PipelineShape shape>
constexpr const auto& compute_order() {
  if constexpr (detail::has_possible_shape<Schedule, shape>()) {
    return detail::columns_table<Schedule, shape>;
  } else {
    return detail::no_order;
  }
}

/// `exec_order` of a shape that is known at compile time: a table of static storage.
///
/// Errors: a shape that the schedule cannot have does not compile; the message names the field.
template <schedule Schedule, PipelineShape shape, DataSteps Data = DataSteps::none>
constexpr const auto& exec_order() {
  if constexpr (detail::has_possible_shape<Schedule, shape>()) {
    return detail::steps_table<Schedule, shape, Data>;
  } else {
    return detail::no_order;
  }
}

}  // namespace heddle
