#pragma once

#include <optional>
#include <string_view>

#include <heddle/core/step.hpp>
#include <heddle/core/text.hpp>

namespace heddle_test {

/// Takes the first word of `text` off it.
constexpr std::string_view next_word(std::string_view& text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return text = {};
  text.remove_prefix(begin);
  const auto word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

/// The number in decimal digits at the end of `word`.
constexpr int number_at_end(std::string_view word) {
  int value = 0;
  for (const char letter : word) {
    if (letter >= '0' && letter <= '9') value = 10 * value + (letter - '0');
  }
  return value;
}

/// Whether `columns` are those that `text` lists: "F0 - B0", or with stages "F0@1 - B0@1".
template <class Columns>
constexpr bool reads(const Columns& columns, std::string_view text) {
  for (const heddle::Step step : columns) {
    const auto word = next_word(text);
    if (step == heddle::idle) {
      if (word != "-") return false;
    } else if (word.find('@') != std::string_view::npos) {
      if (heddle::step_of_text(word) != std::optional{step}) return false;
    } else {
      const auto code = word.substr(0, word.find_first_of("0123456789"));
      if (heddle::kind_of_code(code) != std::optional{step.kind}) return false;
      if (number_at_end(word) != step.micro_batch) return false;
    }
  }
  return next_word(text).empty();
}

}  // namespace heddle_test
