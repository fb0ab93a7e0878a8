#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <heddle/core/import.hpp>
#include <heddle/plan/costs.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/mpipe_options.hpp>
#include <heddle/schedule/schedule.hpp>

namespace heddle_plan {

/// A command line that asks for nothing possible; what() is the sentence, and the exit status is 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Task : std::uint8_t { plan, compare, check, list, help, version };
enum class Format : std::uint8_t { steps, csv, text, svg, trace, stats };

/// What the command line says.
struct Request {
  Task task = Task::plan;
  std::vector<std::string> schedules;  ///< one, or those to compare
  heddle::ExpectedShape shape;         ///< as far as it is given
  heddle::InterleavedOptions interleaved;
  heddle::MPipeOptions mpipe;
  std::string body = "interleaved_1f1b";  ///< that MPipe is put around
  heddle::DataSteps data = heddle::DataSteps::none;
  std::optional<Format> format;
  heddle::Costs costs;
  heddle::Receives receives = heddle::Receives::async;
  std::string file;  ///< to check
};

/// Reads the arguments behind the program's name.
Request parse(std::span<const char* const> arguments);

/// The text of `--help`.
std::string help();

}  // namespace heddle_plan
