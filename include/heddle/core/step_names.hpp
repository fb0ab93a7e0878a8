#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <heddle/core/step.hpp>

namespace heddle {

/// How a kind of step is written: its code in the text form, its action in PyTorch's CSV (empty:
/// none), and in words.
struct StepName {
  StepKind kind;
  std::string_view code;
  std::string_view action;
  std::string_view words;
};

/// Every built-in kind, in the order of the enumeration.
inline constexpr auto step_names = std::to_array<StepName>({
    {StepKind::idle, "-", "", "idle"},
    {StepKind::forward, "F", "F", "forward"},
    {StepKind::backward, "B", "B", "backward"},
    {StepKind::backward_input, "I", "I", "input half of the backward"},
    {StepKind::backward_weight, "W", "W", "weight half of the backward"},
    {StepKind::send_activation, "Fs", "SEND_F", "send of the activation"},
    {StepKind::receive_activation, "Fr", "RECV_F", "receive of the activation"},
    {StepKind::send_gradient, "Bs", "SEND_B", "send of the gradient"},
    {StepKind::receive_gradient, "Br", "RECV_B", "receive of the gradient"},
    {StepKind::load, "Dl", "", "load of the data"},
    {StepKind::send_data, "Ds", "", "send of the data"},
    {StepKind::receive_data, "Dr", "", "receive of the data"},
    {StepKind::broadcast_tower, "Mb", "", "broadcast of the tower"},
    {StepKind::tower_forward, "Mf", "", "tower forward"},
    {StepKind::send_feature, "Ms", "", "send of the features"},
    {StepKind::receive_feature, "Mr", "", "receive of the features"},
    {StepKind::send_tower_input, "Gs", "", "send of the tower's input"},
    {StepKind::receive_tower_input, "Gr", "", "receive of the tower's input"},
    {StepKind::tower_backward, "Mw", "", "tower backward"},
    {StepKind::send_feature_gradient, "Es", "", "send of the feature gradient"},
    {StepKind::receive_and_tower_backward, "Er", "",
     "receive of the feature gradient and tower backward"},
    {StepKind::reduce_tower_gradient, "Rg", "", "reduction of the tower's gradient"},
    {StepKind::launch_offload, "So", "", "launch of an offload"},
    {StepKind::wait_offload, "Sw", "", "wait for an offload"},
    {StepKind::launch_load, "Sl", "", "launch of a load"},
    {StepKind::wait_load, "Sx", "", "wait for a load"},
    {StepKind::unshard, "Uu", "UNSHARD", "unshard"},
    {StepKind::reshard, "Ur", "RESHARD", "reshard"},
    {StepKind::reduce_gradient, "Ug", "REDUCE_GRAD", "reduction of the gradient"},
    {StepKind::wait_reduce_gradient, "Uw", "WAIT_REDUCE_GRAD",
     "wait for the reduction of the gradient"},
    {StepKind::wait_send_activation, "Fw", "WAIT_SEND_F", "wait for the send of the activation"},
    {StepKind::wait_send_gradient, "Bw", "WAIT_SEND_B", "wait for the send of the gradient"},
});

/// The names of a built-in kind. Requires: `!is_user(kind)`.
constexpr const StepName& names_of(StepKind kind) {
  return step_names[static_cast<std::size_t>(kind)];
}

/// The kind with this code in the text form, if there is one.
constexpr std::optional<StepKind> kind_of_code(std::string_view code) {
  for (const auto& name : step_names) {
    if (name.code == code) return name.kind;
  }
  return std::nullopt;
}

/// The kind with this action in PyTorch's CSV form, if there is one.
constexpr std::optional<StepKind> kind_of_action(std::string_view action) {
  if (action.empty()) return std::nullopt;
  for (const auto& name : step_names) {
    if (name.action == action) return name.kind;
  }
  return std::nullopt;
}

/// The kind in words, to stand in a sentence.
inline std::string words_of(StepKind kind) {
  if (is_user(kind)) return "step of user kind " + std::to_string(user_number(kind));
  return std::string{names_of(kind).words};
}

}  // namespace heddle
