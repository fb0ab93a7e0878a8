#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <heddle/core/order.hpp>
#include <heddle/core/shape.hpp>
#include <heddle/core/step.hpp>
#include <heddle/schedule/schedule.hpp>
#include <heddle/verify/fault.hpp>
#include <heddle/verify/scratch.hpp>

namespace heddle {

/// The most that one rank holds at a time.
struct RankMemory {
  /// Saved activations: forwards whose backward, with a split backward whose weight half, is still
  /// to come. Stages below the first that trains save nothing.
  int activations = 0;

  /// Boundaries on their way between ranks: received and not yet used, or made and not yet sent. A
  /// step holds what it uses until it has made what it makes.
  int transfers = 0;

  /// Outputs of a tower, of one micro-batch each: computed or received, and still to be used by the
  /// rank, be it in a send, in the first stage or in a backward. On an owner that runs it backward
  /// the tower's graph is held as long.
  int features = 0;

  friend constexpr bool operator==(const RankMemory&, const RankMemory&) = default;
};

namespace detail {

/// The change of saved activations that `step` brings.
constexpr int saved_by(Step step, int first_trained_stage) {
  if (step.stage < first_trained_stage) return 0;
  if (step.kind == StepKind::forward) return 1;
  return step.kind == StepKind::backward || step.kind == StepKind::backward_weight ? -1 : 0;
}

/// How many boundaries on their way `step` makes, and how many it uses.
struct BoundaryChange {
  int made = 0;
  int used = 0;
};

constexpr BoundaryChange boundaries_of(OrderView order, Step step) {
  switch (step.kind) {
    case StepKind::receive_activation:
    case StepKind::receive_gradient: return {.made = 1};
    case StepKind::send_activation:
    case StepKind::send_gradient: return {.used = 1};
    case StepKind::forward:
      return {.made = order.crosses_after(step.stage) ? 1 : 0,
              .used = step.stage > 0 && order.crosses_after(step.stage - 1) ? 1 : 0};
    case StepKind::backward:
    case StepKind::backward_input: {
      const bool sends = step.stage > order.shape.first_trained_stage;
      return {.made = sends && order.crosses_after(step.stage - 1) ? 1 : 0,
              .used = order.crosses_after(step.stage) ? 1 : 0};
    }
    default: return {};
  }
}

/// Whether `rank` runs a tower backward or takes part in one.
constexpr bool trains_tower(OrderView order, int rank) {
  using enum StepKind;
  bool trains = false;
  for (const Step step : order.rank(rank)) {
    trains |= step.kind == tower_backward || step.kind == reduce_tower_gradient;
  }
  return trains;
}

/// Whether `step` makes or uses the features of its micro-batch. The backward of the first stage
/// uses them if the tower trains: it makes their gradient.
constexpr bool touches_features(Step step, bool trains) {
  using enum StepKind;
  switch (step.kind) {
    case tower_forward:
    case send_feature:
    case receive_feature:
    case tower_backward:
    case send_feature_gradient:
    case receive_and_tower_backward: return true;
    case forward: return step.stage == 0;
    case backward:
    case backward_input: return step.stage == 0 && trains;
    default: return false;
  }
}

/// The most features that `rank` holds at a time.
constexpr int peak_features(OrderView order, int rank) {
  if (order.owner_of_micro_batch.empty()) return 0;
  const auto list = order.rank(rank);
  const bool trains = trains_tower(order, rank);
  Scratch<int> last_use{order.shape.micro_batches};
  int position = 0;
  for (const Step step : list) {
    if (touches_features(step, trains)) last_use.data()[step.micro_batch] = position;
    ++position;
  }
  int now = 0;
  int peak = 0;
  position = 0;
  bool has_tower = false;
  for (const Step step : list) {
    if (step.kind == StepKind::tower_forward || step.kind == StepKind::receive_feature) {
      has_tower = true;
      peak = std::max(peak, ++now);
    }
    if (has_tower && touches_features(step, trains) &&
        last_use.data()[step.micro_batch] == position) {
      --now;
    }
    ++position;
  }
  return peak;
}

}  // namespace detail

/// The most that `rank` holds at a time when it runs its list of `order`.
///
/// Requires: `order` is lowered and `verify` found nothing.
/// Complexity: linear in the steps of the rank.
constexpr RankMemory peak_memory(OrderView order, int rank) {
  RankMemory now;
  RankMemory peak;
  for (const Step step : order.rank(rank)) {
    now.activations += detail::saved_by(step, order.shape.first_trained_stage);
    const auto change = detail::boundaries_of(order, step);
    now.transfers += change.made;
    peak.activations = std::max(peak.activations, now.activations);
    peak.transfers = std::max(peak.transfers, now.transfers);
    now.transfers -= change.used;
  }
  peak.features = detail::peak_features(order, rank);
  return peak;
}

/// The most that each rank holds at a time.
inline std::vector<RankMemory> peak_memory(OrderView order) {
  std::vector<RankMemory> peaks;
  for (int rank = 0; rank < order.ranks(); ++rank) peaks.push_back(peak_memory(order, rank));
  return peaks;
}

/// The most saved activations of `rank` at a time under `policy`: `peak_memory` without the order.
///
/// Complexity: linear in the columns of the rank.
template <schedule Schedule>
constexpr int peak_live(const Schedule& policy, PipelineShape shape, int rank) {
  int now = 0;
  int peak = 0;
  detail::visit_columns(policy, shape, rank, [&](Step step) {
    now += detail::saved_by(step, shape.first_trained_stage);
    peak = std::max(peak, now);
  });
  return peak;
}

/// The same for a schedule that is known by its type:
/// `static_assert(peak_live<OneFOneB>({.ranks = 4, .micro_batches = 64}, 0) == 4)`.
template <schedule Schedule>
constexpr int peak_live(PipelineShape shape, int rank) {
  return peak_live(Schedule{}, shape, rank);
}

/// Law 5: no rank ever saves more than `most_live` activations. Otherwise: the first forward that
/// does.
///
/// Requires: `verify` found nothing.
/// Complexity: linear in steps.
constexpr std::optional<Fault> memory_fault(OrderView order, int most_live) {
  for (int rank = 0; rank < order.ranks(); ++rank) {
    int now = 0;
    int position = 0;
    for (const Step step : order.rank(rank)) {
      now += detail::saved_by(step, order.shape.first_trained_stage);
      if (now > most_live) {
        return detail::fault_at(order, FaultKind::too_many_live, rank, position);
      }
      ++position;
    }
  }
  return std::nullopt;
}

}  // namespace heddle
