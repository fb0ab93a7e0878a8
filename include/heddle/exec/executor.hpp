#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <heddle/core/diagnostic.hpp>
#include <heddle/core/error.hpp>
#include <heddle/core/order.hpp>
#include <heddle/exec/batch.hpp>
#include <heddle/exec/communicator.hpp>
#include <heddle/exec/compile.hpp>
#include <heddle/exec/evaluation_order.hpp>
#include <heddle/exec/local_stages.hpp>
#include <heddle/exec/loss.hpp>
#include <heddle/exec/loss_weights.hpp>
#include <heddle/exec/observer.hpp>
#include <heddle/exec/options.hpp>
#include <heddle/exec/program.hpp>
#include <heddle/exec/proved.hpp>
#include <heddle/exec/run_source.hpp>
#include <heddle/exec/stage.hpp>
#include <heddle/exec/step_runner.hpp>
#include <heddle/exec/user_handlers.hpp>
#include <heddle/schedule/exec_order.hpp>
#include <heddle/verify/verify.hpp>

namespace heddle {

/// Runs the steps of one rank over its stages, again and again.
///
/// Every rank makes one, with the same order, and makes the same calls. Gradients accumulate in the
/// stages from run to run. If a step fails on any rank, the call throws on all of them and the
/// executor is of no more use; a new one, over a new communicator, works.
///
/// Requires: `communicator` outlives the executor.
///
/// Complexity: of its own, no allocation and no virtual call a step; nothing grows with the
/// micro-batches but one number for the loss of each.
///
/// Errors: see each call; `PipelineError` where a stage, loader or handler threw on some rank,
/// `TimeoutError` where a wait outlasted `ExecutorOptions::deadline`.
template <class Stage, communicator Communicator, class Function, class Count = NoCount,
          observer Observer = NoObserver>
  requires stage_for<Stage, typename Communicator::Bundle> &&
           has_forward_loss<Stage, typename Communicator::Bundle, Function>
class Executor {
 public:
  using Bundle = typename Communicator::Bundle;
  using Batch = detail::Batch<Bundle>;

  /// Runs the order that `policy` makes for `shape`, after proving it.
  ///
  /// Errors: ShapeError if `policy` cannot have `shape`, ScheduleError if its order is wrong, Error
  /// if the stages or the communicator do not fit it. No message has been sent then.
  template <schedule Schedule>
  Executor(const Schedule& policy, PipelineShape shape, LocalStages<Stage> stages,
           Communicator& communicator, Loss<Function, Count> loss, ExecutorOptions options = {},
           Observer observer = {})
      : Executor(exec_order(policy, shape, options.data_steps), std::move(stages), communicator,
                 std::move(loss), std::move(options), std::move(observer)) {}

  /// Runs an order that was proved at compile time.
  template <schedule Schedule, PipelineShape shape, DataSteps Data>
  Executor(Proved<Schedule, shape, Data> /*order*/, LocalStages<Stage> stages,
           Communicator& communicator, Loss<Function, Count> loss, ExecutorOptions options = {},
           Observer observer = {})
      : Executor(Trusted{exec_order<Schedule, shape, Data>().view()}, std::move(stages),
                 communicator, std::move(loss), std::move(options), std::move(observer)) {}

  /// Runs any order with transfers, such as an imported one, after proving it.
  Executor(const Order& order, LocalStages<Stage> stages, Communicator& communicator,
           Loss<Function, Count> loss, ExecutorOptions options = {}, Observer observer = {})
      : Executor(trust(order), std::move(stages), communicator, std::move(loss), std::move(options),
                 std::move(observer)) {}

  // Requests under way know their communicator, and handlers may know their executor.
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Trains on one batch: all micro-batches forward and backward.
  ///
  /// `inputs` go to the first stage, `targets` to the loss; ranks without these stages ignore them.
  /// Errors: Error if a tensor cannot be cut into the micro-batches, before any message is sent;
  /// ranks whose batch would do get a PipelineError that says so.
  RunResult run(const Batch& inputs, const Batch& targets, RunOptions options = {})
    requires splittable_bundle<Bundle>
  {
    check_usable(false);
    runner_.inspect([&] {
      detail::check_batch<Bundle>(inputs, shape_.micro_batches, "input");
      detail::check_batch<Bundle>(targets, shape_.micro_batches, "target");
      check_combination(inputs, targets);
    });
    diagnose_inputs(inputs);
    detail::BatchSource<Bundle> source{inputs, targets, shape_.micro_batches};
    Weights weights{loss_, shape_.micro_batches, options.gradient_scale};
    const bool has_total = options.total_count.has_value();
    const double total = options.total_count.value_or(0);
    return train(source, weights, [&] {
      if (weights.needs_total()) weights.set_total(has_total ? total : total_of(source, weights));
    });
  }

  /// Trains on what `loader(micro_batch)`, a `LoadedMicroBatch`, gives on the rank of the first
  /// stage.
  ///
  /// Requires: `ExecutorOptions::data_steps` are there; with `weighted_loss`,
  /// `RunOptions::total_count`.
  template <class Loader>
    requires std::is_invocable_r_v<LoadedMicroBatch<Bundle>, Loader&, int>
  RunResult run_loaded(Loader&& loader, RunOptions options = {}) {
    check_usable(true);
    detail::LoaderSource<std::remove_reference_t<Loader>> source{loader};
    Weights weights{loss_, shape_.micro_batches, options.gradient_scale};
    if (weights.needs_total()) {
      if (!options.total_count) {
        throw Error(
            "weighted_loss with a loader: the counts are not known ahead; give "
            "RunOptions::total_count");
      }
      weights.set_total(*options.total_count);
    }
    return train(source, weights, [] {});
  }

  /// The outputs of the last stage for all micro-batches, in their order; empty on ranks without
  /// the last stage.
  ///
  /// Only forwards run; nothing that has to do with training changes.
  std::vector<Bundle> evaluate(const Batch& inputs, int micro_batches)
    requires splittable_bundle<Bundle>
  {
    runner_.check_usable();
    runner_.inspect([&] {
      make_evaluation(micro_batches);
      detail::check_batch<Bundle>(inputs, micro_batches, "input");
    });
    diagnose_inputs(inputs);
    detail::EvaluationSource<Bundle> source{inputs, micro_batches};
    if (has_last_stage()) source.outputs.resize(static_cast<std::size_t>(micro_batches));
    runner_.evaluate(evaluation_, source, -1 - evaluations_++);
    return std::move(source.outputs);
  }

  /// Lets `handler(step)` run the steps of a user's own kind.
  ///
  /// Errors: Error if `kind` is a built-in one or has a handler already.
  template <class Handler>
    requires std::invocable<Handler&, Step>
  void on(StepKind kind, Handler handler) {
    handlers_.add(kind, std::move(handler));
  }

  /// The rank's stages, ascending.
  std::vector<Stage>& stages() { return runner_.stages(); }

  /// The steps of this rank and what they need.
  const Program& program() const { return program_; }

  /// What the last run that trained really needed; equal to what `program` says.
  LivePeaks peaks() const { return runner_.peaks(); }

  Observer& observer() { return runner_.observer(); }

 private:
  using Weights = detail::LossWeights<Function, Count>;

  /// An order that needs no check any more.
  struct Trusted {
    OrderView order;
  };

  static Trusted trust(const Order& order) {
    if (const auto fault = verify(order)) throw ScheduleError(*fault);
    return {order};
  }

  Executor(Trusted trusted, LocalStages<Stage> stages, Communicator& communicator,
           Loss<Function, Count> loss, ExecutorOptions options, Observer observer)
      : shape_{trusted.order.shape},
        ranks_of_stages_(trusted.order.rank_of_stage.begin(), trusted.order.rank_of_stage.end()),
        has_data_steps_{
            std::ranges::any_of(trusted.order.steps, [](Step step) { return is_data(step.kind); })},
        program_{checked_program(trusted.order, stages, communicator)},
        diagnostics_{options.diagnostics},
        loss_{std::move(loss)},
        runner_{std::move(stages.stages), communicator, loss_.function, options,
                std::move(observer)} {
    if (options.outstanding_sends < 1) {
      throw Error("ExecutorOptions::outstanding_sends is " +
                  std::to_string(options.outstanding_sends) + "; it must be at least 1");
    }
    runner_.reserve(program_, has_last_stage() ? shape_.micro_batches : 0);
  }

  static Program checked_program(OrderView order, const LocalStages<Stage>& stages,
                                 const Communicator& communicator) {
    if (communicator.size() != order.ranks()) {
      throw Error("the communicator has " + std::to_string(communicator.size()) +
                  " ranks, but the order is for " + std::to_string(order.ranks()) +
                  "; shape.ranks must be the size of the communicator");
    }
    Program program = compile(order, communicator.rank());
    detail::check_local_stages(stages, program.stages, communicator.rank());
    if (program.splits_backward && !has_split_backward<Stage, Bundle>) {
      throw Error(
          "the order splits backwards in two halves, but the stage has no backward_input and "
          "backward_weight");
    }
    return program;
  }

  bool has_last_stage() const { return ranks_of_stages_.back() == runner_.rank(); }

  void check_usable(bool with_loader) {
    runner_.check_usable();
    handlers_.check(program_.user_kinds);
    if (with_loader == has_data_steps_) return;
    throw Error(with_loader ? "the order has no data steps, so a loader is of no use; set "
                              "ExecutorOptions::data_steps to DataSteps::chain or call run"
                            : "the order has data steps, which need a loader; call run_loaded");
  }

  /// A mean of means is not the mean of all rows where the micro-batches are unequal.
  void check_combination(const Batch& inputs, const Batch& targets) const {
    if (loss_.combination != LossCombination::mean) return;
    if (!detail::has_unequal_sizes(inputs) && !detail::has_unequal_sizes(targets)) return;
    throw Error(
        "mean_loss weighs all micro-batches alike, but their sizes differ; use weighted_loss "
        "(or sum_loss for a sum)");
  }

  /// What the targets of all micro-batches count for; matters on the rank of the last stage only.
  double total_of(const detail::BatchSource<Bundle>& source, const Weights& weights) const {
    if (!has_last_stage()) return 1;
    double total = 0;
    for (int index = 0; index < shape_.micro_batches; ++index)
      total += weights.count(source.targets(index));
    return total;
  }

  template <class Source, class Prepare>
  RunResult train(Source& source, const Weights& weights, Prepare prepare) {
    return runner_.train(program_, source, weights, handlers_, runs_++, prepare);
  }

  void diagnose_inputs(const Batch& inputs) const {
    if (!inputs.empty() || ranks_of_stages_.front() != runner_.rank()) return;
    diagnose(diagnostics_, Severity::warning,
             "rank " + std::to_string(runner_.rank()) +
                 " runs the first stage, but was given no inputs");
  }

  void make_evaluation(int micro_batches) {
    if (micro_batches == evaluated_micro_batches_) return;
    const Order order = detail::evaluation_order(shape_, ranks_of_stages_, micro_batches);
    evaluation_ = compile(order, runner_.rank());
    evaluated_micro_batches_ = micro_batches;
  }

  PipelineShape shape_;
  std::vector<int> ranks_of_stages_;
  bool has_data_steps_;
  Program program_;
  Program evaluation_{};
  int evaluated_micro_batches_ = 0;
  DiagnosticSink diagnostics_;
  Loss<Function, Count> loss_;
  detail::UserHandlers handlers_;
  int runs_ = 0;
  int evaluations_ = 0;
  detail::StepRunner<Stage, Communicator, Function, Observer> runner_;
};

}  // namespace heddle
