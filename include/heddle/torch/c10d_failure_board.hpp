#pragma once

#include <charconv>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <heddle/exec/failure.hpp>

namespace heddle::detail {

/// `rank kind micro-batch stage message`, the numbers as text.
inline std::vector<std::uint8_t> to_bytes(const Failure& failure) {
  const auto& [kind, micro_batch, stage] = failure.step;
  const std::string text =
      std::to_string(failure.rank) + ' ' + std::to_string(static_cast<int>(kind)) + ' ' +
      std::to_string(micro_batch) + ' ' + std::to_string(stage) + ' ' + failure.message;
  return {text.begin(), text.end()};
}

inline Failure to_failure(const std::vector<std::uint8_t>& bytes) {
  const std::string text{bytes.begin(), bytes.end()};
  const char* at = text.data();
  const char* end = at + text.size();
  const auto number = [&] {
    int value = 0;
    at = std::from_chars(at, end, value).ptr;
    if (at != end) ++at;
    return value;
  };
  Failure failure;
  failure.rank = number();
  failure.step.kind = static_cast<StepKind>(number());
  failure.step.micro_batch = number();
  failure.step.stage = number();
  failure.message.assign(at, end);
  return failure;
}

/// Where ranks leave word of a failure: two keys in a store that all of them reach.
///
/// Nothing here throws: a store that has gone (it lives in a process that may be the one that died)
/// says nothing, and the ranks notice by their connections or their deadlines.
class FailureBoard {
 public:
  explicit FailureBoard(c10::intrusive_ptr<c10d::Store> store) : store_{std::move(store)} {}

  explicit operator bool() const { return static_cast<bool>(store_); }

  /// Leaves word of `failure`, unless another rank was first; gives what stands there then.
  Failure post(const Failure& failure) noexcept {
    if (!store_) return failure;
    try {
      return to_failure(store_->compareSet(failure_key, {}, to_bytes(failure)));
    } catch (const std::exception&) {
      return failure;
    }
  }

  std::optional<Failure> read() noexcept {
    if (!store_) return std::nullopt;
    try {
      if (!store_->check({failure_key})) return std::nullopt;
      return to_failure(store_->get(failure_key));
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  /// Says that this rank knows.
  void acknowledge() noexcept {
    if (!store_) return;
    try {
      store_->add(seen_key, 1);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): see the class
    }
  }

  /// Waits until `ranks` ranks know, or for `patience`.
  void wait_until_known(int ranks, std::chrono::milliseconds patience) noexcept {
    if (!store_) return;
    const auto until = std::chrono::steady_clock::now() + patience;
    try {
      while (store_->add(seen_key, 0) < ranks && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
      }
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): see the class
    }
  }

 private:
  static constexpr const char* failure_key = "heddle_failure";
  static constexpr const char* seen_key = "heddle_failure_seen";

  c10::intrusive_ptr<c10d::Store> store_;
};

}  // namespace heddle::detail
