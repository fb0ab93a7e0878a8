#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <heddle/core/order.hpp>
#include <heddle/core/step.hpp>
#include <heddle/schedule/alignment.hpp>
#include <heddle/schedule/lowering.hpp>
#include <heddle/schedule/schedule.hpp>

namespace heddle {

namespace detail {

/// Places the transfers of `policy` by its own hand if it has one, else as its columns stand if
/// they are a timetable, else by aligning them.
template <schedule Schedule, class Emit>
constexpr void lower_with(const Schedule& policy, OrderView columns, DataSteps data, Emit emit) {
  if constexpr (has_lower<Schedule>) {
    policy.lower(columns, data, emit);
  } else if (is_timetable(columns)) {
    lower_by_columns(columns, data, emit);
  } else {
    lower_by_alignment(columns, data, emit);
  }
}

/// Whether an order holds `step`; idle columns and the backward of frozen stages it does not.
constexpr bool is_kept(Step step, int first_trained_stage) {
  return step.kind != StepKind::idle &&
         (first_trained_stage == 0 || !is_frozen(step, first_trained_stage));
}

/// Counts what a lowering places, as the offsets of an order.
template <class Lower>
constexpr void count_steps(PipelineShape shape, std::span<int> offsets, Lower lower) {
  int* const counts = offsets.data() + 1;
  const int first_trained = shape.first_trained_stage;
  lower([=](int rank, Step step) {
    if (is_kept(step, first_trained)) ++counts[rank];
  });
  for (std::size_t rank = 1; rank < offsets.size(); ++rank) offsets[rank] += offsets[rank - 1];
}

/// Writes what a lowering places. `offsets` are moved behind the steps of their rank.
template <class Lower>
constexpr void write_steps(PipelineShape shape, std::span<int> offsets, std::span<Step> steps,
                           Lower lower) {
  int* const next = offsets.data();
  Step* const list = steps.data();
  const int first_trained = shape.first_trained_stage;
  lower([=](int rank, Step step) {
    if (is_kept(step, first_trained)) list[next[rank]++] = step;
  });
}

/// A policy without a lowering of its own.
struct NoPolicy {
  static constexpr std::span<const Step> columns(PipelineShape /*shape*/, int /*rank*/) {
    return {};
  }
};

template <schedule Schedule>
Order lower_to_order(const Schedule& policy, OrderView columns, DataSteps data) {
  const auto lower = [&](auto emit) { lower_with(policy, columns, data, emit); };
  Order order;
  order.shape = columns.shape;
  order.rank_of_stage.assign(columns.rank_of_stage.begin(), columns.rank_of_stage.end());
  order.owner_of_micro_batch.assign(columns.owner_of_micro_batch.begin(),
                                    columns.owner_of_micro_batch.end());
  order.offsets.assign(static_cast<std::size_t>(columns.ranks()) + 1, 0);
  count_steps(order.shape, order.offsets, lower);
  order.steps.resize(static_cast<std::size_t>(order.offsets.back()));
  std::vector<int> next = order.offsets;
  write_steps(order.shape, next, order.steps, lower);
  return order;
}

}  // namespace detail

/// Adds the transfers to a compute order of any origin.
///
/// As its columns stand if every producer stands in an earlier column than its consumer, else by
/// aligning the ranks; the idle columns do not matter then. An order that cannot complete is
/// lowered all the same, for the laws of an order to say why it cannot.
///
/// Requires: a possible shape, and in `rank_of_stage` one of its ranks for each stage.
///
/// Complexity: linear in the columns, those that alignment leaves empty included.
inline Order lower(OrderView compute_order, DataSteps data = DataSteps::none) {
  return detail::lower_to_order(detail::NoPolicy{}, compute_order, data);
}

}  // namespace heddle
