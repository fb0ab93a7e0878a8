#pragma once

#include <string_view>
#include <vector>

#include <heddle/schedule/schedule.hpp>
#include <heddle/schedule/stage_steps.hpp>

namespace heddle {

/// Runs every forward, then every backward.
///
/// Requires: shape.stages_per_rank == 1.
/// Bubble per rank: (ranks - 1) * (forward + backward).
/// Peak live activations: shape.micro_batches on every rank.
/// When to use: as a yardstick; `OneFOneB` has the same bubble and a smaller peak.
struct GPipe {
  static constexpr std::string_view name = "gpipe";
  static constexpr ScheduleNeeds needs{.stages_per_rank = 1};

  static constexpr std::vector<Step> columns(PipelineShape shape, int rank) {
    std::vector<Step> steps;
    const int end = shape.micro_batches;
    for (int micro_batch = 0; micro_batch < end; ++micro_batch) {
      steps.push_back(forward(micro_batch, rank));
    }
    for (int micro_batch = 0; micro_batch < end; ++micro_batch) {
      steps.push_back(backward(micro_batch, rank));
    }
    return steps;
  }

  /// Each receive stands before its consumer, each send behind its producer.
  template <class Emit>
  static constexpr void lower(OrderView columns, DataSteps data, Emit emit) {
    for (int rank = 0; rank < columns.ranks(); ++rank) {
      const detail::StageSteps steps{columns.shape, rank, data, emit};
      for (int micro_batch = 0; micro_batch < columns.shape.micro_batches; ++micro_batch) {
        steps.load(micro_batch);
        steps.receive_activation(micro_batch);
        steps.forward(micro_batch);
        steps.send_activation(micro_batch);
      }
      for (int micro_batch = 0; micro_batch < columns.shape.micro_batches; ++micro_batch) {
        steps.receive_gradient(micro_batch);
        steps.backward(micro_batch);
        steps.send_gradient(micro_batch);
      }
    }
  }
};

static_assert(schedule<GPipe>);

}  // namespace heddle
