#pragma once

#include <heddle/core/shape.hpp>
#include <heddle/core/step.hpp>
#include <heddle/schedule/schedule.hpp>

namespace heddle::detail {

/// Places the steps of one stage, neighbours on other ranks: what a lowering by hand is written
/// with. What a stage at an end of the pipeline has no neighbour for is left out.
template <class Emit>
class StageSteps {
 public:
  constexpr StageSteps(PipelineShape of, int stage, DataSteps data, Emit& emit)
      : stage_{stage},
        has_previous_{stage > 0},
        has_next_{stage + 1 < of.stages()},
        moves_data_{data == DataSteps::chain},
        emit_{emit} {}

  constexpr void load(int micro_batch) const {
    if (moves_data_) place(StepKind::load, micro_batch);
  }
  constexpr void receive_activation(int micro_batch) const {
    if (!has_previous_) return;
    if (moves_data_) place(StepKind::receive_data, micro_batch);
    place(StepKind::receive_activation, micro_batch);
  }
  constexpr void forward(int micro_batch) const { place(StepKind::forward, micro_batch); }
  constexpr void send_activation(int micro_batch) const {
    if (!has_next_) return;
    if (moves_data_) place(StepKind::send_data, micro_batch);
    place(StepKind::send_activation, micro_batch);
  }
  constexpr void receive_gradient(int micro_batch) const {
    if (has_next_) place(StepKind::receive_gradient, micro_batch);
  }
  constexpr void backward(int micro_batch) const { place(StepKind::backward, micro_batch); }
  constexpr void send_gradient(int micro_batch) const {
    if (has_previous_) place(StepKind::send_gradient, micro_batch);
  }

 private:
  constexpr void place(StepKind kind, int micro_batch) const {
    emit_(stage_, Step{kind, micro_batch, stage_});
  }

  int stage_;  // of one stage a rank: the rank too
  bool has_previous_;
  bool has_next_;
  bool moves_data_;
  Emit& emit_;
};

}  // namespace heddle::detail
