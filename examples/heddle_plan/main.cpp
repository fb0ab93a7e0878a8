// heddle-plan: prints what a schedule does for a shape, compares schedules, and verifies orders
// from elsewhere.

#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include <heddle/core/version.hpp>
#include <heddle/plan/transposition.hpp>
#include <heddle/schedule/catalogue.hpp>
#include <heddle/schedule/exec_order.hpp>

#include "check.hpp"
#include "flags.hpp"
#include "picture.hpp"

namespace {

using heddle_plan::Format;
using heddle_plan::Request;
using heddle_plan::Task;
using heddle_plan::UsageError;

heddle::PipelineShape shape_of(const Request& request) {
  return {.ranks = request.shape.ranks.value_or(0),
          .stages_per_rank = request.shape.stages_per_rank.value_or(1),
          .micro_batches = request.shape.micro_batches.value_or(0)};
}

/// Calls `use(order, columns)` for the schedule of this name.
template <class Use>
std::string with_order(const Request& request, const std::string& name, Use use) {
  const heddle::ScheduleOptions options{
      .interleaved = request.interleaved, .mpipe = request.mpipe, .body = request.body};
  return heddle::with_schedule(name, options, [&](auto schedule) {
    const auto shape = shape_of(request);
    return use(heddle::exec_order(schedule, shape, request.data),
               heddle::compute_order(schedule, shape));
  });
}

std::string plan(const Request& request) {
  const auto& name = request.schedules.front();
  const auto title = name + ", " + heddle_plan::words_of(shape_of(request));
  return with_order(request, name, [&](const auto& order, const auto& columns) {
    return picture_of(request, request.format.value_or(Format::steps), order, columns, title);
  });
}

heddle::Plan plan_of(const Request& request, const std::string& name, const heddle::Costs& costs) {
  heddle::Plan plan;
  with_order(request, name, [&](const auto& order, const auto&) {
    plan = heddle::make_plan(order, costs, request.receives);
    return std::string{};
  });
  return plan;
}

/// A tower that is transposed stands beside the same tower left in the first stage.
std::string compare(const Request& request) {
  if (request.format == Format::steps || request.format == Format::csv) {
    throw UsageError(
        "--compare prints text, svg, trace or stats, or without --format a table; for steps and "
        "csv ask for one --schedule");
  }
  std::vector<heddle::Candidate> candidates;
  std::string verdicts;
  for (const auto& name : request.schedules) {
    candidates.push_back({name, plan_of(request, name, request.costs)});
    const auto& transposed = candidates.back().plan;
    if (transposed.features.empty()) continue;
    const double makespan = transposed.makespan;
    candidates.push_back(
        {request.body + ", tower in stage 0",
         plan_of(request, request.body,
                 heddle::with_tower_in_first_stage(request.costs, request.mpipe.traits.tower))});
    verdicts += heddle::transposition_verdict(name, makespan, request.body,
                                              candidates.back().plan.makespan);
  }
  auto picture = picture_of(request, std::move(candidates));
  return request.format ? picture : picture + verdicts;
}

std::string list() {
  std::string names;
  for (const auto name : heddle::schedule_names) names += std::string{name} + '\n';
  return names;
}

std::string version() {
  const auto [major, minor, patch] = heddle::version;
  return "heddle-plan " + std::to_string(major) + '.' + std::to_string(minor) + '.' +
         std::to_string(patch) + '\n';
}

int run(const Request& request) {
  std::string output;
  switch (request.task) {
    case Task::check: return heddle_plan::check_file(request);
    case Task::plan: output = plan(request); break;
    case Task::compare: output = compare(request); break;
    case Task::list: output = list(); break;
    case Task::help: output = heddle_plan::help(); break;
    case Task::version: output = version(); break;
  }
  std::fwrite(output.data(), 1, output.size(), stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::span<const char* const> arguments{argv, static_cast<std::size_t>(argc)};
    const int status = run(heddle_plan::parse(arguments.subspan(argc > 0 ? 1 : 0)));
    if (std::fflush(stdout) != 0) throw std::runtime_error("the output could not be written");
    return status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heddle-plan: %s\n", error.what());
    return 2;
  }
}
