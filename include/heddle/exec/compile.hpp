#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <heddle/core/error.hpp>
#include <heddle/core/order.hpp>
#include <heddle/core/step.hpp>
#include <heddle/core/step_names.hpp>
#include <heddle/exec/program.hpp>
#include <heddle/verify/slots.hpp>

namespace heddle {

namespace detail {

/// Hands out the lowest free number, so that no more numbers are used than are ever taken at once.
class LowestFree {
 public:
  constexpr int take() {
    if (free_.empty()) return used_++;
    std::pop_heap(free_.begin(), free_.end(), std::greater{});
    const int number = free_.back();
    free_.pop_back();
    return number;
  }
  constexpr void give_back(int number) {
    free_.push_back(number);
    std::push_heap(free_.begin(), free_.end(), std::greater{});
  }
  constexpr int used() const { return used_; }

 private:
  int used_ = 0;
  std::vector<int> free_;
};

/// A number for each (stage of the rank, micro-batch), none at first.
class PairTable {
 public:
  constexpr PairTable(std::size_t stages, int micro_batches)
      : micro_batches_{static_cast<std::size_t>(micro_batches)},
        numbers_(stages * micro_batches_, no_buffer) {}

  constexpr int& at(int stage, int micro_batch) {
    return numbers_[static_cast<std::size_t>(stage) * micro_batches_ +
                    static_cast<std::size_t>(micro_batch)];
  }

  /// The number, which is forgotten.
  constexpr int remove(int stage, int micro_batch) {
    const int number = at(stage, micro_batch);
    at(stage, micro_batch) = no_buffer;
    return number;
  }

 private:
  std::size_t micro_batches_;
  std::vector<int> numbers_;
};

/// Turns the steps of one rank into instructions, one after the other.
///
/// A bundle that waits is found under the stage that will use it: an activation or gradient that
/// goes to another stage of the rank under that one, all others under the stage that made them or,
/// if they were received, that asked for them.
class Compiler {
 public:
  constexpr Compiler(OrderView order, int rank)
      : order_{order},
        rank_{rank},
        local_(static_cast<std::size_t>(order.shape.stages()), no_stage) {
    for (int stage = 0; stage < order.shape.stages(); ++stage) {
      if (order.rank_of(stage) != rank) continue;
      local_[static_cast<std::size_t>(stage)] = static_cast<int>(program_.stages.size());
      program_.stages.push_back(stage);
    }
    const auto tables = PairTable{program_.stages.size(), order.shape.micro_batches};
    inputs_ = outputs_ = gradients_ = input_gradients_ = tables;
    data_.assign(static_cast<std::size_t>(order.shape.micro_batches), no_buffer);
  }

  constexpr Program run() {
    const auto steps = order_.rank(rank_);
    program_.instructions.reserve(steps.size());
    slots_.assign(steps.size(), no_slot);
    program_.slots = assign_slots(order_, rank_, slots_);
    for (position_ = 0; position_ < steps.size(); ++position_) add(steps[position_]);
    mark_completions();
    program_.buffers = buffers_.used();
    return std::move(program_);
  }

 private:
  constexpr void add(Step step) {
    using enum StepKind;
    switch (step.kind) {
      case idle: return;
      case forward: return add_forward(step);
      case backward: return add_backward(step, Operation::backward);
      case backward_input: return add_backward(step, Operation::backward_input);
      case backward_weight: return add_backward_weight(step);
      case send_activation: return add_send(step, outputs_, 1);
      case send_gradient: return add_send(step, input_gradients_, -1);
      case receive_activation: return add_receive(step, inputs_, -1);
      case receive_gradient: return add_receive(step, gradients_, 1);
      case load: return add_load(step);
      case send_data: return add_send_data(step);
      case receive_data: return add_receive_data(step);
      default: return add_other(step);
    }
  }

  constexpr void add_forward(Step step) {
    const int stage = local(step);
    const bool last = step.stage + 1 == order_.shape.stages();
    Instruction made{.step = step,
                     .operation = last ? Operation::forward_loss : Operation::forward};
    made.stage = stage;
    made.input = use_up(inputs_, step);
    made.data = data_[micro_batch(step)];
    made.slot = slots_[position_];
    if (last) {
      release(data_[micro_batch(step)]);
    } else {
      made.output =
          make(order_.crosses_after(step.stage) ? outputs_.at(stage, step.micro_batch)
                                                : inputs_.at(stage + 1, step.micro_batch));
    }
    program_.instructions.push_back(made);
  }

  constexpr void add_backward(Step step, Operation operation) {
    const int stage = local(step);
    Instruction made{.step = step, .operation = operation};
    made.stage = stage;
    made.input = use_up(gradients_, step);
    made.slot = slots_[position_];
    if (step.stage > order_.shape.first_trained_stage) {
      made.output =
          make(order_.crosses_after(step.stage - 1) ? input_gradients_.at(stage, step.micro_batch)
                                                    : gradients_.at(stage - 1, step.micro_batch));
    }
    program_.splits_backward |= operation != Operation::backward;
    program_.instructions.push_back(made);
  }

  constexpr void add_backward_weight(Step step) {
    Instruction made{.step = step, .operation = Operation::backward_weight};
    made.stage = local(step);
    made.slot = slots_[position_];
    program_.instructions.push_back(made);
  }

  constexpr void add_send(Step step, PairTable& waiting, int towards) {
    Instruction made{.step = step, .operation = Operation::send};
    made.stage = local(step);
    made.peer = order_.rank_of(step.stage + towards);
    made.input = use_up(waiting, step);
    program_.instructions.push_back(made);
  }

  constexpr void add_receive(Step step, PairTable& waiting, int from) {
    Instruction made{.step = step, .operation = Operation::receive};
    made.stage = local(step);
    made.peer = order_.rank_of(step.stage + from);
    made.output = make(waiting.at(made.stage, step.micro_batch));
    program_.instructions.push_back(made);
  }

  /// Later stages find the data that were sent along: only the first one loads.
  constexpr void add_load(Step step) {
    if (step.stage > 0) return;
    Instruction made{.step = step, .operation = Operation::load};
    made.stage = local(step);
    made.output = make(inputs_.at(made.stage, step.micro_batch));
    made.data = make(data_[micro_batch(step)]);
    program_.instructions.push_back(made);
  }

  constexpr void add_send_data(Step step) {
    Instruction made{.step = step, .operation = Operation::send};
    made.stage = local(step);
    made.peer = order_.rank_of(step.stage + 1);
    made.input = data_[micro_batch(step)];
    release(data_[micro_batch(step)]);
    program_.instructions.push_back(made);
  }

  constexpr void add_receive_data(Step step) {
    Instruction made{.step = step, .operation = Operation::receive};
    made.stage = local(step);
    made.peer = order_.rank_of(step.stage - 1);
    made.output = make(data_[micro_batch(step)]);
    program_.instructions.push_back(made);
  }

  constexpr void add_other(Step step) {
    if (!is_user(step.kind)) {
      throw Error("rank " + std::to_string(rank_) + ": the executor does not run a " +
                  words_of(step.kind) + "; take it out of the order");
    }
    if (std::find(program_.user_kinds.begin(), program_.user_kinds.end(), step.kind) ==
        program_.user_kinds.end()) {
      program_.user_kinds.push_back(step.kind);
    }
    program_.instructions.push_back({.step = step, .operation = Operation::user});
  }

  constexpr void mark_completions() {
    std::vector<char> completed(program_.stages.size(),
                                0);  // not of bool: clang cannot evaluate that
    for (auto at = program_.instructions.rbegin(); at != program_.instructions.rend(); ++at) {
      if (at->operation != Operation::backward && at->operation != Operation::backward_weight)
        continue;
      const auto stage = static_cast<std::size_t>(at->stage);
      at->completes = completed[stage] == 0;
      completed[stage] = 1;
    }
  }

  constexpr int local(Step step) const { return local_[static_cast<std::size_t>(step.stage)]; }
  static constexpr std::size_t micro_batch(Step step) {
    return static_cast<std::size_t>(step.micro_batch);
  }
  constexpr int make(int& place) { return place = buffers_.take(); }
  constexpr void release(int& place) {
    if (place != no_buffer) buffers_.give_back(place);
    place = no_buffer;
  }
  constexpr int use_up(PairTable& waiting, Step step) {
    const int buffer = waiting.remove(local(step), step.micro_batch);
    if (buffer != no_buffer) buffers_.give_back(buffer);
    return buffer;
  }
  OrderView order_;
  int rank_;
  std::vector<int> local_;
  Program program_;
  std::vector<int> slots_;  // of each step
  std::size_t position_ = 0;
  LowestFree buffers_;
  PairTable inputs_{0, 0};
  PairTable outputs_{0, 0};
  PairTable gradients_{0, 0};
  PairTable input_gradients_{0, 0};
  std::vector<int> data_;
};

}  // namespace detail

/// What `rank` does to run its part of `order`.
///
/// Requires: the order passes `verify`. A user's own kind of step is the user's matter.
/// Complexity: linear in the steps of the rank, times the logarithm of the buffers in use.
/// Errors: Error if the order has a kind of step that the executor does not run.
constexpr Program compile(OrderView order, int rank) { return detail::Compiler{order, rank}.run(); }

}  // namespace heddle
