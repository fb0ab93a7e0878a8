#pragma once

#include <heddle/core/order.hpp>
#include <heddle/core/step.hpp>
#include <heddle/schedule/lower.hpp>
#include <heddle/schedule/lowering.hpp>
#include <heddle/schedule/mpipe_options.hpp>
#include <heddle/schedule/ownership.hpp>
#include <heddle/schedule/schedule.hpp>

namespace heddle::detail {

/// Places the steps of the tower before, in and behind the order of a body.
///
/// Where nothing of the shape's first stages trains, neither does a tower below them.
template <class Emit>
class MPipeLowering {
 public:
  constexpr MPipeLowering(MPipeOptions options, PipelineShape of, DataSteps data, const Emit& emit)
      : overflow_{options.overflow},
        shape_{of},
        owning_{owning_ranks(of)},
        loads_{data == DataSteps::chain},
        runs_{!options.traits.data_only},
        trainable_{options.traits.tower == Tower::trainable},
        recomputes_{trainable_ && of.first_trained_stage == 0 &&
                    options.traits.backward == TowerBackward::rank0},
        reduces_{trainable_ && of.first_trained_stage == 0 &&
                 options.traits.backward == TowerBackward::owner},
        emit_{emit} {}

  /// The tower's steps that come before all others, rank by rank. Messages stand by kind and then
  /// by micro-batch on both sides, so that they meet in the order in which they are sent.
  constexpr void place_prefix() const {
    for (int rank = 0; rank < shape_.ranks; ++rank) {
      if (trainable_ && runs_) emit_(rank, Step{StepKind::broadcast_tower, rank, no_stage});
      for_each_ahead([&](int micro_batch, int owner) {
        if (owner == rank) place_forward(rank, micro_batch);
      });
      using enum StepKind;
      if (loads_) place_messages(rank, send_data, receive_data);
      if (runs_) place_messages(rank, send_feature, receive_feature);
      if (runs_ && recomputes_) place_messages(rank, send_tower_input, receive_tower_input);
    }
  }

  /// A step of the body, and on rank 0 what of the tower belongs to it. The body's own loads are
  /// left out: the owner has loaded.
  constexpr void place_body(int rank, const Step& step) const {
    if (step.kind == StepKind::load) return;
    const bool first = step.stage == 0;
    if (first && step.kind == StepKind::forward && !is_ahead(step.micro_batch))
      place_forward(rank, step.micro_batch);
    emit_(rank, step);
    if (first && recomputes_ && makes_gradient(step))
      emit_(rank, Step{StepKind::tower_backward, step.micro_batch, no_stage});
  }

  /// The backward of the owners, and the sum of their gradients.
  constexpr void place_suffix() const {
    if (!reduces_) return;
    using enum StepKind;
    for (int rank = 0; rank < shape_.ranks; ++rank) {
      for_each_ahead([&](int micro_batch, int owner) {
        if (owner == 0) return;
        if (rank == 0) emit_(rank, Step{send_feature_gradient, micro_batch, 0});
        if (rank == owner) emit_(rank, Step{receive_and_tower_backward, micro_batch, 0});
      });
      emit_(rank, Step{reduce_tower_gradient, no_micro_batch, 0});
    }
  }

 private:
  /// Whether the tower runs for `micro_batch` before the body does anything.
  constexpr bool is_ahead(int micro_batch) const {
    return overflow_ == OverflowMode::full || micro_batch < owning_;
  }

  template <class Use>
  constexpr void for_each_ahead(Use use) const {
    for (int micro_batch = 0; micro_batch < shape_.micro_batches && is_ahead(micro_batch);
         ++micro_batch) {
      use(micro_batch, owner_of(overflow_, shape_, micro_batch));
    }
  }

  constexpr void place_forward(int rank, int micro_batch) const {
    if (loads_) emit_(rank, Step{StepKind::load, micro_batch, no_stage});
    if (runs_) emit_(rank, Step{StepKind::tower_forward, micro_batch, no_stage});
  }

  /// What `rank` has of the messages from the owners to rank 0.
  constexpr void place_messages(int rank, StepKind send, StepKind receive) const {
    for_each_ahead([&](int micro_batch, int owner) {
      if (owner == 0) return;
      if (rank == owner) emit_(rank, Step{send, micro_batch, no_stage});
      if (rank == 0) emit_(rank, Step{receive, micro_batch, no_stage});
    });
  }

  OverflowMode overflow_;
  PipelineShape shape_;
  int owning_;
  bool loads_;
  bool runs_;
  bool trainable_;
  bool recomputes_;
  bool reduces_;
  const Emit& emit_;
};

/// Lowers `body` with its own lowering and puts the tower's steps around and into it.
template <schedule Body, class Emit>
constexpr void lower_mpipe(MPipeOptions options, const Body& body, OrderView columns,
                           DataSteps data, const Emit& emit) {
  const MPipeLowering<Emit> lowering{options, columns.shape, data, emit};
  lowering.place_prefix();
  lower_with(body, columns, data,
             [&](int rank, const Step& step) { lowering.place_body(rank, step); });
  lowering.place_suffix();
}

}  // namespace heddle::detail
