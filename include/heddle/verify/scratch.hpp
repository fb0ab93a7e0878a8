#pragma once

#include <cstddef>
#include <type_traits>

namespace heddle::detail {

/// Zeroed memory of a law while it looks at an order. A `std::vector` without the calls that a
/// constant evaluation pays for: laws take `data()` once and index the plain pointer.
template <class Element>
class Scratch {
 public:
  constexpr explicit Scratch(std::size_t size) : elements_{new Element[size]{}} {}
  constexpr explicit Scratch(int size) : Scratch{static_cast<std::size_t>(size)} {}
  constexpr ~Scratch() { delete[] elements_; }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  constexpr Element* data() { return elements_; }
  constexpr const Element* data() const { return elements_; }

 private:
  static_assert(std::is_trivially_copyable_v<Element>);
  Element* elements_;
};

}  // namespace heddle::detail
