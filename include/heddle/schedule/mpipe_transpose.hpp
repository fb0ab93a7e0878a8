#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <heddle/core/error.hpp>
#include <heddle/core/placement.hpp>
#include <heddle/core/shape.hpp>
#include <heddle/core/step.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/mpipe_lowering.hpp>
#include <heddle/schedule/mpipe_options.hpp>
#include <heddle/schedule/ownership.hpp>
#include <heddle/schedule/schedule.hpp>

namespace heddle {

/// MPipe Transpose with options that are known at run time; see `MPipeTranspose`.
///
/// Errors: Error if the traits contradict each other.
template <schedule Body = RuntimeInterleaved1F1B>
class RuntimeMPipeTranspose {
 public:
  static constexpr std::string_view name = "mpipe";

  Placement placement;
  ScheduleNeeds needs;

  constexpr explicit RuntimeMPipeTranspose(MPipeOptions options = {}, Body body = {})
      : placement{placement_of(body)},
        needs{needs_of(body)},
        options_{options},
        body_{std::move(body)} {
    if (const auto wrong = contradiction_of(options.traits); !wrong.empty())
      throw Error(std::string{name} + ": " + std::string{wrong});
  }

  constexpr MPipeOptions options() const { return options_; }
  constexpr const Body& body() const { return body_; }

  template <class Visit>
  constexpr void visit_columns(PipelineShape shape, int rank, Visit visit) const {
    detail::visit_columns(body_, shape, rank, visit);
  }

  constexpr std::vector<Step> columns(PipelineShape shape, int rank) const {
    std::vector<Step> steps;
    visit_columns(shape, rank, [&](Step step) { steps.push_back(step); });
    return steps;
  }

  constexpr std::vector<int> owners(PipelineShape shape) const {
    return owners_of(options_.overflow, shape);
  }

  template <class Emit>
  constexpr void lower(OrderView columns, DataSteps data, Emit emit) const {
    detail::lower_mpipe(options_, body_, columns, data, emit);
  }

 private:
  MPipeOptions options_;
  Body body_;
};

/// Takes the tower (an embedding, a vision tower) off rank 0: each micro-batch has an owner among
/// the first min(ranks, micro_batches) ranks, which loads it, runs the tower forward in the
/// pipeline's start-up and sends the features to rank 0. The stages of `Body` hold no layer of the
/// tower, and `Body` runs them as it always does: without the steps of MPipe the order is exactly
/// its own, but for its loads.
///
/// Requires: what `Body` requires, and traits without contradiction; others do not compile.
/// Makespan: that of `Body` and about micro_batches / ranks (`OverflowMode::min`: 1) tower forwards
/// at the start, and, if the owners run it backward, as many tower backwards at the end.
/// Peak live activations: that of `Body`. Peak features: micro_batches on rank 0, micro_batches /
/// ranks on others (`OverflowMode::min`: 1).
/// When to use: a heavy tower with few parameters, frozen or run backward by the owners, many ranks
/// and few micro-batches for each. A trainable tower with its backward on rank 0 is slower than the
/// same tower inside the first stage.
template <OverflowMode Overflow, MPipeTraits traits = MPipeTraits{},
          schedule Body = Interleaved1F1B>
struct MPipeTranspose {
  static_assert(detail::are_possible<traits>());

  static constexpr std::string_view name = RuntimeMPipeTranspose<Body>::name;
  static constexpr MPipeOptions options{Overflow, traits};
  static constexpr Placement placement = placement_of(Body{});
  static constexpr ScheduleNeeds needs = needs_of(Body{});

  template <class Visit>
  static constexpr void visit_columns(PipelineShape shape, int rank, Visit visit) {
    detail::visit_columns(Body{}, shape, rank, visit);
  }

  static constexpr std::vector<Step> columns(PipelineShape shape, int rank) {
    std::vector<Step> steps;
    visit_columns(shape, rank, [&](Step step) { steps.push_back(step); });
    return steps;
  }

  /// The owner of each micro-batch; see `owner_of` and `owned_micro_batches`.
  static constexpr std::vector<int> owners(PipelineShape shape) {
    return owners_of(Overflow, shape);
  }

  template <class Emit>
  static constexpr void lower(OrderView columns, DataSteps data, Emit emit) {
    detail::lower_mpipe(options, Body{}, columns, data, emit);
  }
};

static_assert(schedule<MPipeTranspose<OverflowMode::full>>);
static_assert(schedule<RuntimeMPipeTranspose<>>);

}  // namespace heddle
