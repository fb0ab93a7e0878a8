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

  constexpr int ranks() const { return shape.ranks; }

  constexpr std::span<const Step> rank(int index) const {
    const auto at = static_cast<std::size_t>(index);
    const auto begin = static_cast<std::size_t>(offsets[at]);
    return steps.subspan(begin, static_cast<std::size_t>(offsets[at + 1]) - begin);
  }

  /// The rank that runs `stage`. Requires: 0 <= stage < shape.stages().
  constexpr int rank_of(int stage) const { return rank_of_stage[static_cast<std::size_t>(stage)]; }

  /// Whether `stage` and its successor are on different ranks, so that what passes between them is
  /// a message.
  constexpr bool crosses_after(int stage) const {
    return stage + 1 < shape.stages() && rank_of(stage) != rank_of(stage + 1);
  }
};

/// An order made at run time.
struct Order {
  PipelineShape shape{};
  std::vector<int> rank_of_stage;
  std::vector<int> offsets;
  std::vector<Step> steps;

  Order() = default;

  /// Puts the lists of the ranks one behind the other. Requires: one list a rank of `order_shape`.
  Order(PipelineShape order_shape, std::vector<int> ranks_of_stages,
        std::span<const std::vector<Step>> lists)
      : shape{order_shape}, rank_of_stage{std::move(ranks_of_stages)}, offsets{0} {
    for (const auto& list : lists) {
      steps.insert(steps.end(), list.begin(), list.end());
      offsets.push_back(static_cast<int>(steps.size()));
    }
  }

  int ranks() const { return shape.ranks; }
  OrderView view() const { return {shape, rank_of_stage, offsets, steps}; }
  std::span<const Step> rank(int index) const { return view().rank(index); }

  // NOLINTNEXTLINE(google-explicit-constructor): an order is usable wherever one is read
  operator OrderView() const { return view(); }

  friend bool operator==(const Order&, const Order&) = default;
};

/// An order made at compile time; its size is part of the type, its content is not.
template <std::size_t Ranks, std::size_t Stages, std::size_t Steps>
struct StaticOrder {
  PipelineShape shape{};
  std::array<int, Stages> rank_of_stage{};
  std::array<int, Ranks + 1> offsets{};
  std::array<Step, Steps> steps{};

  constexpr int ranks() const { return shape.ranks; }
  constexpr OrderView view() const { return {shape, rank_of_stage, offsets, steps}; }
  constexpr std::span<const Step> rank(int index) const { return view().rank(index); }

  // NOLINTNEXTLINE(google-explicit-constructor): an order is usable wherever one is read
  constexpr operator OrderView() const { return view(); }
};

}  // namespace heddle
