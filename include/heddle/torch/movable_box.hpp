#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace heddle::detail {

/// Makes what can be move-constructed move-assignable too, as a lambda with captures is not.
template <class Value>
class MovableBox {
 public:
  explicit MovableBox(Value value) : value_{std::move(value)} {}

  MovableBox(MovableBox&&) = default;
  MovableBox(const MovableBox&) = default;
  ~MovableBox() = default;

  MovableBox& operator=(MovableBox&& other) noexcept(std::is_nothrow_move_constructible_v<Value>) {
    if (this != std::addressof(other)) value_.emplace(std::move(*other.value_));
    return *this;
  }

  MovableBox& operator=(const MovableBox& other)
    requires std::copy_constructible<Value>
  {
    if (this != std::addressof(other)) value_.emplace(*other.value_);
    return *this;
  }

  Value& operator*() { return *value_; }
  const Value& operator*() const { return *value_; }

 private:
  std::optional<Value> value_;
};

}  // namespace heddle::detail
