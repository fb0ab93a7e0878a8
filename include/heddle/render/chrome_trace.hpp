#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <heddle/core/number.hpp>
#include <heddle/core/step_names.hpp>
#include <heddle/core/text.hpp>
#include <heddle/core/timeline.hpp>
#include <heddle/render/format.hpp>

namespace heddle {

namespace detail {

/// Appends `text` as a JSON string.
inline void append_json(std::string& out, std::string_view text) {
  constexpr std::string_view hexadecimal = "0123456789abcdef";
  out += '"';
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (code < 0x20) {
      out += "\\u00";
      out += hexadecimal[code >> 4];
      out += hexadecimal[code & 15U];
    } else {
      out += letter;
    }
  }
  out += '"';
}

/// Appends what names a process or a thread of the trace.
inline void append_trace_name(std::string& out, std::string_view what, std::size_t process,
                              std::size_t thread, std::string_view name) {
  out += R"({"ph":"M","name":")";
  out += what;
  out += R"(","pid":)" + std::to_string(process) + R"(,"tid":)" + std::to_string(thread) +
         R"(,"args":{"name":)";
  append_json(out, name);
  out += "}}";
}

inline void append_trace_span(std::string& out, const TimelineSpan& span, double microseconds,
                              std::size_t process, std::size_t rank) {
  out += R"({"ph":"X","name":")" + text_of(span.step) + R"(","cat":")";
  out += name_of(look_of(span.step.kind));
  out +=
      R"(","pid":)" + std::to_string(process) + R"(,"tid":)" + std::to_string(rank) + R"(,"ts":)";
  append_number(out, span.begin * microseconds, 3);
  out += R"(,"dur":)";
  append_number(out, (span.end - span.begin) * microseconds, 3);
  out += R"(,"args":{"step":)";
  append_json(out, words_of(span.step.kind));
  if (span.step.stage != no_stage) out += R"(,"stage":)" + std::to_string(span.step.stage);
  if (span.step.micro_batch != no_micro_batch)
    out += R"(,"micro_batch":)" + std::to_string(span.step.micro_batch);
  out += "}}";
}

}  // namespace detail

/// `timelines` as a trace that Perfetto and Chrome open: a process each, a thread a rank.
///
/// A timeline in seconds keeps its time; one unit of a planned one is shown as a millisecond.
inline std::string chrome_trace(std::span<const Timeline> timelines) {
  std::string out = R"({"displayTimeUnit":"ms","traceEvents":[)";
  std::string_view separator = "\n";
  const auto separate = [&] {
    out += separator;
    separator = ",\n";
  };
  for (std::size_t process = 0; process < timelines.size(); ++process) {
    const auto& timeline = timelines[process];
    const double microseconds = timeline.unit == "s" ? 1e6 : 1e3;
    separate();
    detail::append_trace_name(out, "process_name", process, 0, timeline.title);
    for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
      separate();
      detail::append_trace_name(out, "thread_name", process, rank, "rank " + std::to_string(rank));
      for (const auto& span : timeline.ranks[rank]) {
        separate();
        detail::append_trace_span(out, span, microseconds, process, rank);
      }
    }
  }
  out += "\n]}\n";
  return out;
}

/// One timeline as a trace that Perfetto and Chrome open.
inline std::string chrome_trace(const Timeline& timeline) {
  return chrome_trace(std::span{&timeline, 1});
}

}  // namespace heddle
