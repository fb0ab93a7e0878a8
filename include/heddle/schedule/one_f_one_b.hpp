#pragma once

#include <string_view>
#include <vector>

#include <heddle/schedule/schedule.hpp>
#include <heddle/schedule/stage_steps.hpp>

namespace heddle {

/// Runs as many forwards as it takes to reach the loss, then one forward and one backward in turn.
///
/// Requires: shape.stages_per_rank == 1.
/// Bubble per rank: (ranks - 1) * (forward + backward).
/// Peak live activations: min(ranks - rank, micro_batches).
/// When to use: the default for one stage a rank. With several stages a rank `Interleaved1F1B` has
/// a smaller bubble for more memory.
struct OneFOneB {
  static constexpr std::string_view name = "1f1b";
  static constexpr ScheduleNeeds needs{.stages_per_rank = 1};

  /// The forwards before the first backward.
  static constexpr int warm_up(PipelineShape shape, int rank) {
    const int to_loss = shape.ranks - rank;
    return to_loss < shape.micro_batches ? to_loss : shape.micro_batches;
  }

  static constexpr std::vector<Step> columns(PipelineShape shape, int rank) {
    std::vector<Step> steps;
    const int warm = warm_up(shape, rank);
    for (int newest = 0; newest < warm; ++newest) steps.push_back(forward(newest, rank));
    for (int oldest = 0; oldest < shape.micro_batches; ++oldest) {
      steps.push_back(backward(oldest, rank));
      const int newest = oldest + warm;
      if (newest < shape.micro_batches) steps.push_back(forward(newest, rank));
    }
    return steps;
  }

  /// The newest activation is sent behind the receive of the oldest gradient, so that neighbours
  /// meet under blocking sends; in the warm-up odd ranks send late for the same reason.
  template <class Emit>
  static constexpr void lower(OrderView columns, DataSteps data, Emit emit) {
    for (int rank = 0; rank < columns.ranks(); ++rank) lower_rank(columns.shape, rank, data, emit);
  }

 private:
  template <class Emit>
  static constexpr void lower_rank(PipelineShape shape, int rank, DataSteps data, Emit& emit) {
    const detail::StageSteps steps{shape, rank, data, emit};
    const int warm = warm_up(shape, rank);
    const int last = shape.micro_batches - 1;
    lower_warm_up(steps, warm, rank % 2 == 0);
    // Fewer micro-batches than stages from here on: the newest activation waits for no gradient.
    const bool unfilled = shape.ranks - rank > shape.micro_batches;
    if (unfilled) steps.send_activation(last);
    for (int oldest = 0; oldest <= last - warm; ++oldest) {
      const int newest = oldest + warm;
      steps.receive_gradient(oldest);
      steps.send_activation(newest - 1);
      steps.backward(oldest);
      steps.load(newest);
      steps.send_gradient(oldest);
      steps.receive_activation(newest);
      steps.forward(newest);
    }
    for (int oldest = last - warm + 1; oldest <= last; ++oldest) {
      steps.receive_gradient(oldest);
      if (oldest == last - warm + 1 && !unfilled) steps.send_activation(last);
      steps.backward(oldest);
      steps.send_gradient(oldest);
    }
  }

  template <class Steps>
  static constexpr void lower_warm_up(const Steps& steps, int warm, bool sends_at_once) {
    for (int newest = 0; newest < warm; ++newest) {
      steps.load(newest);
      steps.receive_activation(newest);
      if (!sends_at_once && newest > 0) steps.send_activation(newest - 1);
      steps.forward(newest);
      if (sends_at_once && newest != warm - 1) steps.send_activation(newest);
    }
  }
};

static_assert(schedule<OneFOneB>);

}  // namespace heddle
