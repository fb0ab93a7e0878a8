#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <heddle/core/step.hpp>
#include <heddle/core/timeline.hpp>

namespace heddle {

/// Sees the begin and the end of each step that a rank runs.
///
/// **Semantics.** Called on the thread of the rank. A step begins when what it waits for is there;
/// a step that fails has no end.
template <class Observer>
concept observer = requires(Observer& observer, Step step) {
  observer.begin(step);
  observer.end(step);
};

/// Sees nothing and costs nothing.
struct NoObserver {
  static constexpr void begin(Step /*step*/) {}
  static constexpr void end(Step /*step*/) {}
};

/// Measures when a rank did what.
class TimelineObserver {
 public:
  using Clock = std::chrono::steady_clock;

  /// Times count from `origin`, which all ranks should share where they can.
  explicit TimelineObserver(Clock::time_point origin = Clock::now()) : origin_{origin} {}

  void begin(Step /*step*/) { begin_ = seconds(); }
  void end(Step step) { spans_.push_back({step, begin_, seconds()}); }

  const std::vector<TimelineSpan>& spans() const { return spans_; }
  void clear() { spans_.clear(); }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - origin_).count(); }

  Clock::time_point origin_;
  double begin_ = 0;
  std::vector<TimelineSpan> spans_;
};

/// The spans of all ranks, to be drawn beside the plan.
inline Timeline measured_timeline(std::string title, std::vector<std::vector<TimelineSpan>> ranks) {
  return {.title = std::move(title), .unit = "s", .ranks = std::move(ranks)};
}

}  // namespace heddle
