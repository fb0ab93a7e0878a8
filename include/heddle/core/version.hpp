#pragma once

#include <compare>

namespace heddle {

/// The library's version; semantic versioning, APIs may change until 1.0.
struct Version {
  int major = 0;
  int minor = 1;
  int patch = 0;

  friend constexpr auto operator<=>(const Version&, const Version&) = default;
};

inline constexpr Version version{};

}  // namespace heddle
