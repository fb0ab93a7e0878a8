#pragma once

#include <cstddef>
#include <vector>

#include <heddle/core/order.hpp>
#include <heddle/core/step.hpp>
#include <heddle/schedule/schedule.hpp>

namespace heddle::detail {

/// Whether running `step` makes the gradient of its stage's input.
constexpr bool makes_gradient(Step step) {
  return step.kind == StepKind::backward || step.kind == StepKind::backward_input;
}

/// Whether `step` runs a stage and a micro-batch of `shape`; a step from elsewhere may not.
constexpr bool runs_in(PipelineShape shape, Step step) {
  return is_compute(step.kind) && step.stage >= 0 && step.stage < shape.stages() &&
         step.micro_batch >= 0 && step.micro_batch < shape.micro_batches;
}

/// What stands in the column of a rank that has ended: not even a bubble. It is a value because
/// g++ 12 does not take comparisons of pointers for constants under -fsanitize=undefined.
inline constexpr Step ended{StepKind::idle, no_micro_batch, no_stage - 1};

/// Places the steps of one column after the other.
template <class Emit>
class ColumnLowering {
 public:
  // Plain pointers: compilers count every call of an operator when they evaluate a constant.
  constexpr ColumnLowering(OrderView columns, DataSteps data, Emit& emit)
      : ranks_{columns.ranks()},
        stages_{columns.shape.stages()},
        rank_of_stage_{columns.rank_of_stage.data()},
        moves_data_{data == DataSteps::chain},
        emit_{emit} {}

  /// Places what stands in the column of each rank, `ended` where the rank has, then the
  /// transfers. Even ranks send before odd ones, so that of two neighbours one sends first and the
  /// other receives first.
  constexpr void place(const Step* const* column) const {
    for (int rank = 0; rank < ranks_; ++rank) {
      if (*column[rank] != ended) place_compute(rank, *column[rank]);
    }
    for (int rank = 0; rank < ranks_; rank += 2) place_transfers(rank, *column[rank]);
    for (int rank = 1; rank < ranks_; rank += 2) place_transfers(rank, *column[rank]);
  }

 private:
  constexpr void place_compute(int rank, Step step) const {
    if (moves_data_ && step.kind == StepKind::forward)
      emit_(rank, Step{StepKind::load, step.micro_batch, step.stage});
    emit_(rank, step);
  }

  constexpr void place_transfers(int rank, Step step) const {
    if (step.kind == StepKind::forward) {
      const int to_rank = receiver(rank, step.stage + 1);
      if (to_rank >= 0) place_activation(rank, to_rank, step);
    } else if (makes_gradient(step)) {
      const int to_rank = receiver(rank, step.stage - 1);
      if (to_rank >= 0) place_gradient(rank, to_rank, step);
    }
  }

  /// The rank of `to_stage` if there is such a stage and it is on another rank, else -1.
  constexpr int receiver(int rank, int to_stage) const {
    if (to_stage < 0 || to_stage >= stages_ || rank_of_stage_[to_stage] == rank) return -1;
    return rank_of_stage_[to_stage];
  }

  constexpr void place_activation(int rank, int to_rank, Step step) const {
    if (moves_data_) emit_(rank, Step{StepKind::send_data, step.micro_batch, step.stage});
    emit_(rank, Step{StepKind::send_activation, step.micro_batch, step.stage});
    if (moves_data_) emit_(to_rank, Step{StepKind::receive_data, step.micro_batch, step.stage + 1});
    emit_(to_rank, Step{StepKind::receive_activation, step.micro_batch, step.stage + 1});
  }

  constexpr void place_gradient(int rank, int to_rank, Step step) const {
    emit_(rank, Step{StepKind::send_gradient, step.micro_batch, step.stage});
    emit_(to_rank, Step{StepKind::receive_gradient, step.micro_batch, step.stage - 1});
  }

  int ranks_;
  int stages_;
  const int* rank_of_stage_;
  bool moves_data_;
  Emit& emit_;
};

/// The length of the longest list.
constexpr int longest_rank(OrderView columns) {
  int longest = 0;
  for (int rank = 0; rank < columns.ranks(); ++rank) {
    const int length = static_cast<int>(columns.rank(rank).size());
    longest = length > longest ? length : longest;
  }
  return longest;
}

/// Lowers columns that are a timetable: every producer stands in an earlier column than its
/// consumer on another rank.
///
/// Each transfer stands behind the column of its producer, on both sides. So all lists agree with
/// one sequence of transfers, and no blocking send can wait in a circle.
template <class Emit>
constexpr void lower_by_columns(OrderView columns, DataSteps data, Emit emit) {
  const ColumnLowering<Emit> lowering{columns, data, emit};
  const int longest = longest_rank(columns);
  const int ranks = columns.ranks();
  const int* const offsets = columns.offsets.data();
  const Step* const steps = columns.steps.data();
  std::vector<const Step*> stored(static_cast<std::size_t>(ranks), &ended);
  const Step** const column = stored.data();
  for (int at = 0; at < longest; ++at) {
    for (int rank = 0; rank < ranks; ++rank) {
      const int position = offsets[rank] + at;
      column[rank] = position < offsets[rank + 1] ? steps + position : &ended;
    }
    lowering.place(column);
  }
}

}  // namespace heddle::detail
