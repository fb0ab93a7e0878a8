#pragma once

#include <heddle/core/shape.hpp>
#include <heddle/schedule/schedule.hpp>
#include <heddle/verify/valid.hpp>

namespace heddle {

/// Says that the order of `Schedule` for `shape` was proved at compile time; see `proved`.
template <schedule Schedule, PipelineShape shape, DataSteps Data = DataSteps::none>
struct Proved {
  static_assert(valid<Schedule, shape, Data>);
};

/// An order that an executor takes without a check: if it were wrong, this would not compile.
///
/// Example: `Executor step{proved<Interleaved1F1B, shape>, std::move(stages), communicator, loss};`
template <schedule Schedule, PipelineShape shape, DataSteps Data = DataSteps::none>
inline constexpr Proved<Schedule, shape, Data> proved{};

}  // namespace heddle
