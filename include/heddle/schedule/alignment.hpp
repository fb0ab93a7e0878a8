#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <heddle/core/order.hpp>
#include <heddle/core/step.hpp>
#include <heddle/schedule/lowering.hpp>
#include <heddle/schedule/schedule.hpp>

namespace heddle::detail {

/// In which column each activation and each gradient was made.
class Completions {
 public:
  constexpr explicit Completions(OrderView columns)
      : columns_{columns},
        made_(2 * static_cast<std::size_t>(columns.shape.stages() * columns.shape.micro_batches),
              never) {}

  constexpr void record(Step step, int column) {
    if (!runs_in(columns_.shape, step)) return;
    if (step.kind == StepKind::forward || makes_gradient(step)) {
      made_[index_of(step.kind == StepKind::forward, step.micro_batch, step.stage)] = column;
    }
  }

  /// Whether what `step` needs from another rank was made before `column`.
  constexpr bool is_ready(Step step, int column) const {
    if (!runs_in(columns_.shape, step)) return true;
    const bool downward = step.kind == StepKind::forward;
    if (!downward && !makes_gradient(step)) return true;
    const int from = downward ? step.stage - 1 : step.stage + 1;
    if (from < 0 || from >= columns_.shape.stages()) return true;
    if (columns_.rank_of(from) == columns_.rank_of(step.stage)) return true;
    return made_[index_of(downward, step.micro_batch, from)] < column;
  }

 private:
  static constexpr int never = 1 << 30;

  constexpr std::size_t index_of(bool downward, int micro_batch, int stage) const {
    const int index = stage * columns_.shape.micro_batches + micro_batch;
    return 2 * static_cast<std::size_t>(index) + (downward ? 0 : 1);
  }

  OrderView columns_;
  std::vector<int> made_;
};

/// Whether every producer on another rank stands in an earlier column than its consumer.
constexpr bool is_timetable(OrderView columns) {
  Completions made{columns};
  const int longest = longest_rank(columns);
  for (int at = 0; at < longest; ++at) {
    for (int rank = 0; rank < columns.ranks(); ++rank) {
      const auto list = columns.rank(rank);
      if (static_cast<std::size_t>(at) >= list.size()) continue;
      const Step step = list[static_cast<std::size_t>(at)];
      if (!made.is_ready(step, at)) return false;
      made.record(step, at);
    }
  }
  return true;
}

/// Makes a timetable from lists of compute steps by delaying the ranks, column by column. Idle
/// columns of the lists are passed over.
class Alignment {
 public:
  constexpr explicit Alignment(OrderView columns) : made_{columns} {
    for (int rank = 0; rank < columns.ranks(); ++rank) {
      ranks_.push_back(begin_of(columns.rank(rank), columns.ranks() - 1 - rank));
    }
  }

  /// Puts the next column of each rank into `column`, `ended` where the rank has; false behind
  /// the last column.
  constexpr bool next(std::vector<const Step*>& column) {
    // A column may pass without a step only to keep a distance. A second one means that the ranks
    // wait for each other in a circle: the steps are let through then, for the laws of an order to
    // name the circle.
    const bool stuck = barren_columns_ > 1;
    bool any = false;
    bool moved = false;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      Progress& progress = ranks_[rank];
      column[rank] = &ended;
      if (progress.left.empty()) continue;
      any = true;
      column[rank] = &idle;
      if (progress.delay > 0 && progress.left.size() == progress.left_at_delay) {
        --progress.delay;
        progress.after_cooldown = false;
        moved = true;
      } else if (!stuck && must_wait(progress)) {
        progress.after_cooldown = false;
      } else {
        column[rank] = &progress.left.front();
        pass(progress);
        moved = true;
      }
    }
    barren_columns_ = moved ? 0 : barren_columns_ + 1;
    ++column_;
    return any;
  }

 private:
  struct Progress {
    std::span<const Step> left;  // begins with a compute step
    int forwards = 0;            // of `left`
    std::size_t left_at_delay = 0;
    int delay = 0;
    bool after_cooldown = false;
  };

  static constexpr std::span<const Step> behind_idle(std::span<const Step> list) {
    while (!list.empty() && list.front() == idle) list = list.subspan(1);
    return list;
  }

  // A rank takes its delay before the first forward that is directly followed by a backward: the
  // backward comes back from the last rank.
  static constexpr Progress begin_of(std::span<const Step> list, int ranks_below) {
    Progress progress{.left = behind_idle(list)};
    for (auto rest = progress.left; !rest.empty();) {
      const bool is_forward = rest.front().kind == StepKind::forward;
      const auto following = behind_idle(rest.subspan(1));
      if (is_forward) ++progress.forwards;
      if (is_forward && progress.left_at_delay == 0 && !following.empty() &&
          makes_gradient(following.front())) {
        progress.left_at_delay = rest.size();
        progress.delay = ranks_below;
      }
      rest = following;
    }
    return progress;
  }

  // A whole backward lasts about two columns, which shows once no forward stands in between.
  constexpr bool must_wait(const Progress& progress) const {
    const Step step = progress.left.front();
    return (progress.after_cooldown && step.kind == StepKind::backward) ||
           !made_.is_ready(step, column_);
  }

  constexpr void pass(Progress& progress) {
    const Step step = progress.left.front();
    made_.record(step, column_);
    progress.after_cooldown = step.kind == StepKind::backward && progress.forwards == 0;
    if (step.kind == StepKind::forward) --progress.forwards;
    progress.left = behind_idle(progress.left.subspan(1));
  }

  Completions made_;
  std::vector<Progress> ranks_;
  int column_ = 0;
  int barren_columns_ = 0;
};

/// Lowers lists of compute steps by aligning them.
template <class Emit>
constexpr void lower_by_alignment(OrderView columns, DataSteps data, Emit emit) {
  const ColumnLowering<Emit> lowering{columns, data, emit};
  Alignment alignment{columns};
  std::vector<const Step*> column(static_cast<std::size_t>(columns.ranks()), &ended);
  while (alignment.next(column)) lowering.place(column.data());
}

}  // namespace heddle::detail
