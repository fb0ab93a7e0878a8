#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <heddle/core/diagnostic.hpp>
#include <heddle/schedule/schedule.hpp>

namespace heddle {

/// When the executor waits for what it receives.
enum class Waiting : std::uint8_t {
  posted_ahead,  ///< a receive is posted where the order has it and waited for by the step that
                 ///< uses it
  inline_,  ///< a receive is waited for where the order has it; built-in orders complete that way
            ///< too
};

/// How an executor runs its order.
struct ExecutorOptions {
  Waiting waiting = Waiting::posted_ahead;
  /// How long any one wait may last.
  std::chrono::steady_clock::duration deadline = std::chrono::minutes{5};
  DataSteps data_steps = DataSteps::none;
  /// The most sends under way; the oldest is waited for before another one is posted. At least 1.
  int outstanding_sends = 8;
  DiagnosticSink diagnostics{};
};

/// What may differ from run to run.
struct RunOptions {
  /// Multiplies the gradients, not the reported loss: a loss scale.
  double gradient_scale = 1;
  /// For `weighted_loss`: what the counts of this run and of all that accumulate with it add up to.
  /// Empty: this run's.
  std::optional<double> total_count{};
};

/// What a run gives each rank.
struct RunResult {
  double loss = 0;        ///< of the whole batch, on the rank of the last stage; 0 on all others
  bool has_loss = false;  ///< whether this is the rank of the last stage
  bool flagged = false;   ///< whether a stage on any rank raised its flag; the same on all ranks
};

}  // namespace heddle
