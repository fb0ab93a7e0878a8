#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <heddle/core/error.hpp>
#include <heddle/core/order.hpp>
#include <heddle/core/placement.hpp>
#include <heddle/schedule/schedule.hpp>

namespace heddle {

/// The stages that one rank runs, each with its index in the pipeline, ascending.
template <class Stage>
struct LocalStages {
  std::vector<int> indices;
  std::vector<Stage> stages;

  /// Adds the stage with this index in the pipeline.
  void add(int index, Stage stage) {
    indices.push_back(index);
    stages.push_back(std::move(stage));
  }
};

/// What `factory(stage)` makes for each stage that `rank` runs, where their places are those of
/// `policy`.
template <schedule Schedule, class Factory>
auto local_stages(const Schedule& policy, PipelineShape shape, int rank, Factory&& factory) {
  LocalStages<decltype(factory(int{}))> made;
  for (const int stage : stages_of_rank(placement_of(policy), shape, rank)) {
    made.add(stage, factory(stage));
  }
  return made;
}

/// The same for a schedule that is known by its type.
template <schedule Schedule, class Factory>
auto local_stages(PipelineShape shape, int rank, Factory&& factory) {
  return local_stages(Schedule{}, shape, rank, std::forward<Factory>(factory));
}

namespace detail {

inline std::string list_of(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text.empty() ? "none" : text;
}

/// Refuses stages that are not exactly those of `rank`, ascending.
template <class Stage>
void check_local_stages(const LocalStages<Stage>& stages, const std::vector<int>& expected,
                        int rank) {
  if (stages.indices == expected && stages.stages.size() == expected.size()) return;
  throw Error("rank " + std::to_string(rank) + " was given the stages " + list_of(stages.indices) +
              ", but runs the stages " + list_of(expected) +
              ", ascending; local_stages makes such a list");
}

}  // namespace detail

}  // namespace heddle
