#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <heddle/core/number.hpp>
#include <heddle/core/step.hpp>
#include <heddle/core/step_names.hpp>
#include <heddle/core/timeline.hpp>
#include <heddle/render/format.hpp>

namespace heddle {

/// How a timeline is drawn with letters.
struct TextDrawing {
  int columns = 160;  ///< letters for the whole of the time, at most
};

namespace detail {

/// How much of a step's name is drawn: `2F3`, `F3` or `F`.
enum class Label : std::uint8_t { whole, without_stage, kind_only };

inline std::string drawn_label(Step step, Label label) {
  std::string out;
  if (label == Label::whole && step.stage != no_stage) out += std::to_string(step.stage);
  out += is_user(step.kind) ? "X" : names_of(step.kind).code;
  if (label != Label::kind_only && step.micro_batch != no_micro_batch)
    out += std::to_string(step.micro_batch);
  return out;
}

/// Draws the work of one timeline; one style of label for the whole picture.
class TextPicture {
 public:
  TextPicture(const Timeline& timeline, TextDrawing drawing) : timeline_{timeline} {
    const double room = timeline.makespan() > 0 ? drawing.columns / timeline.makespan() : 0;
    for (const auto label : {Label::whole, Label::without_stage}) {
      label_ = label;
      scale_ = letters_per_unit();
      if (scale_ <= room) return;
    }
    label_ = Label::kind_only;
    scale_ = room > 1 ? static_cast<double>(static_cast<std::size_t>(room)) : room;
  }

  std::string line(const std::vector<TimelineSpan>& spans) const {
    std::string letters(place(timeline_.makespan()), '.');
    for (const auto& span : spans) {
      const auto look = look_of(span.step.kind);
      const std::size_t begin = place(span.begin);
      const std::size_t length = place(span.end) - begin;
      if (!is_work(look) || length == 0) continue;
      const auto label = drawn_label(span.step, label_).substr(0, length);
      letters.replace(begin, length, length, look == Look::forward ? '-' : '=');
      letters.replace(begin, label.size(), label);
    }
    return letters;
  }

 private:
  /// As many as every label needs; a label that begins with a digit keeps a letter free behind it.
  double letters_per_unit() const {
    double letters = 0;
    for (const auto& spans : timeline_.ranks) {
      for (const auto& span : spans) {
        const double length = span.end - span.begin;
        if (!is_work(look_of(span.step.kind)) || length <= 0) continue;
        const auto label = drawn_label(span.step, label_).size() + (label_ == Label::whole ? 1 : 0);
        letters = std::max(letters, static_cast<double>(label) / length);
      }
    }
    return letters > 1 ? rounded_up(letters) : letters;
  }

  static double rounded_up(double number) {
    if (number > 1e6) return number;  // does not fit anyway
    const auto below = static_cast<double>(static_cast<std::size_t>(number));
    return below < number ? below + 1 : below;
  }

  std::size_t place(double time) const { return rounded(time * scale_); }

  const Timeline& timeline_;
  Label label_ = Label::whole;
  double scale_ = 0;  ///< letters per unit of time
};

}  // namespace detail

/// Appends `timeline` as letters, a line a rank: `-` fills a forward, `=` a backward or a half of
/// one, `.` is idle.
///
/// A step is named `2F3` (stage, kind, micro-batch), or shorter where not all such names find room.
/// Transfers are not drawn.
inline void append_text_timeline(std::string& out, const Timeline& timeline,
                                 TextDrawing drawing = {}) {
  const detail::TextPicture picture{timeline, drawing};
  const std::size_t name_width = std::to_string(timeline.ranks.size() - 1).size();
  if (!timeline.title.empty()) out += timeline.title + ": ";
  out += detail::summary_of(timeline) + '\n';
  for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
    const auto name = std::to_string(rank);
    out += "rank " + std::string(name_width - name.size(), ' ') + name + " |" +
           picture.line(timeline.ranks[rank]) + "|\n";
  }
}

/// `timeline` as letters.
inline std::string text_timeline(const Timeline& timeline, TextDrawing drawing = {}) {
  std::string out;
  append_text_timeline(out, timeline, drawing);
  return out;
}

}  // namespace heddle
