#pragma once

#include <cstdint>
#include <vector>

#include <heddle/core/step.hpp>

namespace heddle {

/// What the executor does for one step of its rank.
enum class Operation : std::uint8_t {
  forward,
  forward_loss,  ///< the forward of the last stage, with the loss
  backward,
  backward_input,
  backward_weight,
  send,
  receive,
  load,
  user,
};

/// In an instruction that takes or leaves no buffer.
inline constexpr int no_buffer = -1;

/// One step of a rank with all that can be known about it before it runs: where its bundles are and
/// whom it talks to.
struct Instruction {
  Step step;
  Operation operation{};
  bool completes = false;  ///< the last step of a run that adds to the gradients of its stage
  int stage = 0;           ///< which of the rank's own stages, counted from 0
  int peer = 0;            ///< the other rank of a transfer
  int slot = -1;           ///< where the stage keeps what its backward needs; -1: nowhere
  int input = no_buffer;   ///< the bundle that it uses up
  int output = no_buffer;  ///< the bundle that it makes
  int data = no_buffer;    ///< the data of the micro-batch that travel beside the activations
};

/// All steps of one rank, ready to run, and the size of the storage that they need.
struct Program {
  std::vector<Instruction> instructions;
  std::vector<int> stages;  ///< the stages of the rank, ascending
  int slots = 0;    ///< the most micro-batches, over all its stages, that wait for their backward
  int buffers = 0;  ///< the most bundles that wait for their consumer
  bool splits_backward = false;
  std::vector<StepKind> user_kinds;
};

/// The most that was alive at once on a rank: micro-batches that wait for their backward, bundles
/// that wait for their consumer.
struct LivePeaks {
  int slots = 0;
  int buffers = 0;

  friend constexpr bool operator==(const LivePeaks&, const LivePeaks&) = default;
};

}  // namespace heddle
