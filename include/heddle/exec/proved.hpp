#pragma once

#include <heddle/core/shape.hpp>
#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/schedule.hpp>

namespace heddle {

/// Says that the order of `Schedule` for `shape` was proved at compile time; see `proved`.
template <schedule Schedule, PipelineShape shape, DataSteps Data = DataSteps::none>
struct Proved {};

/// An order that needs no check when an executor is made of it: if it were wrong, this would not
/// compile.
template <schedule Schedule, PipelineShape shape, DataSteps Data = DataSteps::none>
inline constexpr Proved<Schedule, shape, Data> proved{};

}  // namespace heddle
