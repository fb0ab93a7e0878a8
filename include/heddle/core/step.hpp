#pragma once

#include <cstdint>

namespace heddle {

/// What a rank does in one step of an order.
///
/// A send carries the stage that *produced* its payload, a receive the stage that will *consume*
/// it. Tower steps (MPipe Transpose) and data steps outside the stage chain carry stage -1.
enum class StepKind : std::uint8_t {
  idle,  ///< a bubble: only compute orders have it, lowering takes it out

  forward,
  backward,         ///< the whole backward
  backward_input,   ///< its input-gradient half
  backward_weight,  ///< its weight-gradient half

  send_activation,
  receive_activation,
  send_gradient,
  receive_gradient,

  load,  ///< takes a micro-batch from the loader
  send_data,
  receive_data,

  broadcast_tower,  ///< tower parameters from rank 0; the micro-batch field holds the emitting rank
  tower_forward,
  send_feature,
  receive_feature,
  send_tower_input,
  receive_tower_input,
  tower_backward,              ///< on rank 0, by recompute
  send_feature_gradient,       ///< rank 0 to the owner
  receive_and_tower_backward,  ///< on the owner
  reduce_tower_gradient,

  // Read from other systems' orders and kept, never made by a schedule of this library.
  launch_offload,
  wait_offload,
  launch_load,
  wait_load,
  unshard,
  reshard,
  reduce_gradient,
  wait_reduce_gradient,
  wait_send_activation,
  wait_send_gradient,

  first_user_kind = 128,  ///< from here on the kinds belong to the user, see `user_kind`
};

/// The `number`-th kind of step of the user's own, 0 .. 127.
constexpr StepKind user_kind(int number) {
  return static_cast<StepKind>(static_cast<int>(StepKind::first_user_kind) + number);
}

/// Which user's kind this is; the inverse of `user_kind`.
constexpr int user_number(StepKind kind) {
  return static_cast<int>(kind) - static_cast<int>(StepKind::first_user_kind);
}

/// In a step that belongs to no micro-batch.
inline constexpr int no_micro_batch = -1;

/// In a step that belongs to no stage of the body.
inline constexpr int no_stage = -1;

/// One thing that a rank does: a kind, a micro-batch and a stage. A default step is idle.
struct Step {
  StepKind kind = StepKind::idle;
  int micro_batch = no_micro_batch;
  int stage = no_stage;

  friend constexpr bool operator==(const Step&, const Step&) = default;
};

/// A bubble in a compute order.
inline constexpr Step idle{};

constexpr Step forward(int micro_batch, int stage) {
  return {StepKind::forward, micro_batch, stage};
}
constexpr Step backward(int micro_batch, int stage) {
  return {StepKind::backward, micro_batch, stage};
}
constexpr Step backward_input(int micro_batch, int stage) {
  return {StepKind::backward_input, micro_batch, stage};
}
constexpr Step backward_weight(int micro_batch, int stage) {
  return {StepKind::backward_weight, micro_batch, stage};
}

constexpr bool is_user(StepKind kind) { return kind >= StepKind::first_user_kind; }

/// Forward, backward or one half of a backward of a stage.
constexpr bool is_compute(StepKind kind) {
  return kind >= StepKind::forward && kind <= StepKind::backward_weight;
}

/// Posts a message to another rank.
constexpr bool is_send(StepKind kind) {
  using enum StepKind;
  return kind == send_activation || kind == send_gradient || kind == send_data ||
         kind == send_feature || kind == send_tower_input || kind == send_feature_gradient;
}

/// Takes a message from another rank.
constexpr bool is_receive(StepKind kind) {
  using enum StepKind;
  return kind == receive_activation || kind == receive_gradient || kind == receive_data ||
         kind == receive_feature || kind == receive_tower_input ||
         kind == receive_and_tower_backward;
}

constexpr bool is_transfer(StepKind kind) { return is_send(kind) || is_receive(kind); }

/// Loads an input or moves it along the chain of stages.
constexpr bool is_data(StepKind kind) {
  return kind >= StepKind::load && kind <= StepKind::receive_data;
}

/// Belongs to MPipe Transpose.
constexpr bool is_tower(StepKind kind) {
  return kind >= StepKind::broadcast_tower && kind <= StepKind::reduce_tower_gradient;
}

/// Known from other systems' orders, but not run by this library.
constexpr bool is_foreign(StepKind kind) {
  return kind >= StepKind::launch_offload && kind <= StepKind::wait_send_gradient;
}

/// The receive on the other rank that takes what `send` posts. Requires: `is_send(send.kind)`.
constexpr Step matching_receive(Step send) {
  using enum StepKind;
  const int next = send.stage == no_stage ? no_stage : send.stage + 1;
  switch (send.kind) {
    case send_activation: return {receive_activation, send.micro_batch, next};
    case send_gradient: return {receive_gradient, send.micro_batch, send.stage - 1};
    case send_data: return {receive_data, send.micro_batch, next};
    case send_feature: return {receive_feature, send.micro_batch, send.stage};
    case send_tower_input: return {receive_tower_input, send.micro_batch, send.stage};
    case send_feature_gradient: return {receive_and_tower_backward, send.micro_batch, send.stage};
    default: return Step{};
  }
}

/// The send on the other rank whose payload `receive` takes. Requires: `is_receive(receive.kind)`.
constexpr Step matching_send(Step receive) {
  using enum StepKind;
  const int previous = receive.stage == no_stage ? no_stage : receive.stage - 1;
  switch (receive.kind) {
    case receive_activation: return {send_activation, receive.micro_batch, previous};
    case receive_gradient: return {send_gradient, receive.micro_batch, receive.stage + 1};
    case receive_data: return {send_data, receive.micro_batch, previous};
    case receive_feature: return {send_feature, receive.micro_batch, receive.stage};
    case receive_tower_input: return {send_tower_input, receive.micro_batch, receive.stage};
    case receive_and_tower_backward:
      return {send_feature_gradient, receive.micro_batch, receive.stage};
    default: return Step{};
  }
}

}  // namespace heddle
