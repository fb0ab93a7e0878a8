#pragma once

#include <array>
#include <cstddef>

#include <heddle/core/order.hpp>
#include <heddle/core/placement.hpp>
#include <heddle/core/shape.hpp>
#include <heddle/core/step.hpp>
#include <heddle/schedule/lower.hpp>
#include <heddle/schedule/schedule.hpp>

namespace heddle::detail {

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

/// What stands for the order of an impossible shape, so that the compiler complains of that alone.
inline constexpr StaticOrder<1, 1, 0> no_order{};

// Each table is a constant evaluation of its own: compilers limit the work of one.

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
  constexpr std::size_t owned = has_owners<Schedule> ? std::size_t{shape.micro_batches} : 0;
  StaticOrder<std::size_t{shape.ranks}, std::size_t{shape.stages()}, Steps, owned> order{
      .shape = shape, .offsets = offsets};
  if constexpr (has_owners<Schedule>) {
    std::size_t next = 0;
    for (const int owner : Schedule{}.owners(shape)) order.owner_of_micro_batch[next++] = owner;
  }
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

}  // namespace heddle::detail
