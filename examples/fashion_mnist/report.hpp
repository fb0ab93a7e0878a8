#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <heddle/core/order.hpp>
#include <heddle/core/timeline.hpp>

#include "conversation.hpp"

namespace fashion_mnist {

/// Shows how the training goes, on rank 0. Every rank makes the same calls.
class Progress {
 public:
  Progress(const Conversation& ranks, int steps);

  /// After each step, over so many samples; `loss` is 0 on all ranks but one.
  void show(int step, std::int64_t samples, double loss);

 private:
  const Conversation& ranks_;
  int steps_;
  int steps_a_line_;
  std::int64_t samples_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Draws what `order` promised and what the ranks measured: two SVG pictures and one Chrome trace
/// with both. The plan takes a forward and a backward to last as long as they did in the median.
/// Returns the files' names, on rank 0; every rank calls it with its own spans.
std::vector<std::filesystem::path> draw(const Conversation& ranks, const std::string& title,
                                        heddle::OrderView order,
                                        const std::vector<heddle::TimelineSpan>& spans,
                                        const std::filesystem::path& folder);

/// Prints the last lines, on rank 0.
void conclude(const Conversation& ranks, double accuracy, bool is_equal_to_unsplit,
              const std::vector<std::filesystem::path>& pictures);

/// Prints a line on rank 0.
void say(const Conversation& ranks, const std::string& line);

}  // namespace fashion_mnist
