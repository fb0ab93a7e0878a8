#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <heddle/core/step.hpp>

namespace heddle {

/// One step with its begin and end, in the unit of its timeline.
struct TimelineSpan {
  Step step;
  double begin = 0;
  double end = 0;
};

/// When every rank did what: planned by a simulation or measured by an observer, drawn by the same
/// writers.
struct Timeline {
  std::string title;
  std::string unit =
      "chunk forwards";  ///< what 1.0 is: "chunk forwards" when planned, "s" when measured
  std::vector<std::vector<TimelineSpan>> ranks;  ///< the spans of each rank, by begin

  /// The end of the last span.
  double makespan() const {
    double end = 0;
    for (const auto& spans : ranks) {
      for (const auto& span : spans) end = std::max(end, span.end);
    }
    return end;
  }
};

}  // namespace heddle
