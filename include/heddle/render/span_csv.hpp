#pragma once

#include <cstddef>
#include <string>

#include <heddle/core/number.hpp>
#include <heddle/core/step.hpp>
#include <heddle/core/text.hpp>
#include <heddle/core/timeline.hpp>
#include <heddle/render/format.hpp>

namespace heddle {

/// When each step began and ended, as a table with a line of names:
/// `rank,step,stage,micro_batch,begin,end`.
///
/// Times are in the timeline's unit and read back exactly; a step without stage or micro-batch
/// leaves the cell empty.
inline std::string span_csv(const Timeline& timeline) {
  std::string out = "rank,step,stage,micro_batch,begin,end\n";
  for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
    for (const auto& [step, begin, end] : timeline.ranks[rank]) {
      out += std::to_string(rank) + ',' + text_of(step) + ',';
      if (step.stage != no_stage) out += std::to_string(step.stage);
      out += ',';
      if (step.micro_batch != no_micro_batch) out += std::to_string(step.micro_batch);
      out += ',';
      detail::append_exact(out, begin);
      out += ',';
      detail::append_exact(out, end);
      out += '\n';
    }
  }
  return out;
}

}  // namespace heddle
