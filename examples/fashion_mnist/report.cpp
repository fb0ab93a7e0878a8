#include "report.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <heddle/exec/observer.hpp>
#include <heddle/plan/simulation.hpp>
#include <heddle/render/chrome_trace.hpp>
#include <heddle/render/svg.hpp>

namespace fashion_mnist {
namespace {

namespace fs = std::filesystem;
using Spans = std::vector<heddle::TimelineSpan>;

constexpr std::size_t numbers_a_span = 5;

std::vector<double> as_numbers(const Spans& spans) {
  std::vector<double> numbers;
  for (const auto& [step, begin, end] : spans) {
    numbers.insert(numbers.end(), {static_cast<double>(step.kind), double(step.micro_batch),
                                   double(step.stage), begin, end});
  }
  return numbers;
}

Spans as_spans(const std::vector<double>& numbers) {
  Spans spans;
  for (std::size_t at = 0; at < numbers.size(); at += numbers_a_span) {
    const heddle::Step step{static_cast<heddle::StepKind>(numbers[at]),
                            static_cast<int>(numbers[at + 1]), static_cast<int>(numbers[at + 2])};
    spans.push_back({step, numbers[at + 3], numbers[at + 4]});
  }
  return spans;
}

/// The spans of all ranks, on a clock that begins with the first of them.
heddle::Timeline measured(const Conversation& ranks, const Spans& own) {
  std::vector<Spans> all;
  for (const auto& numbers : ranks.gather(as_numbers(own))) all.push_back(as_spans(numbers));
  double begin = own.empty() ? 0 : own.front().begin;
  for (const auto& spans : all) {
    if (!spans.empty()) begin = std::min(begin, spans.front().begin);
  }
  for (auto& spans : all) {
    for (auto& span : spans) {
      span.begin -= begin;
      span.end -= begin;
    }
  }
  return heddle::measured_timeline("measured", std::move(all));
}

/// How long a step of this kind took, in the median.
double typical_time(const heddle::Timeline& timeline, heddle::StepKind kind) {
  std::vector<double> times;
  for (const auto& spans : timeline.ranks) {
    for (const auto& span : spans) {
      if (span.step.kind == kind) times.push_back(span.end - span.begin);
    }
  }
  if (times.empty()) return 0;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

heddle::Timeline planned(heddle::OrderView order, const heddle::Timeline& measured) {
  heddle::Costs costs;
  costs.forward = typical_time(measured, heddle::StepKind::forward);
  costs.backward = typical_time(measured, heddle::StepKind::backward);
  costs.weight = 0;
  auto timeline = heddle::simulate(order, costs).timeline;
  timeline.unit = "s";
  return timeline;
}

void write(const fs::path& path, std::string_view text) {
  std::ofstream file{path, std::ios::binary};
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.flush()) throw std::runtime_error(path.string() + " cannot be written");
}

}  // namespace

Progress::Progress(const Conversation& ranks, int steps)
    : ranks_{ranks}, steps_{steps}, steps_a_line_{std::max(1, steps / 20)} {}

void Progress::show(int step, std::int64_t samples, double loss) {
  const int done = step + 1;
  samples_ += samples;
  if (done % steps_a_line_ != 0 && done != steps_ && done != 1) return;
  const double total = ranks_.sum(loss);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin_;
  std::array<char, 100> line{};
  std::snprintf(line.data(), line.size(), "step %4d/%d  loss %.4f  %6.0f samples/s", done, steps_,
                total, static_cast<double>(samples_) / time.count());
  say(ranks_, line.data());
  if (done != steps_) return;
  std::snprintf(line.data(), line.size(), "trained in %.1f s", time.count());
  say(ranks_, line.data());
}

std::vector<fs::path> draw(const Conversation& ranks, const std::string& title,
                           heddle::OrderView order, const Spans& spans, const fs::path& folder) {
  auto measured_run = measured(ranks, spans);
  if (ranks.rank() != 0) return {};
  auto planned_run = planned(order, measured_run);
  planned_run.title = "planned: " + title;
  measured_run.title = "measured: " + title;

  fs::create_directories(folder);
  std::vector<fs::path> files{folder / "planned.svg", folder / "measured.svg",
                              folder / "trace.json"};
  write(files[0], heddle::svg_timeline(planned_run));
  write(files[1], heddle::svg_timeline(measured_run));
  write(files[2], heddle::chrome_trace(std::array{planned_run, measured_run}));
  return files;
}

void conclude(const Conversation& ranks, double accuracy, bool is_equal_to_unsplit,
              const std::vector<fs::path>& pictures) {
  std::array<char, 40> line{};
  std::snprintf(line.data(), line.size(), "accuracy: %.4f", accuracy);
  say(ranks, line.data());
  say(ranks, std::string{"equal to unsplit: "} + (is_equal_to_unsplit ? "yes" : "no"));
  std::string files = "pictures:";
  for (const auto& picture : pictures) files += ' ' + picture.string();
  say(ranks, files);
}

void say(const Conversation& ranks, const std::string& line) {
  if (ranks.rank() != 0) return;
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

}  // namespace fashion_mnist
