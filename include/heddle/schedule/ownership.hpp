#pragma once

#include <cstddef>
#include <vector>

#include <heddle/core/shape.hpp>
#include <heddle/schedule/mpipe_options.hpp>
#include <heddle/schedule/schedule.hpp>

namespace heddle {

/// The ranks that own a micro-batch under MPipe Transpose: the first so many.
constexpr int owning_ranks(PipelineShape shape) {
  return shape.ranks < shape.micro_batches ? shape.ranks : shape.micro_batches;
}

/// The rank that owns `micro_batch`.
constexpr int owner_of(OverflowMode overflow, PipelineShape shape, int micro_batch) {
  const int owning = owning_ranks(shape);
  if (overflow == OverflowMode::full) return micro_batch % owning;
  return micro_batch < owning ? micro_batch : 0;
}

/// The owner of each micro-batch.
constexpr std::vector<int> owners_of(OverflowMode overflow, PipelineShape shape) {
  std::vector<int> owners;
  for (int micro_batch = 0; micro_batch < shape.micro_batches; ++micro_batch)
    owners.push_back(owner_of(overflow, shape, micro_batch));
  return owners;
}

/// The rank that runs the tower of `policy` for `micro_batch`.
///
/// Requires: 0 <= micro_batch < shape.micro_batches.
/// Complexity: linear in micro-batches.
template <schedule Schedule>
  requires has_owners<Schedule>
constexpr int owner_of(const Schedule& policy, PipelineShape shape, int micro_batch) {
  return policy.owners(shape)[static_cast<std::size_t>(micro_batch)];
}

/// The same for a schedule that is known by its type.
template <schedule Schedule>
  requires has_owners<Schedule>
constexpr int owner_of(PipelineShape shape, int micro_batch) {
  return owner_of(Schedule{}, shape, micro_batch);
}

/// The micro-batches that `rank` runs the tower of `policy` for, ascending: those that it loads.
///
/// Complexity: linear in micro-batches.
template <schedule Schedule>
  requires has_owners<Schedule>
constexpr std::vector<int> owned_micro_batches(const Schedule& policy, PipelineShape shape,
                                               int rank) {
  const std::vector<int> owners = policy.owners(shape);
  std::vector<int> owned;
  for (int micro_batch = 0; micro_batch < shape.micro_batches; ++micro_batch) {
    if (owners[static_cast<std::size_t>(micro_batch)] == rank) owned.push_back(micro_batch);
  }
  return owned;
}

/// The same for a schedule that is known by its type.
template <schedule Schedule>
  requires has_owners<Schedule>
constexpr std::vector<int> owned_micro_batches(PipelineShape shape, int rank) {
  return owned_micro_batches(Schedule{}, shape, rank);
}

}  // namespace heddle
