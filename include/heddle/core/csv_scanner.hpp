#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <heddle/core/error.hpp>
#include <heddle/core/import.hpp>
#include <heddle/core/step.hpp>
#include <heddle/core/step_names.hpp>
#include <heddle/core/text_scanner.hpp>

namespace heddle::detail {

constexpr std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Reads `2F3`.
constexpr ParsedStep parse_csv_step(std::string_view token) {
  const auto stage = take_number(token);
  if (!stage) return {.rule = "an action begins with its stage, a number from 0, such as 2F3"};
  std::size_t length = 0;
  while (length < token.size() &&
         (token[length] == '_' || (token[length] >= 'A' && token[length] <= 'Z')))
    ++length;
  const auto kind = kind_of_action(token.substr(0, length));
  if (!kind) {
    return {.rule =
                "unknown action; known are F, B, I, W, SEND_F, RECV_F, SEND_B, RECV_B, "
                "WAIT_SEND_F, WAIT_SEND_B, "
                "UNSHARD, RESHARD, REDUCE_GRAD, WAIT_REDUCE_GRAD and (a;b)OVERLAP_F_B"};
  }
  token.remove_prefix(length);
  if (token.empty() && may_lack_micro_batch(*kind))
    return {.step = {*kind, no_micro_batch, *stage}};
  const auto micro_batch = take_number(token);
  if (!micro_batch || !token.empty())
    return {.rule = "an action ends with its micro-batch, a number from 0, such as 2F3"};
  return {.step = {*kind, *micro_batch, *stage}};
}

/// Reads `(0F3;3B1)OVERLAP_F_B`, whose every part gets the whole cell.
inline void read_csv_composite(ReadRows& rows, int column, std::string_view cell) {
  const auto refuse_cell = [&](const std::string& rule) {
    throw FormatError(rows.row(), column, std::string{cell}, rule);
  };
  const auto close = cell.find(')');
  if (close == std::string_view::npos) refuse_cell("a composite is written (a;b)OVERLAP_F_B");
  const auto name = cell.substr(close + 1);
  if (name != "OVERLAP_F_B" && name != "OVERLAP_B_F") {
    refuse_cell("unknown composite; known are (a;b)OVERLAP_F_B and (a;b)OVERLAP_B_F");
  }
  auto parts = cell.substr(1, close - 1);
  for (bool more = true; more;) {
    const auto separator = parts.find(';');
    const auto part = trimmed(parts.substr(0, separator));
    const auto parsed = parse_csv_step(part);
    if (!parsed.rule.empty())
      refuse_cell("in '" + std::string{part} + "': " + std::string{parsed.rule});
    rows.add(parsed.step, column, cell);
    more = separator != std::string_view::npos;
    if (more) parts.remove_prefix(separator + 1);
  }
}

/// Adds the steps of one line; idle ones only where a step follows.
inline void read_csv_row(ReadRows& rows, std::string_view line) {
  line = line.substr(0, line.find_last_not_of(" \t\r,") + 1);
  for (int column = 1; !line.empty(); ++column) {
    const auto separator = line.find(',');
    const auto cell = trimmed(line.substr(0, separator));
    if (cell.empty()) {
      rows.add(idle, column, cell);
    } else if (cell.front() == '(') {
      read_csv_composite(rows, column, cell);
    } else {
      const auto parsed = parse_csv_step(cell);
      if (!parsed.rule.empty()) {
        throw FormatError(rows.row(), column, std::string{cell}, std::string{parsed.rule});
      }
      rows.add(parsed.step, column, cell);
    }
    line.remove_prefix(separator == std::string_view::npos ? line.size() : separator + 1);
  }
}

}  // namespace heddle::detail
