#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <heddle/core/error.hpp>
#include <heddle/exec/bundle.hpp>
#include <heddle/exec/communicator.hpp>
#include <heddle/exec/failure.hpp>

namespace heddle {

/// How ranks in one process hand over bundles.
enum class Transport : std::uint8_t {
  buffered,    ///< a send is done at once
  rendezvous,  ///< a send blocks until the receive that takes it is posted
};

struct InProcessOptions {
  Transport transport = Transport::buffered;
  /// How long a rendezvous send waits for its receive to be posted.
  std::chrono::steady_clock::duration deadline = std::chrono::minutes{5};
};

namespace detail {

/// What the ranks of one process share: a queue for each directed pair, one sum, and the failure if
/// there is one.
template <bundle Bundle>
class Exchange {
 public:
  Exchange(int ranks, InProcessOptions options)
      : ranks_{ranks},
        options_{options},
        queues_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks)),
        contributions_(static_cast<std::size_t>(ranks)) {}

  int ranks() const { return ranks_; }

  void send(Bundle bundle, int from, int to, MessageId id) {
    std::unique_lock lock{mutex_};
    check(from);
    auto& queue = queue_of(from, to);
    queue.messages.emplace_back(Message{id, std::move(bundle)});
    const std::size_t number = queue.taken + queue.messages.size();
    changed_.notify_all();
    if (options_.transport == Transport::buffered) return;
    const auto deadline = std::chrono::steady_clock::now() + options_.deadline;
    wait(
        lock, from, deadline, [&] { return queue.posted >= number; },
        [&] { return describe(id) + " waited for its receive on rank " + std::to_string(to); });
  }

  /// The number of the message, counted from 0, that this receive takes.
  std::size_t post_receive(int from, int to) {
    const std::scoped_lock lock{mutex_};
    check(to);
    auto& queue = queue_of(from, to);
    changed_.notify_all();
    return queue.posted++;
  }

  bool has_arrived(int from, int to, std::size_t number) {
    const std::scoped_lock lock{mutex_};
    check(to);
    auto& queue = queue_of(from, to);
    return number < queue.taken + queue.messages.size();
  }

  Bundle take(int from, int to, std::size_t number, MessageId id, Deadline deadline) {
    std::unique_lock lock{mutex_};
    auto& queue = queue_of(from, to);
    wait(
        lock, to, deadline, [&] { return number < queue.taken + queue.messages.size(); },
        [&] {
          return "a receive waited for the " + describe(id) + " from rank " + std::to_string(from);
        });
    auto& message = queue.messages[number - queue.taken];
    if (message->id != id) {
      throw Error("rank " + std::to_string(to) + " expected the " + describe(id) + " from rank " +
                  std::to_string(from) + ", but got the " + describe(message->id) +
                  "; all ranks must run the same order and make the same calls");
    }
    Bundle bundle = std::move(message->bundle);
    message.reset();
    for (; !queue.messages.empty() && !queue.messages.front(); ++queue.taken) {
      queue.messages.pop_front();
    }
    return bundle;
  }

  void all_reduce_sum(int rank, std::span<double> numbers, Deadline deadline) {
    std::unique_lock lock{mutex_};
    check(rank);
    const std::size_t round = round_;
    contributions_[static_cast<std::size_t>(rank)] = {numbers.begin(), numbers.end()};
    arrived_.push_back(rank);
    if (arrived_.size() == static_cast<std::size_t>(ranks_)) finish_round();
    wait(
        lock, rank, deadline, [&] { return round_ != round; },
        [&] { return "the agreement of all ranks waited for " + missing_ranks(); });
    std::ranges::copy(sum_, numbers.begin());
  }

  void abort(const Failure& failure) {
    const std::scoped_lock lock{mutex_};
    if (!failure_) failure_ = failure;
    changed_.notify_all();
  }

 private:
  struct Message {
    MessageId id;
    Bundle bundle;
  };

  /// `messages[i]` is the message of number `taken + i`; empty once it has been taken.
  struct Queue {
    std::size_t taken = 0;
    std::size_t posted = 0;
    std::deque<std::optional<Message>> messages;
  };

  Queue& queue_of(int from, int to) {
    return queues_.at(static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) +
                      static_cast<std::size_t>(to));
  }

  void check(int rank) const {
    if (failure_) throw PipelineError(rank, *failure_);
  }

  template <class Ready, class Words>
  void wait(std::unique_lock<std::mutex>& lock, int rank, Deadline deadline, Ready ready,
            Words words) {
    changed_.wait_until(lock, deadline, [&] { return failure_ || ready(); });
    if (ready()) return;
    check(rank);
    throw TimeoutError("rank " + std::to_string(rank) + ": " + words() + " past its deadline");
  }

  /// Adds in the order of the ranks, so that the sum does not depend on who came first.
  void finish_round() {
    sum_.assign(contributions_.front().size(), 0);
    for (const auto& numbers : contributions_) {
      for (std::size_t index = 0; index < sum_.size(); ++index) sum_[index] += numbers.at(index);
    }
    arrived_.clear();
    ++round_;
    changed_.notify_all();
  }

  std::string missing_ranks() const {
    std::string text;
    for (int rank = 0; rank < ranks_; ++rank) {
      if (std::ranges::find(arrived_, rank) == arrived_.end()) text += " " + std::to_string(rank);
    }
    return "rank" + text;
  }

  int ranks_;
  InProcessOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Queue> queues_;
  std::vector<std::vector<double>> contributions_;
  std::vector<int> arrived_;
  std::vector<double> sum_;
  std::size_t round_ = 0;
  std::optional<Failure> failure_;
};

}  // namespace detail

/// One rank of a group of threads. Models `communicator`.
template <bundle BundleType>
class InProcessCommunicator {
 public:
  using Bundle = BundleType;

  /// A send that is done: the queue of the group owns the bundle.
  struct SendRequest {
    static bool test() { return true; }
    static void wait(Deadline /*deadline*/) {}
  };

  class ReceiveRequest {
   public:
    ReceiveRequest() = default;
    ReceiveRequest(detail::Exchange<Bundle>& exchange, int from, int to, MessageId id)
        : exchange_{&exchange},
          from_{from},
          to_{to},
          number_{exchange.post_receive(from, to)},
          id_{id} {}

    bool test() const { return exchange_->has_arrived(from_, to_, number_); }
    Bundle wait(Deadline deadline) { return exchange_->take(from_, to_, number_, id_, deadline); }

   private:
    detail::Exchange<Bundle>* exchange_ = nullptr;
    int from_ = 0;
    int to_ = 0;
    std::size_t number_ = 0;
    MessageId id_;
  };

  InProcessCommunicator(std::shared_ptr<detail::Exchange<Bundle>> exchange, int rank)
      : exchange_{std::move(exchange)}, rank_{rank} {}

  int rank() const { return rank_; }
  int size() const { return exchange_->ranks(); }

  SendRequest send(Bundle bundle, int peer, MessageId id) {
    exchange_->send(std::move(bundle), rank_, peer, id);
    return {};
  }
  ReceiveRequest receive(int peer, MessageId id) { return {*exchange_, peer, rank_, id}; }

  void all_reduce_sum(std::span<double> numbers, Deadline deadline) {
    exchange_->all_reduce_sum(rank_, numbers, deadline);
  }
  void abort(const Failure& failure) { exchange_->abort(failure); }

 private:
  std::shared_ptr<detail::Exchange<Bundle>> exchange_;
  int rank_;
};

/// Ranks that are threads of this process.
///
/// After a failure a group is of no more use: make a new one.
template <bundle Bundle>
class InProcessGroup {
 public:
  explicit InProcessGroup(int ranks, InProcessOptions options = {})
      : exchange_{std::make_shared<detail::Exchange<Bundle>>(ranks, options)} {}

  int size() const { return exchange_->ranks(); }

  /// What the thread of `rank` communicates through. Errors: Error if there is no such rank.
  InProcessCommunicator<Bundle> communicator(int rank) const {
    if (rank < 0 || rank >= size()) {
      throw Error("rank " + std::to_string(rank) + " is not in the group; its ranks are 0 to " +
                  std::to_string(size() - 1));
    }
    return {exchange_, rank};
  }

 private:
  std::shared_ptr<detail::Exchange<Bundle>> exchange_;
};

}  // namespace heddle
