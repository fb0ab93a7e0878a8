#pragma once

#include <array>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <heddle/core/order.hpp>
#include <heddle/core/shape.hpp>
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

/// Whether an order holds `step`: idle columns and the backward of what does not train are left
/// out.
constexpr bool is_kept(Step step, int first_trained_stage) {
  return step.kind != StepKind::idle &&
         (first_trained_stage == 0 || !is_frozen(step, first_trained_stage));
}

/// Counts what a lowering places: afterwards the list of rank r lies at `offsets[r]` .. `offsets[r
/// + 1]`.
template <class Lower>
constexpr void count_steps(PipelineShape shape, std::span<int> offsets, Lower lower) {
  int* const counts = offsets.data() + 1;
  const int first_trained = shape.first_trained_stage;
  lower([=](int rank, Step step) {
    if (is_kept(step, first_trained)) ++counts[rank];
  });
  for (std::size_t rank = 1; rank < offsets.size(); ++rank) offsets[rank] += offsets[rank - 1];
}

/// Writes what a lowering places. `offsets` holds the place of the first step of each rank, and
/// behind it afterwards.
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
/// aligning the ranks (idle columns do not matter then). An order that cannot complete is lowered
/// all the same, for `verify` to say why not. Requires: the shape is possible and `rank_of_stage`
/// has a rank of it for each stage. Complexity: linear in the columns, empty ones that alignment
/// adds included.
inline Order lower(OrderView compute_order, DataSteps data = DataSteps::none) {
  return detail::lower_to_order(detail::NoPolicy{}, compute_order, data);
}

/// What every rank computes, column by column, without transfers; idle columns included.
///
/// Errors: ShapeError if `policy` cannot have `shape`.
template <schedule Schedule>
Order compute_order(const Schedule& policy, PipelineShape shape) {
  if (const auto fault = shape_fault(policy, shape)) throw ShapeError(*fault, name_of(policy));
  Order order;
  order.shape = shape;
  order.rank_of_stage = ranks_of_stages(placement_of(policy), shape);
  order.offsets.push_back(0);
  for (int rank = 0; rank < shape.ranks; ++rank) {
    detail::visit_columns(policy, shape, rank, [&](Step step) { order.steps.push_back(step); });
    order.offsets.push_back(static_cast<int>(order.steps.size()));
  }
  return order;
}

/// The order that every rank executes.
///
/// Complexity: linear in its steps.
/// Errors: ShapeError if `policy` cannot have `shape`.
template <schedule Schedule>
Order exec_order(const Schedule& policy, PipelineShape shape, DataSteps data = DataSteps::none) {
  return detail::lower_to_order(policy, compute_order(policy, shape), data);
}

namespace detail {

/// Says which field of a shape is wrong: the compiler shows the sentence and the numbers.
template <ShapeField Field, int Value, ShapeBound Bound, int Legal>
consteval void refuse_shape() {
  static_assert(Field != ShapeField::ranks, "ranks has a value that this schedule cannot have");
  static_assert(Field != ShapeField::stages_per_rank,
                "stages_per_rank has a value that this schedule cannot have");
  static_assert(Field != ShapeField::micro_batches,
                "micro_batches has a value that this schedule cannot have");
  static_assert(Field != ShapeField::first_trained_stage,
                "first_trained_stage has a value that this schedule cannot have");
}

/// Whether `Schedule` can have `shape`; does not compile, with a sentence, if it cannot.
template <schedule Schedule, PipelineShape shape>
consteval bool has_possible_shape() {
  constexpr auto fault = shape_fault<Schedule>(shape);
  if constexpr (fault.has_value())
    refuse_shape<fault->field, fault->value, fault->bound, fault->legal>();
  return !fault.has_value();
}

// Each of the following is a constant evaluation of its own, because compilers limit the work of
// one.

template <schedule Schedule, PipelineShape shape>
consteval auto make_column_offsets() {
  std::array<int, std::size_t{shape.ranks} + 1> offsets{};
  for (int rank = 0; rank < shape.ranks; ++rank) {
    int count = 0;
    visit_columns(Schedule{}, shape, rank, [&](Step) { ++count; });
    const auto at = static_cast<std::size_t>(rank);
    offsets[at + 1] = offsets[at] + count;
  }
  return offsets;
}

template <schedule Schedule, PipelineShape shape>
inline constexpr auto column_offsets = make_column_offsets<Schedule, shape>();

/// An order of the right size with everything but its steps.
template <schedule Schedule, PipelineShape shape, std::size_t Steps>
consteval auto make_frame(std::array<int, std::size_t{shape.ranks} + 1> offsets) {
  StaticOrder<std::size_t{shape.ranks}, std::size_t{shape.stages()}, Steps> order{
      .shape = shape, .offsets = offsets};
  for (int stage = 0; stage < shape.stages(); ++stage) {
    order.rank_of_stage[static_cast<std::size_t>(stage)] =
        rank_of(placement_of(Schedule{}), shape.ranks, stage);
  }
  return order;
}

template <schedule Schedule, PipelineShape shape>
consteval auto make_columns() {
  constexpr auto offsets = column_offsets<Schedule, shape>;
  auto order = make_frame<Schedule, shape, std::size_t{offsets.back()}>(offsets);
  std::size_t next = 0;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    visit_columns(Schedule{}, shape, rank, [&](Step step) { order.steps[next++] = step; });
  }
  return order;
}

template <schedule Schedule, PipelineShape shape>
inline constexpr auto columns_table = make_columns<Schedule, shape>();

template <schedule Schedule, PipelineShape shape, DataSteps Data>
consteval auto make_step_offsets() {
  std::array<int, std::size_t{shape.ranks} + 1> offsets{};
  count_steps(shape, offsets, [](auto emit) {
    lower_with(Schedule{}, columns_table<Schedule, shape>, Data, emit);
  });
  return offsets;
}

template <schedule Schedule, PipelineShape shape, DataSteps Data>
inline constexpr auto step_offsets = make_step_offsets<Schedule, shape, Data>();

template <schedule Schedule, PipelineShape shape, DataSteps Data>
consteval auto make_steps() {
  constexpr auto offsets = step_offsets<Schedule, shape, Data>;
  auto order = make_frame<Schedule, shape, std::size_t{offsets.back()}>(offsets);
  auto next = offsets;
  write_steps(shape, next, order.steps, [](auto emit) {
    lower_with(Schedule{}, columns_table<Schedule, shape>, Data, emit);
  });
  return order;
}

template <schedule Schedule, PipelineShape shape, DataSteps Data>
inline constexpr auto steps_table = make_steps<Schedule, shape, Data>();

}  // namespace detail

/// `compute_order` of a shape that is known at compile time: a table of static storage.
template <schedule Schedule, PipelineShape shape>
constexpr const auto& compute_order() {
  static_assert(detail::has_possible_shape<Schedule, shape>());
  return detail::columns_table<Schedule, shape>;
}

/// `exec_order` of a shape that is known at compile time: a table of static storage.
///
/// A shape that the schedule cannot have does not compile; the message names the field.
template <schedule Schedule, PipelineShape shape, DataSteps Data = DataSteps::none>
constexpr const auto& exec_order() {
  static_assert(detail::has_possible_shape<Schedule, shape>());
  return detail::steps_table<Schedule, shape, Data>;
}

}  // namespace heddle
