#pragma once

#include <string>
#include <string_view>

#include <heddle/core/csv_scanner.hpp>
#include <heddle/core/error.hpp>
#include <heddle/core/import.hpp>
#include <heddle/core/order.hpp>
#include <heddle/core/step.hpp>
#include <heddle/core/step_names.hpp>

namespace heddle {

/// Which steps of an order go into its CSV.
enum class CsvContent : unsigned char { every_step, compute_steps };

/// Appends `step` as PyTorch's pipelining writes it: stage, action, micro-batch (`2F3`,
/// `1SEND_B0`); nothing for idle.
///
/// Errors: Error for a step that has no action there, such as one that moves data.
inline void append_csv(std::string& out, Step step) {
  if (step.kind == StepKind::idle) return;
  if (is_user(step.kind) || names_of(step.kind).action.empty()) {
    throw Error("a " + words_of(step.kind) +
                " cannot be written as CSV, which has no action for it; make the order without "
                "such steps, or write it "
                "in the text form");
  }
  out += std::to_string(step.stage);
  out += names_of(step.kind).action;
  if (step.micro_batch != no_micro_batch) out += std::to_string(step.micro_batch);
}

/// Appends `order` as CSV: a row a rank, a step a cell, an empty cell for idle.
///
/// Idle columns at the end of a row are left out: they say nothing.
inline void append_csv(std::string& out, OrderView order,
                       CsvContent content = CsvContent::every_step) {
  for (int rank = 0; rank < order.ranks(); ++rank) {
    std::size_t separators = 0;
    for (const Step step : order.rank(rank)) {
      const bool written = content == CsvContent::every_step || is_compute(step.kind);
      if (step.kind != StepKind::idle && written) {
        out.append(separators, ',');
        separators = 0;
        append_csv(out, step);
      }
      if (step.kind == StepKind::idle || written) ++separators;
    }
    out += '\n';
  }
}

/// `step` as PyTorch's CSV writes it.
inline std::string csv_of(Step step) {
  std::string out;
  append_csv(out, step);
  return out;
}

/// `order` as PyTorch's CSV; `read_csv` is its inverse.
inline std::string csv_of(OrderView order, CsvContent content = CsvContent::every_step) {
  std::string out;
  append_csv(out, order, content);
  return out;
}

/// Reads an order from PyTorch's CSV: a row a rank, an action a cell, an empty cell is idle.
///
/// Composites such as `(0F3;3B1)OVERLAP_F_B` become their parts in order. Line ends may be LF or
/// CRLF; empty cells at the end of a row and empty lines at the end of the text say nothing. Which
/// rank runs a stage follows from the rows.
///
/// Complexity: linear in the length of the text.
/// Errors: FormatError with row, column and token of what is no action, or of what breaks
/// `expected`.
inline ImportedOrder read_csv(std::string_view text, const ExpectedShape& expected = {}) {
  detail::ReadRows rows;
  text = text.substr(0, text.find_last_not_of(" \t\r\n,") + 1);
  while (!text.empty()) {
    const auto line_end = text.find('\n');
    detail::read_csv_row(rows, text.substr(0, line_end));
    rows.end_row();
    text.remove_prefix(line_end == std::string_view::npos ? text.size() : line_end + 1);
  }
  return detail::OrderInference{std::move(rows), expected}.finish();
}

}  // namespace heddle
