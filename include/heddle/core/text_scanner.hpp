#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <heddle/core/step.hpp>
#include <heddle/core/step_names.hpp>

namespace heddle::detail {

/// Nothing in an order is numbered higher; keeps every sum of numbers in an `int`.
inline constexpr int largest_number = 99'999'999;

/// Takes a number off the front of `text`, if one stands there and is not too large.
constexpr std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    value = value * 10 + (text[digits] - '0');
    if (value > largest_number) return std::nullopt;
    ++digits;
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

/// Takes `prefix` off the front of `text`, if it stands there.
constexpr bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Steps that may stand without a micro-batch.
constexpr bool may_lack_micro_batch(StepKind kind) {
  using enum StepKind;
  return is_user(kind) || kind == reduce_tower_gradient ||
         (kind >= unshard && kind <= wait_send_gradient);
}

/// A token as a step, or the rule that it breaks.
struct ParsedStep {
  Step step{};
  std::string_view rule{};
};

/// The kind at the front of `text`, which is taken off; `X5.` is the user's kind 5.
constexpr std::optional<StepKind> take_text_kind(std::string_view& text) {
  if (take(text, "X")) {
    const auto number = take_number(text);
    if (!number || *number > 127 || !take(text, ".")) return std::nullopt;
    return user_kind(*number);
  }
  std::size_t length = 0;
  while (length < text.size() && text[length] != 'x' && (text[length] < '0' || text[length] > '9'))
    ++length;
  if (text.substr(0, length) == "S" && text.substr(0, 2) == "Sx")
    length = 2;  // this x is part of the code
  const auto kind = kind_of_code(text.substr(0, length));
  if (!kind || *kind == StepKind::idle) return std::nullopt;
  text.remove_prefix(length);
  return kind;
}

/// Reads `F3@2`.
constexpr ParsedStep parse_text_step(std::string_view token) {
  const auto kind = take_text_kind(token);
  if (!kind)
    return {
        .rule =
            "no step is written so; a step is a code, a micro-batch, @ and a stage, such as F3@2"};
  Step step{*kind, no_micro_batch, no_stage};
  if (!take(token, "x")) {
    const auto micro_batch = take_number(token);
    if (!micro_batch)
      return {.rule = "after the code stands a micro-batch, a number from 0, or x for none"};
    step.micro_batch = *micro_batch;
  } else if (!may_lack_micro_batch(*kind)) {
    return {.rule = "this kind of step needs a micro-batch"};
  }
  if (!take(token, "@")) return {.rule = "between micro-batch and stage stands @"};
  if (!take(token, "-1")) {
    const auto stage = take_number(token);
    if (!stage) return {.rule = "after @ stands a stage, a number from 0, or -1 for none"};
    step.stage = *stage;
  } else if (is_compute(*kind)) {
    return {.rule = "this kind of step needs a stage"};
  }
  if (!token.empty()) return {.rule = "nothing may follow the stage"};
  return {.step = step};
}

/// What the scanner finds next.
struct TextItem {
  enum class What : std::uint8_t { step, bubbles, rank_end, end, bad };

  What what{};
  Step step{};
  int count = 0;  ///< of bubbles
  std::string_view token{};
  std::string_view rule{};
};

/// Reads the text form item by item, in constexpr code too; composites are opened.
class TextScanner {
 public:
  constexpr explicit TextScanner(std::string_view text) : text_{text} {}

  constexpr TextItem next() {
    for (;;) {
      skip_blanks();
      if (text_.empty()) return closing_ == 0 ? TextItem{.what = TextItem::What::end} : unclosed();
      const char first = text_.front();
      if (closing_ == 0 && first == '/') {
        text_.remove_prefix(1);
        return {.what = TextItem::What::rank_end};
      }
      if (closing_ == 0 && (first == '[' || first == '{')) {
        text_.remove_prefix(1);
        closing_ = first == '[' ? ']' : '}';
        continue;
      }
      if (closing_ != 0 && first == closing_) {
        text_.remove_prefix(1);
        closing_ = closing_ == ']' && take(text_, "^(") ? ')' : '\0';
        continue;
      }
      if (closing_ != 0 && closing_ != ')' && first == '|') {
        text_.remove_prefix(1);
        continue;
      }
      return scan_token();
    }
  }

 private:
  static constexpr bool is_blank(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
  }

  constexpr void skip_blanks() {
    while (!text_.empty() && is_blank(text_.front())) text_.remove_prefix(1);
  }

  static constexpr TextItem unclosed() {
    return {.what = TextItem::What::bad, .rule = "a composite that was opened is not closed"};
  }

  constexpr TextItem scan_token() {
    std::size_t length = 1;
    while (length < text_.size() && !ends_token(text_[length])) ++length;
    const auto token = text_.substr(0, length);
    text_.remove_prefix(length);
    if (closing_ == 0 && token.front() == '-') {
      auto digits = token.substr(1);
      const auto count = take_number(digits);
      // A run of bubbles costs memory without costing text, so it is bounded.
      if (!count || *count < 1 || *count > 1'000'000 || !digits.empty()) {
        return bad(token, "bubbles are written as - and their number, 1 to 1000000");
      }
      return {.what = TextItem::What::bubbles, .count = *count, .token = token};
    }
    const auto parsed = parse_text_step(token);
    if (!parsed.rule.empty()) return bad(token, parsed.rule);
    return {.what = TextItem::What::step, .step = parsed.step, .token = token};
  }

  constexpr bool ends_token(char letter) const {
    return is_blank(letter) || letter == '/' ||
           (closing_ != 0 && (letter == closing_ || letter == '|'));
  }

  static constexpr TextItem bad(std::string_view token, std::string_view rule) {
    return {.what = TextItem::What::bad, .token = token, .rule = rule};
  }

  std::string_view text_;
  char closing_ = '\0';
};

}  // namespace heddle::detail
