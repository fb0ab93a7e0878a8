#pragma once

#include <cstdint>
#include <string_view>

#include <heddle/core/error.hpp>

namespace heddle {

/// Who runs the tower for the micro-batches beyond the first one of each rank.
///
/// `full`: the ranks in turn; the smaller makespan. `min`: rank 0, just before it needs them; other
/// ranks hold one micro-batch at most.
enum class OverflowMode : std::uint8_t { full, min };

/// What of the tower trains.
enum class Tower : std::uint8_t {
  trainable,
  frozen,  ///< it has parameters, and none of them trains
  none,    ///< it has no parameters
};

/// Where the tower runs backward.
///
/// `rank0`: on rank 0, by recompute; gradients are there alone. `owner`: on the rank that ran the
/// forward, from its retained graph; gradients are summed over the ranks afterwards.
enum class TowerBackward : std::uint8_t { rank0, owner };

/// What a tower is like that MPipe transposes.
///
/// Requires: the tower trains if the owners run it backward, and does not if data alone are moved.
struct MPipeTraits {
  Tower tower = Tower::trainable;
  TowerBackward backward = TowerBackward::rank0;
  bool data_only = false;  ///< the owners load data and send them on; there is no tower to run

  friend constexpr bool operator==(const MPipeTraits&, const MPipeTraits&) = default;
};

/// The knobs of MPipe Transpose.
struct MPipeOptions {
  OverflowMode overflow = OverflowMode::full;
  MPipeTraits traits{};

  friend constexpr bool operator==(const MPipeOptions&, const MPipeOptions&) = default;
};

/// Whether `traits` ask for work on a tower that is not there: data alone are moved, yet it trains.
constexpr bool trains_data_only(MPipeTraits traits) {
  return traits.data_only && traits.tower == Tower::trainable;
}

/// Whether `traits` ask the owners for the backward of a tower that has none.
constexpr bool has_needless_backward(MPipeTraits traits) {
  return traits.backward == TowerBackward::owner && traits.tower != Tower::trainable;
}

/// What is wrong with `traits`, a sentence; empty if nothing is.
constexpr std::string_view contradiction_of(MPipeTraits traits) {
  if (trains_data_only(traits))
    return "data_only moves data and runs no tower, so nothing of it can train; "
           "the tower must be frozen or none";
  if (has_needless_backward(traits))
    return "the owners can only run a trainable tower backward; "
           "with a tower that is frozen or none the backward must be left at rank0";
  return {};
}

namespace detail {

/// Refuses contradictory traits at compile time.
template <MPipeTraits traits>
consteval bool are_possible() {
  static_assert(!trains_data_only(traits),
                "data_only moves data and runs no tower, so nothing of it can train; "
                "the tower must be frozen or none");
  static_assert(!has_needless_backward(traits),
                "the owners can only run a trainable tower backward; "
                "with a tower that is frozen or none the backward must be left at rank0");
  return true;
}

}  // namespace detail

}  // namespace heddle
