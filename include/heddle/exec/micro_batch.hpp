#pragma once

namespace heddle {

/// The micro-batch that a stage is asked to work on, and where to keep what its backward will need.
///
/// Slots are handed out by the proof of the order: of all micro-batches that are alive on a rank no
/// two have the same one, and no slot is as large as the number that `has_reserve` announced. A
/// stage's saved state is thus a plain array.
struct MicroBatch {
  int index = 0;
  int slot = -1;

  /// Whether a backward will follow; otherwise (evaluation, frozen stage) nothing is to be kept.
  constexpr bool trains() const { return slot >= 0; }
};

}  // namespace heddle
