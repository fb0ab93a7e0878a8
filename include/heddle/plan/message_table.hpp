#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <heddle/core/error.hpp>
#include <heddle/core/order.hpp>
#include <heddle/core/step.hpp>
#include <heddle/core/text.hpp>

namespace heddle::detail {

inline constexpr int nobody = -1;

/// One message of an order, as a simulation follows it.
struct Message {
  double time = 0;       ///< of arrival, once done
  int waiting = nobody;  ///< the rank that cannot go on before the other side comes
  bool announced = false;
  bool done = false;
};

/// A step that all ranks do together.
struct Collective {
  double time = 0;
  int arrived = 0;
};

/// The messages of an order by the receive that takes them; kinds that do not occur take no room.
class MessageTable {
 public:
  explicit MessageTable(OrderView order) : shape_{order.shape} {
    for (const Step step : order.steps) {
      if (is_receive(step.kind)) rows_[static_cast<std::size_t>(step.kind)].resize(size());
    }
  }

  /// Requires: a receive, or what would be one. A kind that does not occur has one message, never
  /// announced.
  Message& at(Step receive) {
    auto& row = rows_[static_cast<std::size_t>(receive.kind)];
    if (row.empty()) return absent_;
    if (receive.stage < no_stage || receive.stage >= shape_.stages() || receive.micro_batch < 0 ||
        receive.micro_batch >= shape_.micro_batches) {
      throw Error(text_of(receive) +
                  " is outside the order's shape; verify(order) says where it stands");
    }
    return row[static_cast<std::size_t>(receive.stage + 1) *
                   static_cast<std::size_t>(shape_.micro_batches) +
               static_cast<std::size_t>(receive.micro_batch)];
  }

  /// The broadcast of the tower or the reduction of its gradient: there is one of each, a step of
  /// it on every rank.
  Collective& collective(StepKind kind) {
    return kind == StepKind::broadcast_tower ? broadcast_ : reduction_;
  }

 private:
  std::size_t size() const {
    return static_cast<std::size_t>(shape_.stages() + 1) *
           static_cast<std::size_t>(shape_.micro_batches);
  }

  PipelineShape shape_;
  std::array<std::vector<Message>, static_cast<std::size_t>(StepKind::launch_offload)> rows_;
  Collective broadcast_;
  Collective reduction_;
  Message absent_;
};

}  // namespace heddle::detail
