#include "flags.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <system_error>

#include <heddle/core/nearest.hpp>

namespace heddle_plan {

namespace {

/// One flag: how it is written, what stands behind it (nothing: it is a switch), what it does.
struct Flag {
  std::string_view name;
  std::string_view value;
  std::string_view help;
  void (*apply)(Request&, const Flag&, std::string_view);
};

[[noreturn]] void refuse(const Flag& flag, const std::string& wanted, std::string_view given) {
  throw UsageError(std::string{flag.name} + " takes " + wanted + ", not '" + std::string{given} +
                   "'");
}

int whole_number(const Flag& flag, std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) {
    refuse(flag, "a whole number", text);
  }
  if (error == std::errc::result_out_of_range) refuse(flag, "a number up to 2147483647", text);
  if (number < 1) refuse(flag, "a number of at least 1", text);
  return number;
}

/// So large that no cost is meant to be larger, and the sum over the largest shape is still finite.
constexpr double largest_cost = 1e12;

double cost(const Flag& flag, std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end != text.data() + text.size() || error != std::errc{} || !std::isfinite(number)) {
    refuse(flag, "a number such as 1 or 0.5", text);
  }
  if (number < 0) refuse(flag, "a number of at least 0", text);
  if (number > largest_cost) refuse(flag, "a number up to 1e12", text);
  return number;
}

/// `text` cut at each `separator`.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (auto end = text.find(separator); end != text.npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

/// The place of `text` among the alternatives in `flag.value`.
std::size_t choice(const Flag& flag, std::string_view text) {
  const auto words = split(flag.value, '|');
  const auto found = std::ranges::find(words, text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  throw UsageError(std::string{flag.name} + " takes one of " + std::string{flag.value} + ", not '" +
                   std::string{text} + "'; the nearest is " +
                   std::string{heddle::nearest_name(text, words)});
}

void add_schedules(Request& request, const Flag& flag, std::string_view names) {
  for (const auto name : split(names, ',')) {
    if (name.empty()) refuse(flag, "names separated by commas", names);
    request.schedules.emplace_back(name);
  }
}

void set_task(Request& request, const Flag& flag, Task task) {
  if (request.task != Task::plan) {
    throw UsageError(std::string{flag.name} +
                     " cannot be combined with another of --compare, --check and --list");
  }
  request.task = task;
}

using Text = std::string_view;

constexpr std::array flags{
    Flag{"--schedule", "NAME", "the schedule; --list shows the names",
         [](Request& request, const Flag&, Text text) { request.schedules.emplace_back(text); }},
    Flag{"--ranks", "P", "pipeline ranks",
         [](Request& request, const Flag& flag, Text text) {
           request.shape.ranks = whole_number(flag, text);
         }},
    Flag{"--stages-per-rank", "V", "stages that each rank holds, 1 unless said",
         [](Request& request, const Flag& flag, Text text) {
           request.shape.stages_per_rank = whole_number(flag, text);
         }},
    Flag{"--micro-batches", "M", "micro-batches of a step",
         [](Request& request, const Flag& flag, Text text) {
           request.shape.micro_batches = whole_number(flag, text);
         }},
    Flag{"--warmup", "classic|shallow", "how far ranks run ahead (interleaved_1f1b)",
         [](Request& request, const Flag& flag, Text text) {
           request.interleaved.warmup = static_cast<heddle::Warmup>(choice(flag, text));
         }},
    Flag{"--rounds", "long|short", "where the surplus of micro-batches goes (interleaved_1f1b)",
         [](Request& request, const Flag& flag, Text text) {
           request.interleaved.rounds = static_cast<heddle::Rounds>(choice(flag, text));
         }},
    Flag{"--overflow", "full|min", "who runs the tower beyond one micro-batch a rank (mpipe)",
         [](Request& request, const Flag& flag, Text text) {
           request.mpipe.overflow = static_cast<heddle::OverflowMode>(choice(flag, text));
         }},
    Flag{"--tower", "trainable|frozen|none",
         "what of the tower trains; none: no parameters (mpipe)",
         [](Request& request, const Flag& flag, Text text) {
           request.mpipe.traits.tower = static_cast<heddle::Tower>(choice(flag, text));
         }},
    Flag{"--tower-backward", "rank0|owner", "who runs a trainable tower backward (mpipe)",
         [](Request& request, const Flag& flag, Text text) {
           request.mpipe.traits.backward = static_cast<heddle::TowerBackward>(choice(flag, text));
         }},
    Flag{"--data-only", "", "no tower: the owners load data and send them on (mpipe)",
         [](Request& request, const Flag&, Text) { request.mpipe.traits.data_only = true; }},
    Flag{"--body", "NAME", "the schedule around which mpipe is put, interleaved_1f1b unless said",
         [](Request& request, const Flag&, Text text) { request.body = text; }},
    Flag{"--data-steps", "", "load the data and pass it along the stages",
         [](Request& request, const Flag&, Text) { request.data = heddle::DataSteps::chain; }},
    Flag{"--format", "steps|csv|text|svg|trace|stats", "what is printed",
         [](Request& request, const Flag& flag, Text text) {
           request.format = static_cast<Format>(choice(flag, text));
         }},
    Flag{"--forward", "F", "cost of a chunk's forward, 1 unless said",
         [](Request& request, const Flag& flag, Text text) {
           request.costs.forward = cost(flag, text);
         }},
    Flag{"--backward", "B", "cost of its whole backward, 2 unless said",
         [](Request& request, const Flag& flag, Text text) {
           request.costs.backward = cost(flag, text);
         }},
    Flag{"--weight", "W", "cost of the backward's weight half, 1 unless said",
         [](Request& request, const Flag& flag, Text text) {
           request.costs.weight = cost(flag, text);
         }},
    Flag{"--tower-forward", "F", "cost of a tower forward, 1 unless said",
         [](Request& request, const Flag& flag, Text text) {
           request.costs.tower_forward = cost(flag, text);
         }},
    Flag{"--tower-backward-cost", "B", "cost of a tower backward, 2 unless said",
         [](Request& request, const Flag& flag, Text text) {
           request.costs.tower_backward = cost(flag, text);
         }},
    Flag{"--golden-costs", "", "count of the tower what the reference's figures count (mpipe)",
         [](Request& request, const Flag&, Text) {
           request.costs.tower_pricing = heddle::TowerPricing::reference;
         }},
    Flag{"--latency", "L", "time that a message takes, 0 unless said",
         [](Request& request, const Flag& flag, Text text) {
           request.costs.latency = cost(flag, text);
         }},
    Flag{"--receives", "async|inline|rendezvous", "when a rank waits for a message",
         [](Request& request, const Flag& flag, Text text) {
           request.receives = static_cast<heddle::Receives>(choice(flag, text));
         }},
    Flag{"--compare", "NAME,NAME...",
         "compare schedules; formats text, svg, trace and stats, else a table",
         [](Request& request, const Flag& flag, Text text) {
           set_task(request, flag, Task::compare);
           add_schedules(request, flag, text);
         }},
    Flag{"--check", "FILE", "verify an order in a file, as printed by --format steps or csv",
         [](Request& request, const Flag& flag, Text text) {
           set_task(request, flag, Task::check);
           request.file = text;
         }},
    Flag{"--list", "", "print the names of the schedules",
         [](Request& request, const Flag& flag, Text) { set_task(request, flag, Task::list); }},
    Flag{"--help", "", "print this",
         [](Request& request, const Flag&, Text) { request.task = Task::help; }},
    Flag{"--version", "", "print the version",
         [](Request& request, const Flag&, Text) { request.task = Task::version; }},
};

const Flag& find(std::string_view name) {
  const auto found = std::ranges::find(flags, name, &Flag::name);
  if (found != flags.end()) return *found;
  if (!name.starts_with('-')) {
    throw UsageError("'" + std::string{name} + "' belongs to no flag; see heddle-plan --help");
  }
  std::array<std::string_view, flags.size()> names;
  std::ranges::transform(flags, names.begin(), &Flag::name);
  throw UsageError("there is no flag '" + std::string{name} + "', did you mean " +
                   std::string{heddle::nearest_name(name, names)} + "? See heddle-plan --help");
}

void require(bool given, std::string_view flag) {
  if (!given) throw UsageError(std::string{flag} + " is missing; see heddle-plan --help");
}

/// What only the whole command line can tell.
void complete(Request& request) {
  // A weight half that nobody named is never more than the backward.
  request.costs.weight = std::min(request.costs.weight, request.costs.backward);
  if (request.task == Task::check && !request.schedules.empty()) {
    throw UsageError(
        "--check takes its order from the file, so it cannot be combined with --schedule");
  }
  if (request.task != Task::plan && request.task != Task::compare) return;
  require(!request.schedules.empty(), "--schedule");
  require(request.shape.ranks.has_value(), "--ranks");
  require(request.shape.micro_batches.has_value(), "--micro-batches");
}

}  // namespace

Request parse(std::span<const char* const> arguments) {
  Request request;
  std::set<std::string_view> given;
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    const std::string_view argument = arguments[index];
    const auto equals = argument.find('=');
    const Flag& flag = find(argument.substr(0, equals));
    if (!given.insert(flag.name).second)
      throw UsageError(std::string{flag.name} + " is given twice");
    std::string_view value;
    if (flag.value.empty()) {
      if (equals != argument.npos) throw UsageError(std::string{flag.name} + " takes no value");
    } else if (equals != argument.npos) {
      value = argument.substr(equals + 1);
    } else if (index + 1 < arguments.size() && !Text{arguments[index + 1]}.starts_with("--")) {
      value = arguments[++index];
    } else {
      throw UsageError(std::string{flag.name} + " lacks its value " + std::string{flag.value});
    }
    flag.apply(request, flag, value);
    if (request.task == Task::help || request.task == Task::version) return request;
  }
  if (given.contains("--weight") && request.costs.weight > request.costs.backward) {
    throw UsageError(
        "--weight is above --backward, of which it is a part; it can be at most as much");
  }
  complete(request);
  return request;
}

std::string help() {
  std::string text =
      "heddle-plan: what a pipeline schedule does for a shape\n\n"
      "  heddle-plan --schedule NAME --ranks P --micro-batches M [flags]\n"
      "  heddle-plan --compare NAME,NAME... --ranks P --micro-batches M [flags]\n"
      "  heddle-plan --check FILE [flags]\n"
      "  heddle-plan --list\n\n";
  for (const auto& flag : flags) {
    std::string line = "  " + std::string{flag.name} + ' ' + std::string{flag.value};
    line.resize(std::max<std::size_t>(line.size() + 2, 43), ' ');
    text += line + std::string{flag.help} + '\n';
  }
  return text +
         "\nThe first of several alternatives is the default. The exit status is 0, or 1 if the "
         "order in FILE is\n"
         "malformed or breaks a law, or 2 if the command line asks for what cannot be.\n";
}

}  // namespace heddle_plan
