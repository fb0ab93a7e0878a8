#include "circle.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace heddle_plan {

namespace {

using heddle::Step;
using heddle::StepKind;

/// Runs compute steps as far as they go.
class Walk {
 public:
  explicit Walk(heddle::OrderView compute)
      : compute_{compute},
        next_(static_cast<std::size_t>(compute.ranks())),
        made_(2 * static_cast<std::size_t>(compute.shape.stages()) *
              static_cast<std::size_t>(compute.shape.micro_batches)) {
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < compute.ranks(); ++rank) moved = proceed(rank) || moved;
    }
  }

  /// Follows the waiting from the first rank that stands until it comes back to a rank.
  std::vector<heddle::Action> circle() const {
    std::vector<heddle::Action> path;
    int rank = 0;
    while (rank < compute_.ranks() && !next_step(rank)) ++rank;
    if (rank == compute_.ranks()) return path;
    for (;;) {
      const auto met = std::ranges::find(path, rank, &heddle::Action::rank);
      if (met != path.end()) return {met, path.end()};
      const Step receive = *needed(*next_step(rank));
      path.push_back({rank, static_cast<int>(next_[at(rank)]), receive});
      rank = compute_.rank_of(heddle::matching_send(receive).stage);
    }
  }

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  std::optional<Step> next_step(int rank) const {
    const auto steps = compute_.rank(rank);
    if (next_[at(rank)] == steps.size()) return std::nullopt;
    return steps[next_[at(rank)]];
  }

  bool proceed(int rank) {
    bool moved = false;
    while (const auto step = next_step(rank)) {
      const auto receive = needed(*step);
      if (receive && !made(heddle::matching_send(*receive))) break;
      if (step->kind == StepKind::forward || is_gradient_maker(step->kind)) {
        made(step->kind == StepKind::forward, *step) = true;
      }
      ++next_[at(rank)];
      moved = true;
    }
    return moved;
  }

  static bool is_gradient_maker(StepKind kind) {
    return kind == StepKind::backward || kind == StepKind::backward_input;
  }

  /// The receive that `step` cannot do without, if its input comes from another rank.
  std::optional<Step> needed(Step step) const {
    const bool goes_forward = step.kind == StepKind::forward;
    if (!goes_forward && !is_gradient_maker(step.kind)) return std::nullopt;
    const int from = step.stage + (goes_forward ? -1 : 1);
    if (from < 0 || from >= compute_.shape.stages()) return std::nullopt;
    if (compute_.rank_of(from) == compute_.rank_of(step.stage)) return std::nullopt;
    const auto kind = goes_forward ? StepKind::receive_activation : StepKind::receive_gradient;
    return Step{kind, step.micro_batch, step.stage};
  }

  bool made(Step send) { return made(send.kind == StepKind::send_activation, send); }

  std::vector<bool>::reference made(bool activation, Step step) {
    return made_[2 * static_cast<std::size_t>(step.stage * compute_.shape.micro_batches +
                                              step.micro_batch) +
                 (activation ? 1 : 0)];
  }

  heddle::OrderView compute_;
  std::vector<std::size_t> next_;
  std::vector<bool> made_;
};

}  // namespace

std::vector<heddle::Action> circle_of(heddle::OrderView compute) { return Walk{compute}.circle(); }

}  // namespace heddle_plan
