#pragma once

#include <cstdint>
#include <vector>

#include <heddle/core/shape.hpp>

namespace heddle {

/// Which rank runs which stage.
///
/// `loop`: stage s on rank s mod P. `v`: a serpentine of any depth, so that a row of P stages is
/// walked back by the next one and the stages at each fold are neighbours on one rank.
enum class Placement : std::uint8_t { loop, v };

/// The rank that runs `stage`. Requires: 0 <= stage, ranks >= 1.
constexpr int rank_of(Placement placement, int ranks, int stage) {
  const int position = stage % ranks;
  const bool walks_back = placement == Placement::v && (stage / ranks) % 2 == 1;
  return walks_back ? ranks - 1 - position : position;
}

/// The stage that `rank` runs as its `local`-th, counted from the input: the inverse of `rank_of`.
constexpr int stage_of(Placement placement, int ranks, int rank, int local) {
  const bool walks_back = placement == Placement::v && local % 2 == 1;
  return local * ranks + (walks_back ? ranks - 1 - rank : rank);
}

/// The rank of each stage of `shape`, by stage.
constexpr std::vector<int> ranks_of_stages(Placement placement, PipelineShape shape) {
  std::vector<int> ranks;
  for (int stage = 0; stage < shape.stages(); ++stage)
    ranks.push_back(rank_of(placement, shape.ranks, stage));
  return ranks;
}

/// The stages that `rank` runs, ascending.
constexpr std::vector<int> stages_of_rank(Placement placement, PipelineShape shape, int rank) {
  std::vector<int> stages;
  for (int local = 0; local < shape.stages_per_rank; ++local) {
    stages.push_back(stage_of(placement, shape.ranks, rank, local));
  }
  return stages;
}

}  // namespace heddle
