#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <heddle/core/order.hpp>
#include <heddle/core/shape.hpp>
#include <heddle/core/step.hpp>
#include <heddle/schedule/exec_order.hpp>
#include <heddle/verify/verify.hpp>

namespace heddle::detail {

/// Forwards only, for stages that are where a training order has them.
///
/// Each rank takes as many micro-batches as there are ranks through all of its stages before it
/// takes the next ones, so that ranks with several stages wait for none of their own outputs.
inline Order evaluation_order(PipelineShape shape, std::span<const int> ranks_of_stages,
                              int micro_batches) {
  shape.micro_batches = micro_batches;
  shape.first_trained_stage = shape.stages();
  if (const auto fault = shape_fault(shape)) throw ShapeError(*fault, "evaluation");
  std::vector<std::vector<Step>> lists(static_cast<std::size_t>(shape.ranks));
  for (int begin = 0; begin < micro_batches; begin += shape.ranks) {
    const int end = std::min(begin + shape.ranks, micro_batches);
    for (int stage = 0; stage < shape.stages(); ++stage) {
      auto& list =
          lists[static_cast<std::size_t>(ranks_of_stages[static_cast<std::size_t>(stage)])];
      for (int index = begin; index < end; ++index) list.push_back(forward(index, stage));
    }
  }
  Order order = lower(Order{shape, {ranks_of_stages.begin(), ranks_of_stages.end()}, lists});
  if (const auto fault = verify(order)) throw ScheduleError(*fault);
  return order;
}

}  // namespace heddle::detail
