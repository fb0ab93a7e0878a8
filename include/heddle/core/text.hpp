#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <heddle/core/import.hpp>
#include <heddle/core/order.hpp>
#include <heddle/core/step.hpp>
#include <heddle/core/step_names.hpp>
#include <heddle/core/text_scanner.hpp>

namespace heddle {

/// What a writer does with the idle columns of a compute order.
enum class Bubbles : unsigned char { written, left_out };

/// Appends `step` as it stands in the text form: `F3@2`, `Rgx@0` without a micro-batch, `X5.3@2`
/// for the user's kind 5,
/// `-1` for a bubble.
inline void append_text(std::string& out, Step step) {
  if (step.kind == StepKind::idle) {
    out += "-1";
    return;
  }
  if (is_user(step.kind)) {
    out += 'X';
    out += std::to_string(user_number(step.kind));
    out += '.';
  } else {
    out += names_of(step.kind).code;
  }
  out += step.micro_batch == no_micro_batch ? "x" : std::to_string(step.micro_batch);
  out += '@';
  out += std::to_string(step.stage);
}

/// Appends an order as one line: steps by one blank, ranks by ` / `, k bubbles in a row as `-k`.
inline void append_text(std::string& out, OrderView order, Bubbles bubbles = Bubbles::written) {
  for (int rank = 0; rank < order.ranks(); ++rank) {
    if (rank > 0) out += " / ";
    std::size_t idle_run = 0;
    bool first = true;
    const auto separate = [&] {
      if (!first) out += ' ';
      first = false;
    };
    const auto flush = [&] {
      if (idle_run > 0 && bubbles == Bubbles::written) {
        separate();
        out += '-' + std::to_string(idle_run);
      }
      idle_run = 0;
    };
    for (const Step step : order.rank(rank)) {
      if (step.kind == StepKind::idle) {
        ++idle_run;
        continue;
      }
      flush();
      separate();
      append_text(out, step);
    }
    flush();
  }
}

/// `step` in the text form.
inline std::string text_of(Step step) {
  std::string out;
  append_text(out, step);
  return out;
}

/// `order` in the text form; `read_text` is its inverse.
inline std::string text_of(OrderView order, Bubbles bubbles = Bubbles::written) {
  std::string out;
  append_text(out, order, bubbles);
  return out;
}

/// The step that `token` is in the text form, if it is one; at compile time too.
constexpr std::optional<Step> step_of_text(std::string_view token) {
  const auto parsed = detail::parse_text_step(token);
  if (!parsed.rule.empty()) return std::nullopt;
  return parsed.step;
}

/// Whether `order` is exactly what `text` says; at compile time too. `Bubbles::left_out` compares
/// without bubbles.
///
/// Complexity: linear in the length of the text.
constexpr bool reads(OrderView order, std::string_view text, Bubbles bubbles = Bubbles::written) {
  std::size_t next = 0;
  int rank = 0;
  const auto skip_idle = [&] {
    while (bubbles == Bubbles::left_out && next < order.rank(rank).size() &&
           order.rank(rank)[next].kind == StepKind::idle) {
      ++next;
    }
  };
  detail::TextScanner scanner{text};
  for (;;) {
    const auto item = scanner.next();
    if (item.what == detail::TextItem::What::bad || rank >= order.ranks()) return false;
    skip_idle();
    const auto steps = order.rank(rank);
    if (item.what == detail::TextItem::What::step) {
      if (next >= steps.size() || steps[next] != item.step) return false;
      ++next;
    } else if (item.what == detail::TextItem::What::bubbles) {
      for (int k = 0; k < item.count && bubbles == Bubbles::written; ++k, ++next) {
        if (next >= steps.size() || steps[next].kind != StepKind::idle) return false;
      }
    } else {
      if (next != steps.size()) return false;
      if (item.what == detail::TextItem::What::end) return rank + 1 == order.ranks();
      ++rank;
      next = 0;
    }
  }
}

/// Reads an order in the text form. The parts of composites (`[a|b]`, `{a|b}`, `[a|b]^(c d)`)
/// become steps in their order.
///
/// Complexity: linear in the length of the text.
/// Errors: FormatError with rank, position and token of what is no step, or of what breaks
/// `expected`.
inline ImportedOrder read_text(std::string_view text, const ExpectedShape& expected = {}) {
  using What = detail::TextItem::What;
  detail::ReadRows rows;
  detail::TextScanner scanner{text};
  for (int column = 1;; ++column) {
    const auto item = scanner.next();
    if (item.what == What::bad) {
      throw FormatError(rows.row(), column, std::string{item.token}, std::string{item.rule});
    }
    if (item.what == What::step) rows.add(item.step, column, item.token);
    if (item.what == What::bubbles) {
      for (int k = 0; k < item.count; ++k) rows.add(idle, column, item.token);
    }
    if (item.what == What::rank_end || item.what == What::end) {
      rows.end_row();
      column = 0;
    }
    if (item.what == What::end) break;
  }
  return detail::OrderInference{std::move(rows), expected}.finish();
}

}  // namespace heddle
