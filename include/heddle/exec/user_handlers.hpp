#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <heddle/core/error.hpp>
#include <heddle/core/step.hpp>
#include <heddle/core/step_names.hpp>

namespace heddle::detail {

/// What runs the steps of a user's own kinds.
class UserHandlers {
 public:
  void add(StepKind kind, std::function<void(Step)> handler) {
    if (!is_user(kind)) {
      throw Error("a " + words_of(kind) +
                  " is a built-in kind of step; a kind of your own is user_kind(number)");
    }
    const auto number = static_cast<std::size_t>(user_number(kind));
    if (handlers_.size() <= number) handlers_.resize(number + 1);
    if (handlers_[number]) {
      throw Error("the " + words_of(kind) + " has a handler already; take another number");
    }
    handlers_[number] = std::move(handler);
  }

  /// Refuses kinds that have no handler.
  void check(const std::vector<StepKind>& kinds) const {
    for (const StepKind kind : kinds) {
      const auto number = static_cast<std::size_t>(user_number(kind));
      if (number < handlers_.size() && handlers_[number]) continue;
      throw Error("the order has a " + words_of(kind) +
                  ", which has no handler; give it one by on(user_kind(" + std::to_string(number) +
                  "), handler)");
    }
  }

  void call(Step step) const { handlers_[static_cast<std::size_t>(user_number(step.kind))](step); }

 private:
  std::vector<std::function<void(Step)>> handlers_;
};

}  // namespace heddle::detail
