#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <heddle/exec/communicator.hpp>
#include <heddle/torch/c10d_failure_board.hpp>
#include <heddle/torch/c10d_group.hpp>

namespace heddle::detail {

/// Stands beside the one thread that waits for transfers and ends a wait that has lasted past its
/// deadline or that another rank's failure has made pointless.
///
/// A wait of c10d's own with a timeout cannot do that: when it runs out, Gloo closes every
/// connection, so it can be neither repeated nor short. The watch looks twenty times a second, and
/// asks the store only about waits that were there already the last time, so that a run without
/// trouble never does.
class C10dWatch {
 public:
  explicit C10dWatch(FailureBoard board) : board_{std::move(board)}, thread_{[this] { watch(); }} {}

  ~C10dWatch() {
    {
      const std::lock_guard lock{mutex_};
      stop_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  C10dWatch(const C10dWatch&) = delete;
  C10dWatch& operator=(const C10dWatch&) = delete;

  /// From here to `end`, `work` is waited for, unless a failure has made that pointless: it is
  /// returned then.
  std::optional<Failure> begin(c10d::Work& work, Deadline deadline) {
    const std::lock_guard lock{mutex_};
    if (failure_) return failure_;
    awaited_ = &work;
    deadline_ = deadline;
    ++waits_;
    return std::nullopt;
  }

  std::optional<Failure> end() {
    const std::lock_guard lock{mutex_};
    awaited_ = nullptr;
    return failure_;
  }

  /// The failure that this rank has learned of.
  std::optional<Failure> failure() const {
    const std::lock_guard lock{mutex_};
    return failure_;
  }

  /// Learns of a failure on this rank and tells the others.
  void post(const Failure& failure) { learn(board_.post(failure)); }

  /// Asks the store, for a while: a connection may break before the word of why has arrived.
  std::optional<Failure> look(std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (true) {
      if (auto known = failure()) return known;
      if (auto found = board_.read()) {
        learn(*std::move(found));
        continue;
      }
      if (!board_ || std::chrono::steady_clock::now() >= until) return std::nullopt;
      std::this_thread::sleep_for(tick);
    }
  }

  FailureBoard& board() { return board_; }

 private:
  static constexpr std::chrono::milliseconds tick{50};

  void learn(Failure failure) {
    {
      const std::lock_guard lock{mutex_};
      if (failure_) return;
      failure_ = std::move(failure);
      interrupt();
    }
    board_.acknowledge();
  }

  void interrupt() noexcept {
    if (awaited_ == nullptr) return;
    try {
      awaited_->abort();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
      // A backend that cannot: the wait then ends by the backend's own timeout.
    }
  }

  void watch() {
    std::uint64_t seen = 0;
    std::unique_lock lock{mutex_};
    while (!changed_.wait_for(lock, tick, [this] { return stop_; })) {
      const bool lasts = awaited_ != nullptr && waits_ == seen;
      seen = waits_;
      if (!lasts) continue;
      if (failure_ || std::chrono::steady_clock::now() >= deadline_) {
        interrupt();
        continue;
      }
      lock.unlock();
      if (auto found = board_.read()) learn(*std::move(found));
      lock.lock();
    }
  }

  FailureBoard board_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  c10d::Work* awaited_ = nullptr;
  Deadline deadline_{};
  std::uint64_t waits_ = 0;
  std::optional<Failure> failure_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace heddle::detail
