#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <heddle/core/error.hpp>
#include <heddle/core/placement.hpp>
#include <heddle/core/shape.hpp>
#include <heddle/core/step.hpp>
#include <heddle/exec/communicator.hpp>
#include <heddle/schedule/schedule.hpp>
#include <heddle/torch/bundle.hpp>

namespace heddle {

/// Parameters that several stages hold copies of, kept equal: all start as the lowest stage's copy,
/// and after a run each has the sum of all copies' gradients.
///
/// Gradients of a run are added by ascending stage, on the rank of the lowest, which hands the sum
/// to all: copies get the same bits, under every placement. Only what a run has added is summed, so
/// that runs accumulate. Copies on one rank may also be one and the same tensor.
///
/// Requires: every rank makes one, names the same ties in any order, and makes the same calls;
/// `communicator` outlives it.
/// Complexity: for each rank with a lowest stage, a message from each other stage that holds a tie
/// of it and one to each other such rank.
/// Errors: Error for a tie that is named twice, has no such stage or a copy of another shape.
template <communicator Communicator>
  requires std::same_as<typename Communicator::Bundle, TorchBundle>
class TiedParameters {
 public:
  template <schedule Schedule>
  TiedParameters(const Schedule& policy, PipelineShape shape, Communicator& communicator,
                 std::chrono::steady_clock::duration deadline = std::chrono::minutes{5})
      : ranks_of_stages_{ranks_of_stages(placement_of(policy), shape)},
        communicator_{communicator},
        patience_{deadline} {}

  /// Ties the parameters that `parameter_of(stage)` gives for those of `stages` that this rank has.
  template <class ParameterOf>
    requires std::is_invocable_r_v<at::Tensor, ParameterOf&, int>
  void tie(const std::string& name, std::vector<int> stages, ParameterOf&& parameter_of) {
    std::ranges::sort(stages);
    check_stages(name, stages);
    Tie tie{std::move(stages), {}, {}};
    for (const int stage : tie.stages) {
      tie.copies.push_back(rank_of(stage) == rank() ? at::Tensor(parameter_of(stage))
                                                    : at::Tensor{});
    }
    if (!ties_.emplace(name, std::move(tie)).second) {
      throw Error("'" + name + "' is tied already; name all of its stages in one call");
    }
  }

  /// Gives all copies the values of the lowest stage's. Call it once, before the first run.
  void copy_from_lowest_stage() {
    const c10::AutoGradMode history{false};
    for (int root = 0; root < communicator_.size(); ++root) {
      const auto ties = ties_of_root(root);
      std::vector<at::Tensor> values;
      for (const Tie* tie : ties) values.push_back(tie->copies.front());
      spread(root, ties, std::move(values), [](Tie& tie, const at::Tensor& value) {
        for (auto& copy : tie.copies) {
          if (!copy.defined() || copy.is_same(value)) continue;
          if (copy.sizes() != value.sizes()) throw Error("copies of a tie differ in shape");
          copy.copy_(value);
        }
      });
    }
    ++calls_;
  }

  /// Calls `work()`, one or more runs of an executor, and then sums the gradients that it has
  /// added.
  template <std::invocable Work>
  auto run(Work&& work) {
    for (auto& [name, tie] : ties_) set_aside(tie);
    auto result = without_loss_of_earlier(work);
    const c10::AutoGradMode history{false};
    for (int root = 0; root < communicator_.size(); ++root) {
      const auto ties = ties_of_root(root);
      spread(root, ties, sums_of(root, ties), give_gradient);
    }
    ++calls_;
    return result;
  }

 private:
  /// `copies[i]` is that of `stages[i]`, undefined on other ranks.
  struct Tie {
    std::vector<int> stages;
    std::vector<at::Tensor> copies;
    at::Tensor earlier;  // the gradient before the run
  };

  int rank() const { return communicator_.rank(); }
  int rank_of(int stage) const { return ranks_of_stages_[static_cast<std::size_t>(stage)]; }
  int stages() const { return static_cast<int>(ranks_of_stages_.size()); }
  Deadline deadline() const { return std::chrono::steady_clock::now() + patience_; }

  void check_stages(const std::string& name, const std::vector<int>& holders) const {
    const bool exist = !holders.empty() && holders.front() >= 0 && holders.back() < stages();
    if (exist && std::ranges::adjacent_find(holders) == holders.end()) return;
    throw Error("the stages of the tie '" + name + "' must be different ones of 0 to " +
                std::to_string(stages() - 1));
  }

  /// By name, so that it does not matter in which order they were tied.
  std::vector<Tie*> ties_of_root(int root) {
    std::vector<Tie*> ties;
    for (auto& [name, tie] : ties_) {
      if (rank_of(tie.stages.front()) == root) ties.push_back(&tie);
    }
    return ties;
  }

  /// Whether an earlier stage of this rank holds the very same tensor.
  static bool is_repeated(const Tie& tie, std::size_t at) {
    return std::any_of(tie.copies.begin(), tie.copies.begin() + static_cast<std::ptrdiff_t>(at),
                       [&](const at::Tensor& copy) { return copy.is_same(tie.copies[at]); });
  }

  static void set_aside(Tie& tie) {
    tie.earlier.reset();
    for (const auto& copy : tie.copies) {
      if (!copy.defined()) continue;
      at::Tensor gradient = std::exchange(copy.mutable_grad(), {});
      if (!tie.earlier.defined()) tie.earlier = std::move(gradient);
    }
  }

  /// A run that fails leaves the gradients of the tied parameters as they were.
  template <class Work>
  auto without_loss_of_earlier(Work& work) {
    try {
      return work();
    } catch (...) {
      for (auto& [name, tie] : ties_) give_gradient(tie, tie.earlier);
      throw;
    }
  }

  static at::Tensor take_gradient(Tie& tie, std::size_t at) {
    at::Tensor gradient;
    if (!is_repeated(tie, at)) gradient = std::exchange(tie.copies[at].mutable_grad(), {});
    return gradient.defined() ? gradient : at::zeros_like(tie.copies[at].detach());
  }

  static void give_gradient(Tie& tie, const at::Tensor& gradient) {
    for (std::size_t at = 0; at < tie.copies.size(); ++at) {
      const auto& copy = tie.copies[at];
      if (!copy.defined() || !copy.requires_grad() || is_repeated(tie, at)) continue;
      copy.mutable_grad() = gradient.defined() ? gradient.clone() : gradient;
    }
  }

  /// The gradients of this run and of earlier ones, on `root`; empty elsewhere.
  std::vector<at::Tensor> sums_of(int root, const std::vector<Tie*>& ties) {
    std::vector<at::Tensor> sums(ties.size());
    for (int stage = 0; stage < stages(); ++stage) {
      std::vector<std::size_t> held;
      TorchBundle added;
      for (std::size_t index = 0; index < ties.size(); ++index) {
        const auto found = std::ranges::find(ties[index]->stages, stage);
        if (found == ties[index]->stages.end()) continue;
        held.push_back(index);
        if (rank_of(stage) != rank()) continue;
        const auto at = static_cast<std::size_t>(found - ties[index]->stages.begin());
        added.append(take_gradient(*ties[index], at));
      }
      if (held.empty()) continue;
      added = moved(std::move(added), rank_of(stage), root, {StepKind::reduce_gradient, 0, stage},
                    held.size());
      for (std::size_t slot = 0; slot < added.size(); ++slot) {
        auto& sum = sums[held[slot]];
        sum = sum.defined() ? sum.add(added[slot]) : added[slot];
      }
    }
    for (std::size_t index = 0; index < sums.size(); ++index) {
      const auto& earlier = ties[index]->earlier;
      if (sums[index].defined() && earlier.defined()) sums[index] = earlier.add(sums[index]);
    }
    return sums;
  }

  /// Sends `values`, one for each tie, from `root` to every rank that holds a copy, and calls
  /// `use(tie, value)` there and on `root`.
  template <class Use>
  void spread(int root, const std::vector<Tie*>& ties, std::vector<at::Tensor> values, Use use) {
    for (int to = 0; to < communicator_.size(); ++to) {
      std::vector<std::size_t> held;
      for (std::size_t index = 0; index < ties.size(); ++index) {
        const auto& holders = ties[index]->stages;
        if (std::ranges::find(holders, to, [&](int stage) { return rank_of(stage); }) !=
            holders.end()) {
          held.push_back(index);
        }
      }
      if (held.empty()) continue;
      TorchBundle sent;
      if (root == rank()) {
        for (const auto index : held) {
          const auto value = values[index].detach();
          sent.append(to == root ? values[index] : value.clone());
        }
      }
      const int lowest = ties[held.front()]->stages.front();
      sent = moved(std::move(sent), root, to, {StepKind::wait_reduce_gradient, 0, lowest},
                   held.size());
      for (std::size_t slot = 0; slot < sent.size(); ++slot) use(*ties[held[slot]], sent[slot]);
    }
  }

  /// `bundle` on rank `to`, and nothing on all others.
  TorchBundle moved(TorchBundle bundle, int from, int to, Step step, std::size_t count) {
    if (from == to) return bundle;
    if (from == rank()) {
      communicator_.send(std::move(bundle), to, MessageId{step, calls_}).wait(deadline());
    } else if (to == rank()) {
      bundle = communicator_.receive(from, MessageId{step, calls_}).wait(deadline());
      if (bundle.size() == count) return bundle;
      throw Error("rank " + std::to_string(from) + " sent " + std::to_string(bundle.size()) +
                  " tied parameters where " + std::to_string(count) +
                  " were expected; all ranks must name the same ties");
    }
    return {};
  }

  std::vector<int> ranks_of_stages_;
  Communicator& communicator_;
  std::chrono::steady_clock::duration patience_;
  std::map<std::string, Tie> ties_;
  int calls_ = 0;
};

}  // namespace heddle
