#pragma once

#include <cstdint>
#include <string>

#include <heddle/core/error.hpp>
#include <heddle/core/step.hpp>

namespace heddle {

/// What is counted of a tower.
enum class TowerPricing : std::uint8_t {
  /// Every tower backward, where it runs: if the owners run it, that of the first rank's own
  /// micro-batches as part of their first stage's. Messages of the tower are waited for as others
  /// are, and a broadcast or reduction takes as long as a message.
  complete,
  /// As the figures of the system that MPipe comes from: the first rank's own tower backward is
  /// free if the owners run it, and messages of the tower are always waited for where their receive
  /// stands.
  reference,
};

/// How long a step of one chunk (a stage and a micro-batch) takes; the unit is the user's.
///
/// What is not named here takes no time.
struct Costs {
  double forward = 1;
  double backward = 2;  ///< the whole backward
  double weight = 1;    ///< its weight half; the input half is the difference
  double latency = 0;   ///< from a send to the arrival of its message
  double tower_forward = 1;
  double tower_backward = 2;
  double first_stage_forward = 0;   ///< what the first stage's forward takes beyond the others'
  double first_stage_backward = 0;  ///< and its backward
  TowerPricing tower_pricing = TowerPricing::complete;

  friend constexpr bool operator==(const Costs&, const Costs&) = default;
};

/// Refuses costs that no machine has.
///
/// Errors: Error naming the cost.
inline void check(const Costs& costs) {
  const auto check_sign = [](double cost, const char* name) {
    if (!(cost >= 0))
      throw Error(std::string{"the cost "} + name +
                  " is negative or no number; it must be 0 or more");
  };
  check_sign(costs.forward, "forward");
  check_sign(costs.backward, "backward");
  check_sign(costs.weight, "weight");
  check_sign(costs.latency, "latency");
  check_sign(costs.tower_forward, "tower_forward");
  check_sign(costs.tower_backward, "tower_backward");
  check_sign(costs.first_stage_forward, "first_stage_forward");
  check_sign(costs.first_stage_backward, "first_stage_backward");
  if (costs.weight > costs.backward) {
    throw Error(
        "the cost weight is above backward, of which it is a part; it must be at most backward");
  }
}

/// The time that a step of this kind keeps its rank busy, waiting and what is special to the first
/// stage aside.
constexpr double cost_of(const Costs& costs, StepKind kind) {
  switch (kind) {
    case StepKind::forward: return costs.forward;
    case StepKind::backward: return costs.backward;
    case StepKind::backward_input: return costs.backward - costs.weight;
    case StepKind::backward_weight: return costs.weight;
    case StepKind::tower_forward: return costs.tower_forward;
    case StepKind::tower_backward:
      return costs.tower_forward + costs.tower_backward;  // it recomputes
    case StepKind::receive_and_tower_backward: return costs.tower_backward;
    default: return 0;
  }
}

/// When a rank waits for a message.
enum class Receives : std::uint8_t {
  async,       ///< in the step that uses it; sends never wait
  in_place,    ///< where the receive stands; sends never wait
  rendezvous,  ///< where it stands, and a send waits for its receive too
};

}  // namespace heddle
