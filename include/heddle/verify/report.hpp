#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <heddle/core/error.hpp>
#include <heddle/core/order.hpp>
#include <heddle/core/step.hpp>
#include <heddle/core/text.hpp>
#include <heddle/verify/fault.hpp>
#include <heddle/verify/progress.hpp>
#include <heddle/verify/tower_coverage.hpp>

namespace heddle {

/// A step of an order and where it stands.
struct Action {
  int rank = 0;
  int position = no_position;
  Step step{};

  friend bool operator==(const Action&, const Action&) = default;
};

/// How a sentence writes a step: `text_of`, the default, or `csv_of`, or a writer of your own.
using StepWriter = std::string (*)(Step);

/// A fault in words, and for a standstill who waits for whom.
///
/// A receive out of turn is a fault of matching, but stands still all the same, so it has a cycle
/// too.
struct FaultReport : Fault {
  std::string sentence;

  /// Each action waits for a partner that its rank will come to only after the next action; the
  /// last one's comes after the first action, or, in a wait that never ends, nowhere. Empty for
  /// other laws.
  std::vector<Action> cycle;
};

namespace detail {

/// Puts a fault into words.
class FaultWriter {
 public:
  FaultWriter(OrderView order, const Fault& fault, StepWriter write)
      : order_{order}, fault_{fault}, write_{write} {}

  std::string sentence(const std::vector<Action>& cycle) const {
    if (fault_.kind == FaultKind::malformed_tables) {
      return "the tables of the order do not fit its shape: it needs a rank for each stage, in "
             "ascending order the first step of each rank and the end, and for a tower an owner of "
             "each micro-batch";
    }
    if (fault_.kind == FaultKind::wait_cycle || fault_.kind == FaultKind::endless_wait)
      return waiting(cycle);
    if (fault_.kind == FaultKind::overtaken_receive)
      return own_rule() + "; in a run " + waiting(cycle);
    if (fault_.position == no_position) return rank() + " never runs " + own() + missing();
    return own_rule();
  }

 private:
  std::string own_rule() const {
    return rank() + ", position " + std::to_string(fault_.position) + ": " + own() + " " + rule();
  }

  std::string rank() const { return "rank " + std::to_string(fault_.rank); }

  std::string own() const {
    if (fault_.kind != FaultKind::unknown_kind) return write_(fault_.step);
    return "a step of kind " +
           std::to_string(static_cast<int>(fault_.step.kind));  // it has no name
  }

  /// `Fs3@2 (rank 1, position 7)`, or `Fs3@2, which rank 1 never runs`.
  std::string other() const {
    const std::string on = "rank " + std::to_string(fault_.other_rank);
    if (fault_.other_position == no_position)
      return write_(fault_.other_step) + ", which " + on + " never runs";
    return write_(fault_.other_step) + " (" + on + ", position " +
           std::to_string(fault_.other_position) + ")";
  }

  static std::string up_to(int end) { return "0 to " + std::to_string(end - 1); }

  /// Why a step belongs to the rank that it belongs to.
  std::string home() const {
    const Step step = fault_.step;
    if (!is_outside(step)) return "which runs stage " + std::to_string(step.stage);
    if (step.kind == StepKind::broadcast_tower) return "whose number it carries";
    return is_of_first_rank(step.kind) ? "which runs stage 0" : "the owner of its micro-batch";
  }

  std::string missing() const {
    if (fault_.kind == FaultKind::missing_tower_forward)
      return "; the tower runs each micro-batch forward once, on its owner";
    if (fault_.kind == FaultKind::missing_tower_backward)
      return "; a tower that trains runs each micro-batch backward once";
    if (fault_.kind == FaultKind::missing_collective) return ", for which the other ranks wait";
    if (fault_.other_position == no_position)
      return "; each stage runs each micro-batch forward and backward once";
    return ", the other half of " + other();
  }

  std::string rule() const {
    const std::string stage = std::to_string(fault_.step.stage);
    switch (fault_.kind) {
      case FaultKind::unknown_kind: return "is of no kind that there is";
      case FaultKind::micro_batch_out_of_range:
        return "is for a micro-batch that the shape does not have; it has " +
               up_to(order_.shape.micro_batches);
      case FaultKind::stage_out_of_range:
        if (is_tower(fault_.step.kind)) {
          return "is for a stage where it cannot be; a step of this kind has stage " +
                 std::to_string(stage_outside(fault_.step.kind));
        }
        return "is for a stage where it cannot be; the shape has stages " +
               up_to(order_.shape.stages());
      case FaultKind::wrong_rank:
        return "belongs to rank " + std::to_string(fault_.other_rank) + ", " + home();
      case FaultKind::forward_twice: return "repeats the forward " + other();
      case FaultKind::backward_twice: return "repeats what was done by " + other();
      case FaultKind::tower_forward_twice: return "repeats the tower forward " + other();
      case FaultKind::tower_backward_twice: return "repeats the tower backward " + other();
      case FaultKind::collective_twice: return "repeats what all ranks do once, " + other();
      case FaultKind::untrained_backward:
        return "is a backward, but the first stage with anything to train is " +
               std::to_string(order_.shape.first_trained_stage);
      case FaultKind::no_neighbour:
        return "has nobody on the other side: no stage is beyond stage " + stage;
      case FaultKind::neighbour_on_rank:
        return "is needless: the stage on the other side is on the same rank and hands over in "
               "memory";
      case FaultKind::untrained_gradient:
        return "moves a gradient below stage " + std::to_string(order_.shape.first_trained_stage) +
               ", the first with anything to train";
      case FaultKind::send_twice: return "sends again what was sent by " + other();
      case FaultKind::receive_twice: return "receives again what was received by " + other();
      case FaultKind::send_to_itself: return "is received on the same rank, by " + other();
      case FaultKind::send_without_receive: return "lacks its receive " + other();
      case FaultKind::receive_without_send: return "lacks its send " + other();
      case FaultKind::overtaken_receive:
        return "comes after the receive of a later message from the same rank; its send is " +
               other();
      case FaultKind::too_many_live: return "saves more activations than the rank may hold";
      default: return "comes before what it needs: " + other();
    }
  }

  std::string waiting(const std::vector<Action>& cycle) const {
    const bool endless = fault_.kind == FaultKind::endless_wait;
    std::string text = endless ? "" : "these ranks wait for each other: ";
    for (const Action& action : cycle) {
      if (&action != &cycle.front()) text += "; ";
      text += "rank " + std::to_string(action.rank) + " at " + write_(action.step) + " (position " +
              std::to_string(action.position) + ")";
      const Action& next = &action == &cycle.back() ? cycle.front() : *(&action + 1);
      const Step partner = partner_of(action.step, next.rank);
      text += " waits for " + write_(partner);
      if (!endless) text += " of rank " + std::to_string(next.rank);
    }
    if (endless) {
      text += ", which rank " + std::to_string(fault_.other_rank) + " never runs";
    }
    return text;
  }

  static Step partner_of(Step step, int rank) {
    if (is_collective(step.kind)) return of_rank(step, rank);
    return is_send(step.kind) ? matching_receive(step) : matching_send(step);
  }

  OrderView order_;
  const Fault& fault_;
  StepWriter write_;
};

}  // namespace detail

/// The sentence of `report`, which `verify(order)` returned, with steps in another notation, such
/// as `csv_of`.
inline std::string describe(OrderView order, const FaultReport& report,
                            StepWriter write = &text_of) {
  return detail::FaultWriter{order, report, write}.sentence(report.cycle);
}

/// An order that breaks a law.
struct ScheduleError : Error {
  explicit ScheduleError(FaultReport fault_report)
      : Error(fault_report.sentence), report{std::move(fault_report)} {}

  FaultReport report;
};

}  // namespace heddle
