#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <heddle/core/order.hpp>
#include <heddle/core/step.hpp>
#include <heddle/verify/scratch.hpp>

namespace heddle {

/// Of a step that has to do with no saved activation.
inline constexpr int no_slot = -1;

namespace detail {

/// Numbers in use; gives out the lowest that is not.
class SlotPool {
 public:
  /// Requires: at most `capacity` numbers are in use at a time.
  constexpr explicit SlotPool(int capacity) : used_{capacity / 64 + 1} {}

  constexpr int take() {
    std::uint64_t* const used = used_.data();
    while (used[first_] == ~std::uint64_t{0}) ++first_;
    const int bit = std::countr_one(used[first_]);
    used[first_] |= std::uint64_t{1} << bit;
    return static_cast<int>(first_) * 64 + bit;
  }

  constexpr void give_back(int slot) {
    const auto word = static_cast<std::size_t>(slot / 64);
    used_.data()[word] &= ~(std::uint64_t{1} << (slot % 64));
    first_ = std::min(first_, word);
  }

 private:
  Scratch<std::uint64_t> used_;
  std::size_t first_ = 0;  // all words before it are full
};

}  // namespace detail

/// Gives each saved activation of `rank` the lowest free slot, from its forward to its backward or,
/// if that is split, to its weight half.
///
/// Writes the slot of each step of the rank's list into `slots`: the same for forward, backward and
/// both halves of one stage and micro-batch, `no_slot` for every other step and for stages that
/// save nothing. Returns how many slots there are: the rank's `peak_memory(order,
/// rank).activations`.
///
/// Requires: `verify` found nothing; `slots` is as long as the list.
/// Complexity: linear in the steps of the rank and in the stages.
constexpr int assign_slots(OrderView order, int rank, std::span<int> slots) {
  const auto list = order.rank(rank);
  const int micro_batches = order.shape.micro_batches;
  detail::Scratch<int> row_of_stage{order.shape.stages()};  // of the rank's own stages
  int rows = 0;
  for (int stage = order.shape.first_trained_stage; stage < order.shape.stages(); ++stage) {
    if (order.rank_of(stage) == rank) row_of_stage.data()[stage] = rows++;
  }
  detail::Scratch<int> slot_of{rows * micro_batches};
  detail::SlotPool pool{rows * micro_batches};
  int count = 0;
  for (std::size_t position = 0; position < list.size(); ++position) {
    const Step step = list[position];
    slots[position] = no_slot;
    if (!is_compute(step.kind) || step.stage < order.shape.first_trained_stage) continue;
    int& slot = slot_of.data()[row_of_stage.data()[step.stage] * micro_batches + step.micro_batch];
    if (step.kind == StepKind::forward) slot = pool.take();
    if (slot >= count) count = slot + 1;
    slots[position] = slot;
    if (step.kind == StepKind::backward || step.kind == StepKind::backward_weight) {
      pool.give_back(slot);
    }
  }
  return count;
}

/// The slot of each step of the list of `rank`.
inline std::vector<int> assign_slots(OrderView order, int rank) {
  std::vector<int> slots(order.rank(rank).size());
  assign_slots(order, rank, slots);
  return slots;
}

}  // namespace heddle
