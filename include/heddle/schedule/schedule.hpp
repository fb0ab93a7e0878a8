#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <heddle/core/order.hpp>
#include <heddle/core/placement.hpp>
#include <heddle/core/shape.hpp>
#include <heddle/core/step.hpp>

namespace heddle {

/// What a schedule asks of a shape beyond what every shape must have. The default asks nothing.
struct ScheduleNeeds {
  int least_micro_batches = 1;
  int least_micro_batches_per_rank = 0;  ///< at least this times the ranks, too
  int micro_batches_multiple = 1;        ///< a multiple of this
  int stages_per_rank = 0;               ///< exactly this many; 0: any number
  bool split_backward = false;           ///< whether stages must offer the two halves of a backward

  friend constexpr bool operator==(const ScheduleNeeds&, const ScheduleNeeds&) = default;
};

/// Whether the steps of an order move the input along the chain of stages.
enum class DataSteps : std::uint8_t {
  none,   ///< the first stage gets its input, the loss its target, by other means
  chain,  ///< every stage loads or receives the data before its forward and passes it on
};

namespace detail {

/// Takes the steps that a lowering places; only there to ask whether a schedule has one.
struct AnyEmit {
  constexpr void operator()(int /*rank*/, Step /*step*/) const {}
};

// What a loop needs. <ranges> has a name for it, but costs a sixth more memory than this header.
template <class Columns>
concept range_of_steps = requires(Columns& columns) {
  { *columns.begin() } -> std::convertible_to<Step>;
  { columns.begin() != columns.end() } -> std::convertible_to<bool>;
};

}  // namespace detail

/// `schedule.columns(shape, rank)` lists what `rank` computes, idle columns included.
template <class Schedule>
concept has_columns = requires(const Schedule& schedule, PipelineShape shape, int rank) {
  { schedule.columns(shape, rank) } -> detail::range_of_steps;
};

/// `schedule.placement` says which rank runs which stage; without it: `Placement::loop`.
template <class Schedule>
concept has_placement = requires(const Schedule& schedule) {
  { schedule.placement } -> std::convertible_to<Placement>;
};

/// `schedule.needs` says which shapes are possible; without it: all.
template <class Schedule>
concept has_needs = requires(const Schedule& schedule) {
  { schedule.needs } -> std::convertible_to<ScheduleNeeds>;
};

/// `schedule.name` is what errors call it.
template <class Schedule>
concept has_name = requires(const Schedule& schedule) {
  { schedule.name } -> std::convertible_to<std::string_view>;
};

/// `schedule.lower(columns, data, emit)` places the transfers itself; without it: see `lower`.
template <class Schedule>
concept has_lower = requires(const Schedule& schedule, OrderView columns, DataSteps data,
                             detail::AnyEmit emit) { schedule.lower(columns, data, emit); };

/// `schedule.owners(shape)` lists, by micro-batch, the rank that runs the tower for it; only a
/// schedule with a tower has it.
template <class Schedule>
concept has_owners = requires(const Schedule& schedule, PipelineShape shape) {
  { schedule.owners(shape) } -> std::same_as<std::vector<int>>;
};

/// `schedule.visit_columns(shape, rank, visit)` calls `visit` with each of `columns(shape, rank)`
/// without storing them: cheaper to evaluate at compile time.
template <class Schedule>
concept has_visit_columns =
    requires(const Schedule& schedule, PipelineShape shape, int rank, void (*visit)(Step)) {
      schedule.visit_columns(shape, rank, visit);
    };

/// A pipeline schedule: from a shape it lists what every rank computes, column by column.
///
/// Semantics: `columns` depends on its arguments alone. It gives each stage of `rank` one forward
/// and one backward (or one `backward_input` and later one `backward_weight`) a micro-batch, frozen
/// stages too: these are taken out afterwards. Idle columns are optional; without them the
/// transfers are placed by aligning the ranks. `emit(rank, step)` of `lower` appends a step to the
/// list of `rank`; frozen stages and idle steps are dropped there.
template <class Schedule>
concept schedule = std::copy_constructible<Schedule> && has_columns<Schedule>;

/// Where the stages of `policy` are.
template <schedule Schedule>
constexpr Placement placement_of(const Schedule& policy) {
  if constexpr (has_placement<Schedule>) {
    return policy.placement;
  } else {
    return Placement::loop;
  }
}

/// What `policy` asks of a shape.
template <schedule Schedule>
constexpr ScheduleNeeds needs_of(const Schedule& policy) {
  if constexpr (has_needs<Schedule>) {
    return policy.needs;
  } else {
    return {};
  }
}

/// What errors call `policy`; empty if it has no name.
template <schedule Schedule>
constexpr std::string_view name_of(const Schedule& policy) {
  if constexpr (has_name<Schedule>) {
    return policy.name;
  } else {
    return {};
  }
}

/// The first field of `shape` that breaks a general rule or `needs`, if there is one.
constexpr std::optional<ShapeFault> shape_fault(PipelineShape shape, ScheduleNeeds needs) {
  using enum ShapeField;
  using enum ShapeBound;
  if (const auto fault = shape_fault(shape)) return fault;
  if (needs.stages_per_rank != 0 && shape.stages_per_rank != needs.stages_per_rank) {
    return ShapeFault{stages_per_rank, shape.stages_per_rank, exactly, needs.stages_per_rank};
  }
  const int least_for_ranks = needs.least_micro_batches_per_rank * shape.ranks;
  const int least =
      needs.least_micro_batches > least_for_ranks ? needs.least_micro_batches : least_for_ranks;
  if (shape.micro_batches < least)
    return ShapeFault{micro_batches, shape.micro_batches, at_least, least};
  if (shape.micro_batches % needs.micro_batches_multiple != 0) {
    return ShapeFault{micro_batches, shape.micro_batches, multiple_of,
                      needs.micro_batches_multiple};
  }
  return std::nullopt;
}

/// The first field of `shape` that `policy` cannot have, if there is one.
template <schedule Schedule>
constexpr std::optional<ShapeFault> shape_fault(const Schedule& policy, PipelineShape shape) {
  return shape_fault(shape, needs_of(policy));
}

/// The same for a schedule that is known by its type.
template <schedule Schedule>
constexpr std::optional<ShapeFault> shape_fault(PipelineShape shape) {
  return shape_fault(Schedule{}, shape);
}

namespace detail {

/// Whether `step` belongs to the backward of a stage that has none: nothing up to it trains.
constexpr bool is_frozen(Step step, int first_trained_stage) {
  switch (step.kind) {
    case StepKind::backward:
    case StepKind::backward_input:
    case StepKind::backward_weight:
    case StepKind::receive_gradient: return step.stage < first_trained_stage;
    case StepKind::send_gradient: return step.stage <= first_trained_stage;
    default: return false;
  }
}

/// Calls `visit` with each column of `rank`; backward steps of frozen stages as idle ones.
template <schedule Schedule, class Visit>
constexpr void visit_columns(const Schedule& policy, PipelineShape shape, int rank, Visit visit) {
  const int first_trained = shape.first_trained_stage;
  const auto visit_trained = [&](Step step) {
    visit(first_trained > 0 && is_frozen(step, first_trained) ? idle : step);
  };
  if constexpr (has_visit_columns<Schedule>) {
    policy.visit_columns(shape, rank, visit_trained);
  } else {
    for (const Step step : policy.columns(shape, rank)) visit_trained(step);
  }
}

}  // namespace detail

}  // namespace heddle
