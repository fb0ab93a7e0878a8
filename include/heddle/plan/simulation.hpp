#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <heddle/core/error.hpp>
#include <heddle/core/order.hpp>
#include <heddle/core/step.hpp>
#include <heddle/core/text.hpp>
#include <heddle/core/timeline.hpp>
#include <heddle/plan/costs.hpp>
#include <heddle/plan/message_table.hpp>

namespace heddle {

/// What an order costs in time, per rank.
struct Simulation {
  double makespan = 0;
  std::vector<double> work;    ///< the time that the rank computes
  std::vector<double> bubble;  ///< the rest of the makespan
  std::vector<int> messages;   ///< sends that the rank posts
  Timeline timeline;
};

namespace detail {

/// Runs every rank's list until it waits for a message, and goes on with it when the message comes.
class Simulator {
 public:
  Simulator(OrderView order, const Costs& costs, Receives receives)
      : order_{order},
        costs_{costs},
        receives_{receives},
        is_complete_{costs.tower_pricing == TowerPricing::complete},
        table_{order},
        ranks_(static_cast<std::size_t>(order.ranks())) {
    result_.work.resize(ranks_.size());
    result_.messages.resize(ranks_.size());
    result_.timeline.ranks.resize(ranks_.size());
    for (const Step step : order.steps) {
      owners_train_ = owners_train_ || step.kind == StepKind::reduce_tower_gradient;
    }
  }

  Simulation run() {
    for (int rank = order_.ranks(); rank-- > 0;) awake_.push_back(rank);
    while (!awake_.empty()) {
      const int rank = awake_.back();
      awake_.pop_back();
      proceed(rank);
    }
    for (int rank = 0; rank < order_.ranks(); ++rank) check_completed(rank);
    for (const auto& rank : ranks_) result_.makespan = std::max(result_.makespan, rank.clock);
    for (const double work : result_.work) result_.bubble.push_back(result_.makespan - work);
    return std::move(result_);
  }

 private:
  struct Rank {
    std::size_t position = 0;
    double clock = 0;
    bool in_collective = false;
  };

  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  Rank& state(int rank) { return ranks_[at(rank)]; }

  void proceed(int rank) {
    const auto steps = order_.rank(rank);
    Rank& self = state(rank);
    while (self.position < steps.size()) {
      const Step step = steps[self.position];
      const double arrived = self.clock;
      if (!passes(rank, step)) return;
      const double cost = cost_of(costs_, step.kind) + extra_cost(step);
      // A transfer is drawn where it made its rank wait, work from the moment it had what it needs.
      const double begin = cost > 0 ? self.clock : arrived;
      self.clock += cost;
      if (self.clock > begin) result_.timeline.ranks[at(rank)].push_back({step, begin, self.clock});
      result_.work[at(rank)] += cost;
      ++self.position;
    }
  }

  /// What `step` takes because it belongs to the first stage.
  double extra_cost(Step step) const {
    using enum StepKind;
    if (step.stage != 0) return 0;
    if (step.kind == forward) return costs_.first_stage_forward;
    if (step.kind != backward && step.kind != backward_input) return 0;
    // The tower's graph of the rank's own micro-batch hangs together with that of the stage.
    const bool runs_tower = is_complete_ && owners_train_ && !order_.owner_of_micro_batch.empty() &&
                            order_.owner_of(step.micro_batch) == order_.rank_of(0);
    return costs_.first_stage_backward + (runs_tower ? costs_.tower_backward : 0);
  }

  /// Whether `rank` gets past what `step` waits for; if not, it is woken when that comes.
  bool passes(int rank, Step step) {
    using enum StepKind;
    switch (step.kind) {
      case forward:
        return has_data(rank, step) &&
               has_received(rank, {receive_activation, step.micro_batch, step.stage}) &&
               (step.stage != 0 ||
                has_received(rank, {receive_feature, step.micro_batch, no_stage}));
      case backward:
      case backward_input:
        return has_received(rank, {receive_gradient, step.micro_batch, step.stage});
      case tower_backward:
        return has_received(rank, {receive_tower_input, step.micro_batch, no_stage});
      case broadcast_tower:
      case reduce_tower_gradient: return all_arrive(rank, step.kind);
      default: break;
    }
    if (is_send(step.kind)) return posts(rank, step);
    if (is_receive(step.kind)) return takes(rank, step);
    return true;
  }

  /// Whether the data of the stage and micro-batch of `step` are there, if they are received.
  bool has_data(int rank, Step step) {
    return has_received(rank, {StepKind::receive_data, step.micro_batch, step.stage}) &&
           (step.stage != 0 ||
            has_received(rank, {StepKind::receive_data, step.micro_batch, no_stage}));
  }

  /// Whether what an earlier `receive` of this rank announced is there.
  bool has_received(int rank, Step receive) {
    Message& message = table_.at(receive);
    return !message.announced || arrives(rank, message);
  }

  /// Whether `message` was sent; the rank's clock is then not before its arrival.
  bool arrives(int rank, Message& message) {
    if (!message.done) {
      message.waiting = rank;
      return false;
    }
    state(rank).clock = std::max(state(rank).clock, message.time);
    return true;
  }

  bool posts(int rank, Step step) {
    const bool passes_on = step.kind == StepKind::send_data && step.stage != no_stage;
    if (passes_on && !has_data(rank, step)) return false;
    Message& message = table_.at(matching_receive(step));
    if (receives_ == Receives::rendezvous) {
      if (!meets(rank, message)) return false;
    } else {
      message.done = true;
      message.time = state(rank).clock + costs_.latency;
      wake(message);
    }
    ++result_.messages[at(rank)];
    return true;
  }

  bool takes(int rank, Step step) {
    Message& message = table_.at(step);
    if (receives_ == Receives::rendezvous) return meets(rank, message);
    const bool is_used_later = is_complete_ ? step.kind != StepKind::receive_and_tower_backward
                                            : !is_tower(step.kind) && step.stage != no_stage;
    if (receives_ != Receives::async || !is_used_later) return arrives(rank, message);
    message.announced = true;
    return true;
  }

  /// Both sides leave a rendezvous together.
  bool meets(int rank, Message& message) {
    if (message.done) {
      state(rank).clock = message.time;
      return true;
    }
    if (message.waiting == nobody || message.waiting == rank) {
      message.waiting = rank;
      return false;
    }
    message.done = true;
    message.time = std::max(state(rank).clock, state(message.waiting).clock) + costs_.latency;
    state(rank).clock = message.time;
    wake(message);
    return true;
  }

  /// All ranks leave a collective step together.
  bool all_arrive(int rank, StepKind kind) {
    Collective& collective = table_.collective(kind);
    if (!state(rank).in_collective) {
      state(rank).in_collective = true;
      collective.time = std::max(collective.time, state(rank).clock);
      if (++collective.arrived == order_.ranks()) {
        for (int other = 0; other < order_.ranks(); ++other) {
          if (other != rank) awake_.push_back(other);
        }
      }
    }
    if (collective.arrived < order_.ranks()) return false;
    state(rank).in_collective = false;
    const bool travels = is_complete_ && order_.ranks() > 1;
    state(rank).clock = collective.time + (travels ? costs_.latency : 0);
    return true;
  }

  void wake(Message& message) {
    if (message.waiting != nobody) awake_.push_back(message.waiting);
    message.waiting = nobody;
  }

  void check_completed(int rank) const {
    const auto steps = order_.rank(rank);
    const auto position = ranks_[at(rank)].position;
    if (position == steps.size()) return;
    throw Error("the order does not complete: rank " + std::to_string(rank) +
                " waits for ever at position " + std::to_string(position) + ", " +
                text_of(steps[position]) + "; verify(order) says why");
  }

  OrderView order_;
  Costs costs_;
  Receives receives_;
  bool is_complete_;
  bool owners_train_ = false;
  MessageTable table_;
  std::vector<Rank> ranks_;
  std::vector<int> awake_;
  Simulation result_;
};

}  // namespace detail

/// Runs `order` on a clock.
///
/// Requires: a lowered order that `verify` accepts.
/// Complexity: linear in steps.
/// Errors: Error for costs that cannot be, and for an order that does not complete.
inline Simulation simulate(OrderView order, const Costs& costs = {},
                           Receives receives = Receives::async) {
  check(costs);
  return detail::Simulator{order, costs, receives}.run();
}

}  // namespace heddle
