#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <heddle/core/error.hpp>
#include <heddle/core/step.hpp>
#include <heddle/exec/buffers.hpp>
#include <heddle/exec/communicator.hpp>
#include <heddle/exec/failure.hpp>
#include <heddle/exec/loss_values.hpp>
#include <heddle/exec/micro_batch.hpp>
#include <heddle/exec/options.hpp>
#include <heddle/exec/program.hpp>
#include <heddle/exec/run_source.hpp>
#include <heddle/exec/stage.hpp>
#include <heddle/exec/tensor_counts.hpp>
#include <heddle/exec/user_handlers.hpp>

namespace heddle::detail {

/// Runs programs over the stages of one rank: one loop over the instructions.
template <class Stage, communicator Communicator, class Function, class Observer>
class StepRunner {
 public:
  using Bundle = typename Communicator::Bundle;

  StepRunner(std::vector<Stage> stages, Communicator& communicator, Function& loss,
             const ExecutorOptions& options, Observer observer)
      : rank_{communicator.rank()},
        stages_{std::move(stages)},
        communicator_{communicator},
        loss_{loss},
        waits_inline_{options.waiting == Waiting::inline_},
        patience_{options.deadline},
        observer_{std::move(observer)},
        outbox_{std::max(options.outstanding_sends, 1)},
        counts_(stages_.size()) {}

  int rank() const { return rank_; }
  std::vector<Stage>& stages() { return stages_; }
  Observer& observer() { return observer_; }
  LivePeaks peaks() const { return {saved_.most(), buffers_.most_live()}; }

  void reserve(const Program& program, int losses) {
    buffers_.reserve(program.buffers);
    losses_.reserve(losses);
    if constexpr (has_reserve<Stage>) {
      for (Stage& stage : stages_) stage.reserve(program.slots);
    }
  }

  void check_usable() const {
    if (!is_broken_) return;
    throw Error(
        "rank " + std::to_string(rank_) +
        ": an earlier run of this executor failed; make a new one, over a new communicator");
  }

  /// Calls `check` of what this rank was given. What it throws ends the run on all ranks: what the
  /// others were given may pass, and they would wait.
  template <class Check>
  void inspect(Check check) {
    try {
      check();
    } catch (const std::exception& error) {
      give_up(error.what());
      throw;
    }
  }

  /// `prepare` is called first, where what it throws ends the run on all ranks.
  template <class Source, class Weights, class Prepare>
  RunResult train(const Program& program, Source& source, const Weights& weights,
                  const UserHandlers& handlers, int number, Prepare prepare) {
    RunResult result;
    guard([&] {
      prepare();
      execute(program, Run<Source, Weights>{source, &weights, &handlers, number});
      assert((peaks() == LivePeaks{program.slots, program.buffers}));
      result = finish();
    });
    return result;
  }

  template <class Source>
  void evaluate(const Program& program, Source& source, int number) {
    guard([&] {
      buffers_.reserve(program.buffers);
      execute(program, Run<Source, NoWeights>{source, nullptr, nullptr, number});
    });
  }

 private:
  using LossValue = decltype(std::declval<Stage&>().forward_loss(
      MicroBatch{}, std::declval<Bundle>(), std::declval<const Bundle&>(),
      std::declval<Function&>(), double{}));

  struct NoWeights {};

  template <class Source, class Weights>
  struct Run {
    Source& source;
    const Weights* weights;
    const UserHandlers* handlers;
    int number;
  };

  template <class Work>
  void guard(Work work) {
    try {
      work();
    } catch (const PipelineError& error) {
      // Known to all ranks already, unless it is that of another pipeline, inside a stage.
      communicator_.abort(error.origin);
      abandon();
      throw;
    } catch (const TimeoutError& error) {
      give_up(error.what());
      throw;
    } catch (const std::exception& error) {
      std::throw_with_nested(PipelineError(rank_, give_up(error.what())));
    } catch (...) {
      std::throw_with_nested(PipelineError(rank_, give_up("an exception of an unknown type")));
    }
  }

  /// Tells all ranks, and lets go of all that is under way.
  Failure give_up(const char* message) {
    Failure failure{rank_, at_, message};
    is_broken_ = true;
    communicator_.abort(failure);
    abandon();
    return failure;
  }

  void abandon() {
    is_broken_ = true;
    buffers_.clear();
    outbox_.clear();
    losses_.clear();
    if constexpr (has_abandon<Stage>) {
      for (Stage& stage : stages_) stage.abandon();
    }
  }

  template <class Run>
  void execute(const Program& program, Run run) {
    buffers_.clear_counts();
    saved_.reset();
    for (const Instruction& instruction : program.instructions) {
      at_ = instruction.step;
      execute(instruction, run);
    }
    at_ = Step{};
    outbox_.finish(deadline());
  }

  template <class Run>
  void execute(const Instruction& instruction, Run& run) {
    switch (instruction.operation) {
      case Operation::forward: return forward(instruction, run);
      case Operation::forward_loss: return forward_loss(instruction, run);
      case Operation::backward: return backward(instruction);
      case Operation::backward_input: return backward_input(instruction);
      case Operation::backward_weight: return backward_weight(instruction);
      case Operation::send: return send(instruction, run.number);
      case Operation::receive: return receive(instruction, run.number);
      case Operation::load: return load(instruction, run);
      case Operation::user: return user(instruction, run);
    }
  }

  template <class Run>
  void forward(const Instruction& instruction, Run& run) {
    Bundle inputs = inputs_of(instruction, run);
    if (instruction.slot >= 0) saved_.add();
    observer_.begin(instruction.step);
    Bundle outputs = stage(instruction).forward(micro_batch(instruction), std::move(inputs));
    observer_.end(instruction.step);
    counts(instruction).check_outputs(outputs, instruction.step);
    buffers_.put(instruction.output, std::move(outputs));
  }

  template <class Run>
  void forward_loss(const Instruction& instruction, Run& run) {
    Bundle inputs = inputs_of(instruction, run);
    if constexpr (evaluates<Run>) {
      observer_.begin(instruction.step);
      run.source.outputs[static_cast<std::size_t>(instruction.step.micro_batch)] =
          stage(instruction).forward(micro_batch(instruction), std::move(inputs));
      observer_.end(instruction.step);
    } else {
      const Bundle targets = targets_of(instruction, run);
      if (instruction.slot >= 0) saved_.add();
      const double weight = run.weights->weight(targets);
      observer_.begin(instruction.step);
      losses_.put(instruction.step, weight,
                  stage(instruction)
                      .forward_loss(micro_batch(instruction), std::move(inputs), targets, loss_,
                                    weight * run.weights->gradient_scale()));
      observer_.end(instruction.step);
    }
  }

  void backward(const Instruction& instruction) {
    Bundle gradients = gradients_of(instruction);
    observer_.begin(instruction.step);
    Bundle input_gradients =
        stage(instruction).backward(micro_batch(instruction), std::move(gradients));
    observer_.end(instruction.step);
    saved_.remove();
    keep_gradients(instruction, std::move(input_gradients));
    complete(instruction);
  }

  void backward_input(const Instruction& instruction) {
    if constexpr (has_split_backward<Stage, Bundle>) {
      Bundle gradients = gradients_of(instruction);
      observer_.begin(instruction.step);
      Bundle input_gradients =
          stage(instruction).backward_input(micro_batch(instruction), std::move(gradients));
      observer_.end(instruction.step);
      keep_gradients(instruction, std::move(input_gradients));
    }
  }

  void backward_weight(const Instruction& instruction) {
    if constexpr (has_split_backward<Stage, Bundle>) {
      observer_.begin(instruction.step);
      stage(instruction).backward_weight(micro_batch(instruction));
      observer_.end(instruction.step);
      saved_.remove();
      complete(instruction);
    }
  }

  void send(const Instruction& instruction, int run) {
    buffers_.settle(instruction.input, deadline());
    outbox_.make_room(deadline());
    observer_.begin(instruction.step);
    outbox_.add(communicator_.send(buffers_.take(instruction.input), instruction.peer,
                                   MessageId{instruction.step, run}));
    observer_.end(instruction.step);
  }

  void receive(const Instruction& instruction, int run) {
    observer_.begin(instruction.step);
    buffers_.expect(
        instruction.output,
        communicator_.receive(instruction.peer, MessageId{matching_send(instruction.step), run}));
    if (waits_inline_) buffers_.settle(instruction.output, deadline());
    observer_.end(instruction.step);
  }

  template <class Run>
  void load(const Instruction& instruction, Run& run) {
    if constexpr (loads<Run>) {
      observer_.begin(instruction.step);
      LoadedMicroBatch<Bundle> loaded = run.source.loader(instruction.step.micro_batch);
      observer_.end(instruction.step);
      buffers_.put(instruction.output, std::move(loaded.inputs));
      buffers_.put(instruction.data, std::move(loaded.targets));
    }
  }

  template <class Run>
  void user(const Instruction& instruction, Run& run) {
    observer_.begin(instruction.step);
    run.handlers->call(instruction.step);
    observer_.end(instruction.step);
  }

  template <class Run>
  Bundle inputs_of(const Instruction& instruction, Run& run) {
    if constexpr (has_load<Stage, Bundle>) {
      if (instruction.data != no_buffer) {
        stage(instruction)
            .load(micro_batch(instruction), buffers_.settle(instruction.data, deadline()));
      }
    }
    Bundle inputs = first_inputs(instruction, run);
    if constexpr (!evaluates<Run>) counts(instruction).see_inputs(inputs);
    return inputs;
  }

  template <class Run>
  Bundle first_inputs(const Instruction& instruction, Run& run) {
    if (instruction.input != no_buffer) return taken(instruction.input);
    if constexpr (loads<Run>) {
      throw Error("the order does not load what its first stage takes");
    } else {
      return run.source.inputs(instruction.step.micro_batch);
    }
  }

  template <class Run>
  Bundle targets_of(const Instruction& instruction, Run& run) {
    if (instruction.data != no_buffer) return taken(instruction.data);
    if constexpr (loads<Run>) {
      throw Error("the order does not bring the data to its last stage");
    } else {
      return run.source.targets(instruction.step.micro_batch);
    }
  }

  /// The last stage begins with its loss, not with gradients of another one.
  Bundle gradients_of(const Instruction& instruction) {
    return instruction.input == no_buffer ? Bundle{} : taken(instruction.input);
  }

  void keep_gradients(const Instruction& instruction, Bundle gradients) {
    if (instruction.output == no_buffer) return;
    counts(instruction).check_gradients(gradients, instruction.step);
    buffers_.put(instruction.output, std::move(gradients));
  }

  Bundle taken(int buffer) {
    buffers_.settle(buffer, deadline());
    return buffers_.take(buffer);
  }

  void complete(const Instruction& instruction) {
    if constexpr (has_finish<Stage>) {
      if (instruction.completes) stage(instruction).finish();
    }
  }

  /// Adds up the losses, and agrees with all ranks that the run is done: without it, a rank whose
  /// steps are over would go on with what another one could not finish.
  RunResult finish() {
    RunResult result;
    result.has_loss = losses_.any();
    result.loss = losses_.sum(at_);
    at_ = Step{};
    std::array<double, 1> flags{0};
    if constexpr (has_flag<Stage>) {
      for (Stage& stage : stages_) flags[0] += stage.flag() ? 1 : 0;
    }
    if (communicator_.size() > 1)
      communicator_.all_reduce_sum(std::span<double>{flags}, deadline()());
    result.flagged = flags[0] > 0;
    return result;
  }

  template <class Run>
  static constexpr bool evaluates = std::remove_cvref_t<decltype(Run::source)>::evaluates;
  template <class Run>
  static constexpr bool loads = std::remove_cvref_t<decltype(Run::source)>::loads;

  /// Asked only where there is something to wait for: reading the clock is dearer than a step.
  auto deadline() const {
    return [this] { return std::chrono::steady_clock::now() + patience_; };
  }

  static MicroBatch micro_batch(const Instruction& instruction) {
    return {instruction.step.micro_batch, instruction.slot};
  }
  Stage& stage(const Instruction& instruction) {
    return stages_[static_cast<std::size_t>(instruction.stage)];
  }
  TensorCounts& counts(const Instruction& instruction) {
    return counts_[static_cast<std::size_t>(instruction.stage)];
  }

  int rank_;
  std::vector<Stage> stages_;
  Communicator& communicator_;
  Function& loss_;
  bool waits_inline_;
  std::chrono::steady_clock::duration patience_;
  Observer observer_;
  Buffers<Communicator> buffers_;
  Outbox<Communicator> outbox_;
  std::vector<TensorCounts> counts_;
  LossValues<LossValue> losses_;
  LiveCount saved_;
  Step at_;
  bool is_broken_ = false;
};

}  // namespace heddle::detail
