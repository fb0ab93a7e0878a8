#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <heddle/exec/failure.hpp>

namespace heddle {

namespace detail {

/// Keeps the exception that tells most about why ranks ended: the first that is not just what
/// another rank told them.
class FirstCause {
 public:
  void add(int rank, std::exception_ptr error) {
    const std::scoped_lock lock{mutex_};
    const bool is_cause = !is_echo(rank, error);
    if (error_ && (has_cause_ || !is_cause)) return;
    error_ = std::move(error);
    has_cause_ = is_cause;
  }

  void rethrow_if_any() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  static bool is_echo(int rank, const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const PipelineError& failure) {
      return failure.origin.rank != rank;
    } catch (...) {
      return false;
    }
  }

  std::mutex mutex_;
  std::exception_ptr error_;
  bool has_cause_ = false;
};

}  // namespace detail

/// Calls `work(rank)` for ranks 0 .. ranks - 1, each on a thread of its own, and returns when all
/// have returned.
///
/// Errors: if ranks threw, the exception of the one where it began.
template <class Work>
void run_ranks(int ranks, Work&& work) {
  detail::FirstCause cause;
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&work, &cause, rank] {
      try {
        std::invoke(work, rank);
      } catch (...) {
        cause.add(rank, std::current_exception());
      }
    });
  }
  threads.clear();
  cause.rethrow_if_any();
}

}  // namespace heddle
