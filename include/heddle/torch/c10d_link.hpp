#pragma once

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <heddle/core/error.hpp>
#include <heddle/core/step.hpp>
#include <heddle/exec/communicator.hpp>
#include <heddle/exec/failure.hpp>
#include <heddle/torch/c10d_failure_board.hpp>
#include <heddle/torch/c10d_group.hpp>
#include <heddle/torch/c10d_watch.hpp>

namespace heddle::detail {

/// Who a tensor on the wire is: 3 bits for the kind, 10 for the stage, 12 for the micro-batch, 6
/// for the part of the message. Larger numbers wrap around; the few messages that then share a tag
/// are matched in the order of their posting, which is the same on both sides in a proved order.
constexpr int tag_of(Step send, int part) {
  const auto kind = [&] {
    switch (send.kind) {
      case StepKind::send_activation: return 0;
      case StepKind::send_gradient: return 1;
      case StepKind::send_data: return 2;
      case StepKind::send_feature: return 3;
      case StepKind::send_tower_input: return 4;
      case StepKind::send_feature_gradient: return 5;
      default: return 6;
    }
  }();
  return kind << 28 | (send.stage & 0x3FF) << 18 | (send.micro_batch & 0xFFF) << 6 | (part & 0x3F);
}

/// For the `number`-th sum over all ranks, a kind of its own.
constexpr int tag_of_sum(int number) { return 7 << 28 | (number & 0xFFFFFFF); }

/// A process group, and the watch over the waits for it.
class C10dLink {
 public:
  C10dLink(std::unique_ptr<C10dGroup> group, c10::intrusive_ptr<c10d::Store> store)
      : group_{std::move(group)}, watch_{FailureBoard{std::move(store)}} {}

  /// The store often lives in the process of rank 0: after a failure that one stays until all know.
  ~C10dLink() {
    constexpr std::chrono::seconds patience{2};
    if (rank() == 0 && watch_.failure()) watch_.board().wait_until_known(size(), patience);
  }

  C10dLink(const C10dLink&) = delete;
  C10dLink& operator=(const C10dLink&) = delete;

  int rank() const { return group_->rank(); }
  int size() const { return group_->size(); }

  /// Posts a send; `words()` says what, should it fail.
  template <class Words>
  C10dWork send(const at::Tensor& tensor, int peer, int tag, const Words& words) {
    return post(peer, words, [&] { return group_->send(tensor, peer, tag); });
  }

  template <class Words>
  C10dWork receive(const at::Tensor& tensor, int peer, int tag, const Words& words) {
    return post(peer, words, [&] { return group_->receive(tensor, peer, tag); });
  }

  /// Waits for `work`, which is `words()` to or from `peer`.
  template <class Words>
  void await(const C10dWork& work, Deadline deadline, int peer, const Words& words) {
    using namespace std::chrono;
    constexpr milliseconds longest = hours{1000};
    // The watch is to end the wait; the backend's own timeout stands behind it.
    constexpr milliseconds margin = seconds{2};
    throw_if(watch_.begin(*work, deadline));
    const auto now = steady_clock::now();
    const auto left = deadline - now >= longest ? longest : ceil<milliseconds>(deadline - now);
    bool done = false;
    std::string problem;
    try {
      done = work->wait(std::max(left, milliseconds{0}) + margin);
    } catch (const std::exception& error) {
      problem = error.what();
    }
    throw_if(watch_.end());
    if (done) return;
    if (problem.empty() || steady_clock::now() >= deadline) {
      throw TimeoutError("rank " + std::to_string(rank()) +
                         " reached its deadline while it waited for the " + words() + ", " +
                         name(peer));
    }
    lost(peer, words, problem);
  }

  void abort(const Failure& failure) { watch_.post(failure); }

 private:
  template <class Words, class Post>
  C10dWork post(int peer, const Words& words, const Post& call) {
    try {
      return call();
    } catch (const std::exception& error) {
      lost(peer, words, error.what());
    }
  }

  /// A connection is gone: because of a failure that is known or will soon be, or by itself.
  template <class Words>
  [[noreturn]] void lost(int peer, const Words& words, const std::string& problem) {
    constexpr std::chrono::milliseconds patience{500};
    throw_if(watch_.look(patience));
    throw Error("rank " + std::to_string(rank()) + " lost its connection while it waited for the " +
                words() + ", " + name(peer) +
                ", whose process has perhaps ended: " + problem.substr(0, problem.find('\n')));
  }

  void throw_if(std::optional<Failure> failure) const {
    if (failure) throw PipelineError{rank(), *std::move(failure)};
  }

  static std::string name(int peer) {
    return "the other side of which is rank " + std::to_string(peer);
  }

  std::unique_ptr<C10dGroup> group_;
  C10dWatch watch_;
};

}  // namespace heddle::detail
