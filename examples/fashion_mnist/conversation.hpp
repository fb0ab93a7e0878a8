#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <vector>

#include <heddle/exec/communicator.hpp>

namespace fashion_mnist {

/// What ranks tell each other beside the training: a few numbers, by the communicator's sum. Every
/// rank makes the same calls.
class Conversation {
 public:
  template <heddle::communicator Communicator>
  explicit Conversation(Communicator& communicator)
      : rank_{communicator.rank()},
        size_{communicator.size()},
        sum_{[&communicator](std::span<double> numbers) {
          communicator.all_reduce_sum(numbers,
                                      std::chrono::steady_clock::now() + std::chrono::minutes{5});
        }} {}

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// The sum of what each rank says.
  double sum(double own) const;

  /// The largest of what each rank says.
  double largest(double own) const;

  /// What each rank says, by rank.
  std::vector<std::vector<double>> gather(std::span<const double> own) const;

  /// A moment now that is the same for all ranks: to the clock's precision on one machine, to about
  /// the time of a message on several.
  std::chrono::steady_clock::time_point common_moment() const;

 private:
  int rank_;
  int size_;
  std::function<void(std::span<double>)> sum_;
};

}  // namespace fashion_mnist
