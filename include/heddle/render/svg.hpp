#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <heddle/core/number.hpp>
#include <heddle/core/step_names.hpp>
#include <heddle/core/timeline.hpp>
#include <heddle/render/format.hpp>

namespace heddle {

/// The size of an SVG picture, in pixels.
struct SvgDrawing {
  int width = 1200;
  int lane_height = 30;
};

namespace detail {

/// Appends `text` as XML character data.
inline void append_xml(std::string& out, std::string_view text) {
  for (const char letter : text) {
    switch (letter) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += letter;
    }
  }
}

/// The fill of each look, from the rank's first stage to its last; white letters go on all of them.
struct Shade {
  std::array<double, 3> first;
  std::array<double, 3> last;
};

inline constexpr std::array<Shade, looks> shades{{
    {{0x4d, 0x8f, 0xe0}, {0x1d, 0x4f, 0x91}},  // forward: blue
    {{0xe9, 0x7d, 0x38}, {0xa8, 0x43, 0x0f}},  // backward: orange
    {{0xe5, 0x6b, 0x6f}, {0x9b, 0x22, 0x26}},  // input half: red
    {{0x5f, 0xb4, 0x7b}, {0x1e, 0x6b, 0x3c}},  // weight half: green
    {{0x9d, 0x7b, 0xd8}, {0x9d, 0x7b, 0xd8}},  // tower: violet
    {{0x86, 0x8e, 0x96}, {0x86, 0x8e, 0x96}},  // transfer: grey
    {{0x5c, 0x63, 0x6a}, {0x5c, 0x63, 0x6a}},  // other: dark grey
}};

/// The colour of the `place`-th of `count` stages, as `#rrggbb`.
inline std::string colour_of(Look look, std::size_t place, std::size_t count) {
  constexpr std::string_view hexadecimal = "0123456789abcdef";
  const auto& shade = shades[static_cast<std::size_t>(look)];
  const double part =
      count > 1 ? static_cast<double>(place) / static_cast<double>(count - 1) : 0.25;
  std::string out = "#";
  for (std::size_t channel = 0; channel < 3; ++channel) {
    const double mixed = shade.first[channel] + part * (shade.last[channel] - shade.first[channel]);
    const auto value = rounded(mixed);
    out += hexadecimal[value >> 4U];
    out += hexadecimal[value & 15U];
  }
  return out;
}

/// A round distance between ticks, and the digits behind the point that it needs.
struct Ticks {
  double distance = 1;
  int decimals = 0;
};

/// The least distance of 1, 2 or 5 times a power of ten that cuts `length` into at most `most`
/// pieces.
inline Ticks ticks_of(double length, double most) {
  double power = 1;
  int decimals = 0;
  while (power * most >= length && decimals < 12) {
    power /= 10;
    ++decimals;
  }
  while (power * 10 * most < length) {
    power *= 10;
    --decimals;
  }
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power * most >= length) return {factor * power, std::max(decimals, 0)};
  }
  return {10 * power, std::max(decimals - 1, 0)};
}

/// Draws one timeline after the other, each with an axis of its own.
class SvgPicture {
 public:
  explicit SvgPicture(SvgDrawing drawing) : drawing_{drawing} {}

  /// `length` is the time that the whole width stands for.
  void add(const Timeline& timeline, double length) {
    text(left, top_ + 18, "title", timeline.title.empty() ? "timeline" : timeline.title);
    text(drawing_.width - right, top_ + 18, "summary", summary_of(timeline));
    top_ += 34;
    scale_ = length > 0 ? (drawing_.width - left - right) / length : 0;
    axis(timeline, length);
    for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank)
      lane(rank, timeline.ranks[rank]);
    top_ += 44;
  }

  std::string finish() {
    legend();
    const auto width = std::to_string(drawing_.width);
    const auto height = number_text(top_ + 34, 0);
    std::string out = R"(<svg xmlns="http://www.w3.org/2000/svg" width=")" + width +
                      R"(" height=")" + height + R"(" viewBox="0 0 )" + width + ' ' + height +
                      R"(" font-family="system-ui, sans-serif" )" + "font-size=\"11\">\n";
    out += style;
    out += R"(<rect width="100%" height="100%" fill="#ffffff"/>)";
    out += '\n';
    return out + body_ + "</svg>\n";
  }

 private:
  static constexpr double left = 64;
  static constexpr double right = 20;
  static constexpr double gap = 5;
  static constexpr std::string_view style =
      "<style>.title{font-size:15px;font-weight:600;fill:#212529}.summary{text-anchor:end;fill:#"
      "495057}"
      ".rank{text-anchor:end;fill:#212529;font-size:12px}.tick{text-anchor:middle;fill:#495057}"
      ".unit{text-anchor:end;fill:#495057}.label{text-anchor:middle;fill:#ffffff}.legend{fill:#"
      "212529}"
      ".lane{fill:#f1f3f5}.grid{stroke:#dee2e6}</style>\n";

  double x(double time) const { return left + time * scale_; }

  void number(std::string_view before, double value) {
    body_ += before;
    append_number(body_, value, 2);
  }

  void text(double at_x, double at_y, std::string_view style_class, std::string_view words) {
    number("<text x=\"", at_x);
    number("\" y=\"", at_y);
    body_ += "\" class=\"";
    body_ += style_class;
    body_ += "\">";
    append_xml(body_, words);
    body_ += "</text>\n";
  }

  void rectangle(double at_x, double at_y, double width, double height) {
    number("<rect x=\"", at_x);
    number("\" y=\"", at_y);
    number("\" width=\"", width);
    number("\" height=\"", height);
  }

  void axis(const Timeline& timeline, double length) {
    const double lanes = static_cast<double>(timeline.ranks.size()) * (drawing_.lane_height + gap);
    if (length <= 0) return;
    const auto [distance, decimals] = ticks_of(length, 20);
    for (int tick = 0; tick * distance <= length * (1 + 1e-9); ++tick) {
      const double at = x(tick * distance);
      number(R"(<line class="grid" x1=")", at);
      number("\" x2=\"", at);
      number("\" y1=\"", top_ - 4);
      number("\" y2=\"", top_ + lanes + 2);
      body_ += "\"/>\n";
      text(at, top_ + lanes + 15, "tick", number_text(tick * distance, decimals));
    }
    text(drawing_.width - right, top_ + lanes + 30, "unit", "time in " + timeline.unit);
  }

  void lane(std::size_t rank, const std::vector<TimelineSpan>& spans) {
    text(left - 10, top_ + drawing_.lane_height * 0.5 + 4, "rank", "rank " + std::to_string(rank));
    rectangle(left, top_, drawing_.width - left - right, drawing_.lane_height);
    body_ += "\" rx=\"3\" class=\"lane\"/>\n";
    const auto stages = stages_in(spans);
    for (const auto& span : spans) {
      if (span.end > span.begin) draw(span, stages, rank);
    }
    top_ += drawing_.lane_height + gap;
  }

  void draw(const TimelineSpan& span, const std::vector<int>& stages, std::size_t rank) {
    const Look look = look_of(span.step.kind);
    const auto place = static_cast<std::size_t>(
        std::lower_bound(stages.begin(), stages.end(), span.step.stage) - stages.begin());
    seen_[static_cast<std::size_t>(look)] =
        std::max(seen_[static_cast<std::size_t>(look)], stages.size());
    const double width = (span.end - span.begin) * scale_;
    const double inset = width > 3 ? 0.5 : 0;  // a hair between neighbours, where there is room
    const double height =
        look != Look::transfer ? drawing_.lane_height : 4;  // transfers run along the lane's foot
    rectangle(x(span.begin) + inset, top_ + drawing_.lane_height - height,
              std::max(width - 2 * inset, 0.2), height);
    body_ += "\" rx=\"" + std::string{width > 6 && look != Look::transfer ? "2" : "0"} +
             "\" fill=\"" +
             colour_of(look, std::min(place, std::max<std::size_t>(stages.size(), 1) - 1),
                       stages.size()) +
             "\"><title>";
    body_ += words_of(span.step.kind);
    if (span.step.micro_batch != no_micro_batch)
      body_ += ", micro-batch " + std::to_string(span.step.micro_batch);
    if (span.step.stage != no_stage) body_ += ", stage " + std::to_string(span.step.stage);
    body_ += ", rank " + std::to_string(rank) + ": " + number_text(span.begin, 6) + " to " +
             number_text(span.end, 6) + "</title></rect>\n";
    if (!is_work(look) || span.step.micro_batch == no_micro_batch) return;
    const auto label = std::to_string(span.step.micro_batch);
    if (width > 4 + 7 * static_cast<double>(label.size())) {
      text(x(span.begin) + width * 0.5, top_ + drawing_.lane_height * 0.5 + 4, "label", label);
    }
  }

  void legend() {
    double at = left;
    for (std::size_t index = 0; index < looks; ++index) {
      if (seen_[index] == 0) continue;
      const auto look = static_cast<Look>(index);
      const std::size_t count = is_compute_look(look) ? seen_[index] : 1;
      for (std::size_t place = 0; place < count; ++place) {
        rectangle(at, top_, 14, 14);
        body_ += R"(" rx="2" fill=")" + colour_of(look, place, count) + "\"/>\n";
        at += 16;
      }
      const auto words =
          std::string{name_of(look)} + (count > 1 ? " (first to last stage of the rank)" : "");
      text(at + 4, top_ + 11, "legend", words);
      at += 26 + 6.2 * static_cast<double>(words.size());
    }
  }

  static constexpr bool is_compute_look(Look look) { return look <= Look::weight_half; }

  SvgDrawing drawing_;
  std::string body_;
  double top_ = 14;
  double scale_ = 0;
  std::array<std::size_t, looks> seen_{};  ///< the most stages of a rank that has the look
};

}  // namespace detail

/// `timelines` as a picture, one above the other: give the planned one first and the measured one
/// second.
///
/// Colour says what a step is, its shade which of the rank's stages, the number in it the
/// micro-batch; pointing at a step shows all of it. Timelines with the same unit share their scale.
inline std::string svg_timeline(std::span<const Timeline> timelines, SvgDrawing drawing = {}) {
  detail::SvgPicture picture{drawing};
  for (const auto& timeline : timelines) {
    double length = 0;
    for (const auto& other : timelines) {
      if (other.unit == timeline.unit) length = std::max(length, other.makespan());
    }
    picture.add(timeline, length);
  }
  return picture.finish();
}

/// One timeline as a picture.
inline std::string svg_timeline(const Timeline& timeline, SvgDrawing drawing = {}) {
  return svg_timeline(std::span{&timeline, 1}, drawing);
}

}  // namespace heddle
