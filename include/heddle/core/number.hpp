#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::detail {

/// Appends `value` with at most `decimals` digits behind the point, and no zeros at the end.
inline void append_number(std::string& out, double value, int decimals) {
  std::array<char, 512> digits{};  // the largest double has 309 before the point
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::fixed, decimals);
  std::string_view text{digits.data(), static_cast<std::size_t>(end.ptr - digits.data())};
  if (text.find('.') != std::string_view::npos) {
    text = text.substr(0, text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.remove_suffix(1);
  }
  out += text == "-0" ? "0" : text;
}

inline std::string number_text(double value, int decimals) {
  std::string out;
  append_number(out, value, decimals);
  return out;
}

/// The whole number nearest to `value`; <cmath>, which has this too, is too dear to include.
///
/// Requires: 0 <= value < 2^53.
constexpr std::size_t rounded(double value) {
  const auto whole = static_cast<std::size_t>(value);
  return value - static_cast<double>(whole) < 0.5 ? whole : whole + 1;
}

/// Appends the shortest text that reads back as `value`.
inline void append_exact(std::string& out, double value) {
  std::array<char, 64> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), end.ptr);
}

}  // namespace heddle::detail
