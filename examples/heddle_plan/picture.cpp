#include "picture.hpp"

#include <heddle/core/csv.hpp>
#include <heddle/core/text.hpp>
#include <heddle/render/chrome_trace.hpp>
#include <heddle/render/svg.hpp>
#include <heddle/render/text.hpp>

namespace heddle_plan {

namespace {

std::string counted(int number, const std::string& thing) {
  return std::to_string(number) + ' ' + thing +
         (number == 1             ? ""
          : thing.ends_with("ch") ? "es"
                                  : "s");
}

std::string drawn(Format format, const std::vector<heddle::Timeline>& timelines) {
  if (format == Format::svg) return heddle::svg_timeline(timelines);
  if (format == Format::trace) return heddle::chrome_trace(timelines);
  std::string letters;
  for (const auto& timeline : timelines) heddle::append_text_timeline(letters, timeline);
  return letters;
}

}  // namespace

std::string words_of(heddle::PipelineShape shape) {
  return counted(shape.ranks, "rank") + " x " + counted(shape.stages_per_rank, "stage") + " x " +
         counted(shape.micro_batches, "micro-batch");
}

std::string picture_of(const Request& request, Format format, const heddle::Order& order,
                       const heddle::Order& columns, const std::string& title) {
  if (format == Format::steps) return heddle::text_of(order, heddle::Bubbles::left_out) + '\n';
  if (format == Format::csv) return heddle::csv_of(columns, heddle::CsvContent::compute_steps);
  auto plan = heddle::make_plan(order, request.costs, request.receives);
  if (format == Format::stats) return heddle::plan_json(plan);
  plan.timeline.title = title;
  return drawn(format, {plan.timeline});
}

std::string picture_of(const Request& request, std::vector<heddle::Candidate> candidates) {
  if (!request.format) return heddle::comparison_table(candidates);
  if (request.format == Format::stats) return heddle::comparison_json(candidates);
  std::vector<heddle::Timeline> timelines;
  for (auto& candidate : candidates) {
    timelines.push_back(std::move(candidate.plan.timeline));
    timelines.back().title = candidate.name;
  }
  return drawn(*request.format, timelines);
}

}  // namespace heddle_plan
