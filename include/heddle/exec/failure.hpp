#pragma once

#include <string>
#include <utility>

#include <heddle/core/error.hpp>
#include <heddle/core/step.hpp>
#include <heddle/core/step_names.hpp>

namespace heddle {

/// Why a run ended early: the rank where it began, the step that it was at, and what went wrong
/// there.
struct Failure {
  int rank = 0;
  Step step;
  std::string message;
};

/// `rank 2, forward of micro-batch 3 on stage 2: out of memory`.
inline std::string describe(const Failure& failure) {
  std::string text = "rank " + std::to_string(failure.rank);
  if (failure.step.kind != StepKind::idle) text += ", " + words_of(failure.step.kind);
  if (failure.step.micro_batch != no_micro_batch)
    text += " of micro-batch " + std::to_string(failure.step.micro_batch);
  if (failure.step.stage != no_stage) text += " on stage " + std::to_string(failure.step.stage);
  return text + ": " + failure.message;
}

/// A run that ended early, as each rank sees it: on the rank where it began, with the original
/// exception nested; on all others, with what that rank told them.
struct PipelineError : Error {
  PipelineError(int seen_on_rank, Failure failure)
      : Error("the run ended on rank " + std::to_string(seen_on_rank) + "; it began at " +
              describe(failure)),
        rank{seen_on_rank},
        origin{std::move(failure)} {}

  int rank;
  Failure origin;
};

/// A wait that outlasted its deadline.
struct TimeoutError : Error {
  using Error::Error;
};

}  // namespace heddle
