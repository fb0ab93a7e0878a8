#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <heddle/core/text.hpp>
#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/gpipe.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/mpipe_transpose.hpp>
#include <heddle/schedule/one_f_one_b.hpp>
#include <heddle/verify/memory.hpp>
#include <heddle/verify/verify.hpp>

using namespace heddle;

namespace {

const std::vector<MPipeOptions> all_options = [] {
  std::vector<MPipeOptions> options;
  for (const auto overflow : {OverflowMode::full, OverflowMode::min}) {
    options.push_back({overflow, {}});
    options.push_back({overflow, {.tower = Tower::frozen}});
    options.push_back({overflow, {.backward = TowerBackward::owner}});
    options.push_back({overflow, {.tower = Tower::none, .data_only = true}});
  }
  return options;
}();

template <schedule Body>
void check_laws(const Body& body, PipelineShape shape) {
  for (const auto& options : all_options) {
    for (const auto data : {DataSteps::none, DataSteps::chain}) {
      const Order order = exec_order(RuntimeMPipeTranspose{options, body}, shape, data);
      const auto fault = verify(order);
      CHECK_MESSAGE(!fault, (fault ? fault->sentence : ""));
    }
  }
}

std::vector<int> features(MPipeOptions options, PipelineShape shape) {
  const Order order = exec_order(RuntimeMPipeTranspose{options, OneFOneB{}}, shape);
  std::vector<int> peaks;
  for (const auto& memory : peak_memory(order)) peaks.push_back(memory.features);
  return peaks;
}

}  // namespace

TEST_CASE("every small order of MPipe over every body obeys all laws, frozen stages or none") {
  PipelineShape shape;
  for (shape.ranks = 1; shape.ranks <= 4; ++shape.ranks) {
    for (shape.micro_batches = 1; shape.micro_batches <= 9; ++shape.micro_batches) {
      for (shape.stages_per_rank = 1; shape.stages_per_rank <= 2; ++shape.stages_per_rank) {
        for (const int first_trained : {0, 1, shape.stages()}) {
          shape.first_trained_stage = first_trained;
          CAPTURE(shape.ranks);
          CAPTURE(shape.stages_per_rank);
          CAPTURE(shape.micro_batches);
          check_laws(Interleaved1F1B{}, shape);
          if (shape.stages_per_rank > 1) continue;
          check_laws(GPipe{}, shape);
          check_laws(OneFOneB{}, shape);
        }
      }
    }
  }
}

TEST_CASE("an order of MPipe that loses or doubles a step of the tower is refused") {
  // Whatever is done to a sound order: verify ends and speaks, and the untouched one is sound.
  std::mt19937 random{20261201};
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto pick = [&](std::size_t end) {
      return std::uniform_int_distribution<std::size_t>{0, end - 1}(random);
    };
    const PipelineShape shape{.ranks = 1 + static_cast<int>(pick(3)),
                              .stages_per_rank = 1 + static_cast<int>(pick(2)),
                              .micro_batches = 1 + static_cast<int>(pick(5))};
    const RuntimeMPipeTranspose<> policy{all_options[pick(all_options.size())]};
    Order order = exec_order(policy, shape, pick(2) == 0 ? DataSteps::none : DataSteps::chain);
    REQUIRE(!verify(order));
    std::vector<std::vector<Step>> lists;
    for (int rank = 0; rank < order.ranks(); ++rank)
      lists.emplace_back(order.rank(rank).begin(), order.rank(rank).end());
    auto& list = lists[pick(lists.size())];
    const auto at = list.begin() + static_cast<std::ptrdiff_t>(pick(list.size()));
    const bool of_tower = is_tower(at->kind);
    if (pick(2) == 0) {
      list.erase(at);
    } else {
      list.insert(at, Step{*at});
    }
    Order changed{shape, order.rank_of_stage, lists};
    changed.owner_of_micro_batch = order.owner_of_micro_batch;
    CAPTURE(text_of(changed));
    const auto fault = verify(changed);
    // A rank alone needs no broadcast, and a single micro-batch without its tower forward is a
    // pipeline without a tower.
    if (of_tower && shape.ranks > 1 && shape.micro_batches > 1) CHECK(fault);
    if (fault) CHECK(!fault->sentence.empty());
    refused += fault ? 1 : 0;
  }
  CHECK(refused > 2000);
}

TEST_CASE("a tower's steps need owners") {
  Order order = read_text("Mf0@-1 F0@0 B0@0").order;
  CHECK(order.owner_of_micro_batch == std::vector<int>{0});
  CHECK(!verify(order));
  order.owner_of_micro_batch = {};
  CHECK(verify(order)->kind == FaultKind::malformed_tables);
  order.owner_of_micro_batch = {1};
  CHECK(verify(order)->kind == FaultKind::malformed_tables);
  order.owner_of_micro_batch = {0, 0};
  CHECK(verify(order)->kind == FaultKind::malformed_tables);
}

TEST_CASE("the owner of a micro-batch in a text is the rank that runs the tower for it") {
  const auto owners = [](const char* text) { return read_text(text).order.owner_of_micro_batch; };
  CHECK(owners("F0@0 Fs0@0 Br0@0 B0@0 / Fr0@1 F0@1 B0@1 Bs0@1") == std::vector<int>{});
  CHECK(owners("Mf2@-1 F0@0 F1@0 F2@0 / Mf1@-1 Mf0@-1 F0@1 F1@1 F2@1") ==
        std::vector<int>{1, 1, 0});
  CHECK(owners("Dr0@-1 F0@0 F1@0 / Dl0@-1 Ds0@-1 F0@1 F1@1") == std::vector<int>{1, 0});
}

TEST_CASE("the peak of held features is what each way of running a tower holds") {
  const PipelineShape shape{.ranks = 4, .micro_batches = 8};
  const MPipeTraits frozen{.tower = Tower::frozen};
  const MPipeTraits by_owner{.backward = TowerBackward::owner};
  CHECK(features({OverflowMode::full, {}}, shape) == std::vector<int>{8, 2, 2, 2});
  CHECK(features({OverflowMode::full, frozen}, shape) == std::vector<int>{8, 2, 2, 2});
  CHECK(features({OverflowMode::min, frozen}, shape) == std::vector<int>{4, 1, 1, 1});
  // Features wait for their gradient: four micro-batches are under way.
  CHECK(features({OverflowMode::min, {}}, shape) == std::vector<int>{4, 1, 1, 1});
  // Gradients go back at the end, so all features of other owners are held until then.
  CHECK(features({OverflowMode::min, by_owner}, shape) == std::vector<int>{7, 1, 1, 1});
  CHECK(features({OverflowMode::full, by_owner}, shape) == std::vector<int>{8, 2, 2, 2});
  CHECK(features({OverflowMode::full, {.tower = Tower::none, .data_only = true}}, shape) ==
        std::vector<int>{0, 0, 0, 0});
}
