#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <heddle/core/shape.hpp>
#include <heddle/core/step.hpp>

namespace heddle {

/// The steps of every rank, seen without owning them: what laws, executor, planner and writers
/// take.
///
/// The steps of all ranks lie one behind the other; `offsets[r]` .. `offsets[r + 1]` are those of
/// rank r. A compute order has only compute steps and `idle`; lowering makes of it an order with
/// transfers and without `idle`.
struct OrderView {
  PipelineShape shape{};
  std::span<const int> rank_of_stage;
  std::span<const int> offsets;
  std::span<const Step> steps;
  std::span<const int> owner_of_micro_batch{};  ///< of the tower; empty if there is none

  constexpr int ranks() const { return shape.ranks; }

  constexpr std::span<const Step> rank(int index) const {
    const auto at = static_cast<std::size_t>(index);
    const auto begin = static_cast<std::size_t>(offsets[at]);
    return steps.subspan(begin, static_cast<std::size_t>(offsets[at + 1]) - begin);
  }

  /// The rank that runs `stage`. Requires: 0 <= stage < shape.stages().
  constexpr int rank_of(int stage) const { return rank_of_stage[static_cast<std::size_t>(stage)]; }

  /// The rank that runs the tower for `micro_batch`: the peer of rank 0 in every transfer of the
  /// tower. Requires: a tower, and 0 <= micro_batch < shape.micro_batches.
  constexpr int owner_of(int micro_batch) const {
    return owner_of_micro_batch[static_cast<std::size_t>(micro_batch)];
  }

  /// Whether `stage` and its successor are on different ranks, so that what passes between them is
  /// a message.
  constexpr bool crosses_after(int stage) const {
    return stage + 1 < shape.stages() && rank_of(stage) != rank_of(stage + 1);
  }
};

namespace detail {

/// Whether `step` belongs to a tower or moves data outside the stages.
constexpr bool is_outside(Step step) {
  return is_tower(step.kind) || (is_data(step.kind) && step.stage == no_stage);
}

/// How well a step on a rank shows that the rank owns its micro-batch; 0: not at all.
constexpr int shows_owner(Step step) {
  using enum StepKind;
  switch (step.kind) {
    case tower_forward: return 3;
    case load: return step.stage == no_stage ? 2 : 0;
    case send_feature:
    case send_tower_input:
    case receive_and_tower_backward: return 1;
    default: return 0;
  }
}

}  // namespace detail

/// The owners of an order of whose origin nothing is known: the owner of a micro-batch is the rank
/// that runs the tower for it or, where data alone are moved, that loads it outside the stages; 0
/// where nothing shows it. Empty if the order has neither a tower nor data outside the stages.
///
/// Complexity: linear in steps.
constexpr std::vector<int> infer_owners(OrderView order) {
  bool any = false;
  for (int rank = 0; rank < order.ranks(); ++rank) {
    for (const Step step : order.rank(rank)) any = any || detail::is_outside(step);
  }
  if (!any) return {};
  const auto micro_batches = static_cast<std::size_t>(order.shape.micro_batches);
  std::vector<int> owners(micro_batches, 0);
  std::vector<int> shown(micro_batches, 0);
  for (int rank = 0; rank < order.ranks(); ++rank) {
    for (const Step step : order.rank(rank)) {
      const int shows = detail::shows_owner(step);
      if (step.micro_batch < 0 || step.micro_batch >= order.shape.micro_batches) continue;
      const auto at = static_cast<std::size_t>(step.micro_batch);
      if (shows <= shown[at]) continue;
      shown[at] = shows;
      owners[at] = rank;
    }
  }
  return owners;
}

/// An order made at run time.
struct Order {
  PipelineShape shape{};
  std::vector<int> rank_of_stage;
  std::vector<int> offsets;
  std::vector<Step> steps;
  std::vector<int> owner_of_micro_batch;  ///< of the tower; empty if there is none

  Order() = default;

  /// Puts the lists of the ranks one behind the other; owners of a tower are inferred. Requires:
  /// one list a rank of `order_shape`.
  Order(PipelineShape order_shape, std::vector<int> ranks_of_stages,
        std::span<const std::vector<Step>> lists)
      : shape{order_shape}, rank_of_stage{std::move(ranks_of_stages)}, offsets{0} {
    for (const auto& list : lists) {
      steps.insert(steps.end(), list.begin(), list.end());
      offsets.push_back(static_cast<int>(steps.size()));
    }
    owner_of_micro_batch = infer_owners(view());
  }

  int ranks() const { return shape.ranks; }
  OrderView view() const { return {shape, rank_of_stage, offsets, steps, owner_of_micro_batch}; }
  std::span<const Step> rank(int index) const { return view().rank(index); }

  // NOLINTNEXTLINE(google-explicit-constructor): an order is usable wherever one is read
  operator OrderView() const { return view(); }

  friend bool operator==(const Order&, const Order&) = default;
};

/// An order made at compile time; its size is part of the type, its content is not.
template <std::size_t Ranks, std::size_t Stages, std::size_t Steps, std::size_t Owned = 0>
struct StaticOrder {
  PipelineShape shape{};
  std::array<int, Stages> rank_of_stage{};
  std::array<int, Ranks + 1> offsets{};
  std::array<Step, Steps> steps{};
  std::array<int, Owned> owner_of_micro_batch{};  ///< of the tower; empty if there is none

  constexpr int ranks() const { return shape.ranks; }
  constexpr OrderView view() const {
    return {shape, rank_of_stage, offsets, steps, owner_of_micro_batch};
  }
  constexpr std::span<const Step> rank(int index) const { return view().rank(index); }

  // NOLINTNEXTLINE(google-explicit-constructor): an order is usable wherever one is read
  constexpr operator OrderView() const { return view(); }
};

}  // namespace heddle
