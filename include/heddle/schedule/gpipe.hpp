#pragma once

#include <ranges>
#include <string_view>

#include <heddle/schedule/schedule.hpp>
#include <heddle/schedule/stage_steps.hpp>

namespace heddle {

/// Runs every forward, then every backward.
///
/// Requires: shape.stages_per_rank == 1.
/// Bubble per rank: (ranks - 1) * (forward + backward).
/// Peak live activations: shape.micro_batches on every rank.
/// When to use: as a yardstick, or where all activations fit; `OneFOneB` has the same bubble and a
/// smaller peak.
struct GPipe {
  static constexpr std::string_view name = "gpipe";
  static constexpr ScheduleNeeds needs{.stages_per_rank = 1};

  static constexpr auto columns(PipelineShape shape, int rank) {
    return std::views::iota(0, 2 * shape.micro_batches) | std::views::transform([=](int position) {
             const int micro_batch = position % shape.micro_batches;
             return position < shape.micro_batches ? forward(micro_batch, rank)
                                                   : backward(micro_batch, rank);
           });
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
