#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

namespace heddle {

/// The tensors of a boundary, of any dtype; an undefined tensor is an absent slot.
///
/// A slot that requires a gradient when it crosses a boundary gets one back: both sides read it off
/// the tensor, so that they agree.
class TorchBundle {
 public:
  using Value = at::Tensor;
  using Slots = c10::SmallVector<at::Tensor, 4>;

  TorchBundle() = default;
  TorchBundle(std::initializer_list<at::Tensor> slots) : slots_(slots.begin(), slots.end()) {}
  explicit TorchBundle(std::vector<at::Tensor> slots)
      : slots_(std::make_move_iterator(slots.begin()), std::make_move_iterator(slots.end())) {}

  Slots& slots() { return slots_; }
  const Slots& slots() const { return slots_; }

  std::size_t size() const { return slots_.size(); }
  bool empty() const { return slots_.empty(); }
  at::Tensor& operator[](std::size_t slot) { return slots_[slot]; }
  const at::Tensor& operator[](std::size_t slot) const { return slots_[slot]; }
  auto begin() { return slots_.begin(); }
  auto end() { return slots_.end(); }
  auto begin() const { return slots_.begin(); }
  auto end() const { return slots_.end(); }

  /// Adds a slot behind those that are there; an undefined tensor is an absent one.
  void append(at::Tensor value) { slots_.push_back(std::move(value)); }

  static std::int64_t length(const at::Tensor& value, int dimension) {
    return value.size(dimension);
  }

  /// A view, no copy.
  static at::Tensor narrow(const at::Tensor& value, int dimension, std::int64_t begin,
                           std::int64_t length) {
    return value.narrow(dimension, begin, length);
  }

 private:
  Slots slots_;
};

}  // namespace heddle
