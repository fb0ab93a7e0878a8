#include "conversation.hpp"

#include <algorithm>
#include <cstddef>

namespace fashion_mnist {

double Conversation::sum(double own) const {
  sum_(std::span{&own, 1});
  return own;
}

double Conversation::largest(double own) const {
  double result = own;
  for (const auto& said : gather(std::span{&own, 1})) result = std::max(result, said.front());
  return result;
}

std::vector<std::vector<double>> Conversation::gather(std::span<const double> own) const {
  const auto place = static_cast<std::size_t>(rank_);
  std::vector<double> counts(static_cast<std::size_t>(size_));
  counts[place] = static_cast<double>(own.size());
  sum_(counts);

  // Each rank fills its own part of a list of zeros; the sum of the lists has everyone's part.
  std::vector<std::size_t> begins{0};
  for (const double count : counts)
    begins.push_back(begins.back() + static_cast<std::size_t>(count));
  std::vector<double> all(begins.back());
  std::ranges::copy(own, all.begin() + static_cast<std::ptrdiff_t>(begins[place]));
  sum_(all);

  std::vector<std::vector<double>> result;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const auto part = std::span{all}.subspan(begins[rank], begins[rank + 1] - begins[rank]);
    result.emplace_back(part.begin(), part.end());
  }
  return result;
}

std::chrono::steady_clock::time_point Conversation::common_moment() const {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [] {
    return std::chrono::duration<double>(Clock::now().time_since_epoch());
  };
  const std::chrono::duration<double> of_rank_0{sum(rank_ == 0 ? seconds().count() : 0)};
  const auto own = seconds();
  // Ranks of one machine read one clock; clocks of two machines are far apart.
  const bool same_clock = std::chrono::abs(own - of_rank_0) < std::chrono::seconds{1};
  return Clock::time_point{
      std::chrono::duration_cast<Clock::duration>(same_clock ? of_rank_0 : own)};
}

}  // namespace fashion_mnist
