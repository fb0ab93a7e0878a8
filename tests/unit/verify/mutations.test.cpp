#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <heddle/core/text.hpp>
#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/gpipe.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/one_f_one_b.hpp>
#include <heddle/verify/verify.hpp>

#include "support/golden.hpp"

using namespace heddle;

namespace {

using Lists = std::vector<std::vector<Step>>;

Lists lists_of(const Order& order) {
  Lists lists;
  for (int rank = 0; rank < order.ranks(); ++rank) {
    lists.emplace_back(order.rank(rank).begin(), order.rank(rank).end());
  }
  return lists;
}

/// `r0-Fs0@0` drops a step of rank 0, `r1:Fr1@1<>Bs0@1` swaps two of rank 1.
void mutate(Lists& lists, const std::string& what) {
  if (what == "-") return;
  auto& list = lists.at(static_cast<std::size_t>(what[1] - '0'));
  const auto find = [&](const std::string& token) {
    return std::find(list.begin(), list.end(), step_of_text(token).value());
  };
  if (what[2] == '-') {
    list.erase(find(what.substr(3)));
  } else {
    const auto middle = what.find("<>");
    std::iter_swap(find(what.substr(3, middle - 3)), find(what.substr(middle + 2)));
  }
}

struct Expected {
  FaultKind kind;
  int rank;
  int position;
};

/// What is wrong with each mutated row; the rows without an entry are sound.
const std::map<std::string, Expected> expected_faults{
    {"val_P2_V1_M2_dropsend", {FaultKind::receive_without_send, 1, 0}},
    {"val_P2_V1_M2_swap1", {FaultKind::send_before_backward, 1, 2}},
    {"val_P2_V1_M2_swap2", {FaultKind::overtaken_receive, 1, 2}},
    {"val_P2_V1_M2_swap3", {FaultKind::overtaken_receive, 0, 6}},
    {"val_P2_V1_M4_dropsend", {FaultKind::receive_without_send, 1, 0}},
    {"val_P2_V1_M4_swap1", {FaultKind::overtaken_receive, 1, 2}},
    {"val_P2_V1_M4_swap2", {FaultKind::wait_cycle, 0, 10}},
    {"val_P2_V1_M4_swap3", {FaultKind::send_before_backward, 1, 2}},
    {"val_P3_V1_M3_dropsend", {FaultKind::receive_without_send, 1, 0}},
    {"val_P3_V1_M3_swap3", {FaultKind::wait_cycle, 1, 9}},
    {"val_P4_V1_M4_swap1", {FaultKind::send_before_backward, 3, 10}},
    {"val_P4_V1_M4_swap3", {FaultKind::wait_cycle, 1, 11}},
    {"val_P2_V2_M4_swap3", {FaultKind::wait_cycle, 0, 7}},
    {"val_P3_V2_M6_dropsend", {FaultKind::receive_without_send, 1, 0}},
    {"val_P3_V2_M6_swap1", {FaultKind::wait_cycle, 0, 11}},
    {"val_P4_V2_M4_dropsend", {FaultKind::receive_without_send, 1, 0}},
};

/// An order as a set of facts and a clock without cleverness: what the laws are held against.
class Oracle {
 public:
  explicit Oracle(const Order& order)
      : order_{order}, lists_{lists_of(order)}, at_(lists_.size()), has_(lists_.size()) {}

  bool accepts() {
    if (!counts_are_right()) return false;
    while (advance()) {
    }
    for (std::size_t rank = 0; rank < lists_.size(); ++rank) {
      if (at_[rank] < lists_[rank].size()) return false;
    }
    return !broken_;
  }

 private:
  bool trains(int stage) const { return stage >= order_.shape.first_trained_stage; }

  bool counts_are_right() const {
    std::map<std::pair<int, int>, std::map<StepKind, int>> ran;
    std::set<std::pair<StepKind, std::pair<int, int>>> messages;
    for (std::size_t rank = 0; rank < lists_.size(); ++rank) {
      for (const Step step : lists_[rank]) {
        if (step.stage < 0 || step.stage >= order_.shape.stages()) return false;
        if (step.micro_batch < 0 || step.micro_batch >= order_.shape.micro_batches) return false;
        if (order_.rank_of_stage[static_cast<std::size_t>(step.stage)] != static_cast<int>(rank)) {
          return false;
        }
        const std::pair key{step.stage, step.micro_batch};
        if (is_compute(step.kind)) {
          ++ran[key][step.kind];
        } else if (!messages.emplace(step.kind, key).second) {
          return false;
        }
        if (step.kind == StepKind::receive_gradient && !trains(step.stage)) return false;
      }
    }
    for (int stage = 0; stage < order_.shape.stages(); ++stage) {
      for (int micro = 0; micro < order_.shape.micro_batches; ++micro) {
        const auto& of = ran[{stage, micro}];
        const auto count = [&](StepKind kind) { return of.count(kind) > 0 ? of.at(kind) : 0; };
        const int whole = count(StepKind::backward);
        const int input = count(StepKind::backward_input);
        const int weight = count(StepKind::backward_weight);
        if (count(StepKind::forward) != 1 || input != weight) return false;
        if (whole + input != (trains(stage) ? 1 : 0)) return false;
      }
    }
    return true;
  }

  /// Lets one rank do one thing; false if none can.
  bool advance() {
    for (std::size_t rank = 0; rank < lists_.size(); ++rank) {
      if (at_[rank] == lists_[rank].size()) continue;
      const Step step = lists_[rank][at_[rank]];
      if (!is_transfer(step.kind)) {
        run(rank, step);
        ++at_[rank];
        return true;
      }
      if (!is_send(step.kind)) continue;
      for (std::size_t peer = 0; peer < lists_.size(); ++peer) {
        if (peer == rank || at_[peer] == lists_[peer].size()) continue;
        if (lists_[peer][at_[peer]] != matching_receive(step)) continue;
        run(rank, step);
        run(peer, matching_receive(step));
        ++at_[rank];
        ++at_[peer];
        return true;
      }
    }
    return false;
  }

  bool has(std::size_t rank, StepKind kind, int micro, int stage) const {
    return has_[rank].count({static_cast<int>(kind), {micro, stage}}) > 0;
  }

  void run(std::size_t rank, Step step) {
    using enum StepKind;
    const int micro = step.micro_batch;
    const int stage = step.stage;
    const auto ran = [&](StepKind kind, int of_stage) { return has(rank, kind, micro, of_stage); };
    const auto ran_backward = [&](int of_stage) {
      return ran(backward, of_stage) || ran(backward_input, of_stage);
    };
    const bool last = stage + 1 == order_.shape.stages();
    bool ready = true;
    if (step.kind == forward) {
      ready = stage == 0 || ran(forward, stage - 1) || ran(receive_activation, stage);
    } else if (step.kind == backward || step.kind == backward_input) {
      ready =
          ran(forward, stage) && (last || ran_backward(stage + 1) || ran(receive_gradient, stage));
    } else if (step.kind == backward_weight) {
      ready = ran(backward_input, stage);
    } else if (step.kind == send_activation) {
      ready = ran(forward, stage);
    } else if (step.kind == send_gradient) {
      ready = ran_backward(stage);
    }
    broken_ = broken_ || !ready;
    has_[rank].insert({static_cast<int>(step.kind), {micro, stage}});
  }

  const Order& order_;
  Lists lists_;
  std::vector<std::size_t> at_;
  std::vector<std::set<std::pair<int, std::pair<int, int>>>> has_;
  bool broken_ = false;
};

/// Changes one thing of an order that is not empty, at random.
void change(Lists& lists, std::mt19937& random) {
  const auto pick = [&](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>{0, end - 1}(random);
  };
  auto& list = lists[pick(lists.size())];
  if (list.empty()) return;
  const auto at = static_cast<std::ptrdiff_t>(pick(list.size()));
  Step& step = list[static_cast<std::size_t>(at)];
  switch (pick(7)) {
    case 0: list.erase(list.begin() + at); return;
    case 1: list.insert(list.begin() + at, Step{step}); return;
    case 2: std::swap(step, list[pick(list.size())]); return;
    case 3:
      std::swap(step, list[std::min(static_cast<std::size_t>(at) + 1, list.size() - 1)]);
      return;
    case 4: step.micro_batch += pick(2) == 0 ? 1 : -1; return;
    case 5: step.stage += pick(2) == 0 ? 1 : -1; return;
    default: {
      auto& other = lists[pick(lists.size())];
      const Step moved = step;
      list.erase(list.begin() + at);
      other.insert(other.begin() + static_cast<std::ptrdiff_t>(pick(other.size() + 1)), moved);
    }
  }
}

Order small_order(std::mt19937& random) {
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>{low, high}(random);
  };
  PipelineShape shape{.ranks = pick(1, 4), .micro_batches = pick(1, 5)};
  const int schedule = pick(0, 2);
  if (schedule == 2) shape.stages_per_rank = pick(1, 3);
  shape.first_trained_stage = std::max(0, pick(-3, shape.stages()));
  if (schedule == 0) return exec_order(GPipe{}, shape);
  if (schedule == 1) return exec_order(OneFOneB{}, shape);
  return exec_order(Interleaved1F1B{}, shape);
}

}  // namespace

TEST_CASE("the mutated rows of validate.tsv are refused by the right law, rank and position") {
  int sound = 0;
  for (const auto& row : heddle_test::golden_rows("validate")) {
    CAPTURE(row["id"]);
    const Order healthy =
        exec_order(Interleaved1F1B{}, {row.number("P"), row.number("V"), row.number("M")});
    Lists lists = lists_of(healthy);
    mutate(lists, row["what"]);
    const Order order{healthy.shape, healthy.rank_of_stage, lists};
    const auto fault = verify(order);
    const auto expected = expected_faults.find(row["id"]);
    REQUIRE(fault.has_value() == (expected != expected_faults.end()));
    if (row["n_unmatched"] == "0") {
      CHECK(progress_fault(order).has_value() == (row["has_cycle"] == "1"));
    }
    if (!fault) {
      ++sound;
      continue;
    }
    CHECK(fault->kind == expected->second.kind);
    CHECK(fault->rank == expected->second.rank);
    CHECK(fault->position == expected->second.position);
  }
  CHECK(sound == 9);
}

TEST_CASE("verify accepts exactly what a simulation by sets accepts, over thousands of mutations") {
  std::mt19937 random{20261201};
  int accepted = 0;
  int refused = 0;
  for (int round = 0; round < 6000; ++round) {
    const Order healthy = small_order(random);
    Lists lists = lists_of(healthy);
    const int changes = std::uniform_int_distribution<int>{0, 2}(random);
    for (int number = 0; number < changes; ++number) change(lists, random);
    const Order order{healthy.shape, healthy.rank_of_stage, lists};
    CAPTURE(text_of(order));
    const auto fault = verify(order);
    const bool right = Oracle{order}.accepts();
    CHECK(right == !fault);
    if (fault) CHECK(!fault->sentence.empty());
    ++(right ? accepted : refused);
  }
  CHECK(accepted > 1500);
  CHECK(refused > 1500);
}
