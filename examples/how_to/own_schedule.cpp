// A schedule of our own: proved by the compiler, compared with a built-in one, and run.

#include <array>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include <heddle/heddle.hpp>

#include "layer.hpp"

// docs: begin
/// All forwards, stage after stage, then all backwards, stage after stage from the last.
///
/// Peak live activations: stages_per_rank * micro_batches on every rank.
struct StageByStage {
  static constexpr std::string_view name = "stage_by_stage";

  static constexpr std::vector<heddle::Step> columns(heddle::PipelineShape shape, int rank) {
    const auto stages = heddle::stages_of_rank(heddle::Placement::loop, shape, rank);
    std::vector<heddle::Step> steps;
    for (auto stage = stages.begin(); stage != stages.end(); ++stage) {
      for (int index = 0; index < shape.micro_batches; ++index) {
        steps.push_back(heddle::forward(index, *stage));
      }
    }
    for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
      for (int index = 0; index < shape.micro_batches; ++index) {
        steps.push_back(heddle::backward(index, *stage));
      }
    }
    return steps;
  }
};

constexpr heddle::PipelineShape shape{.ranks = 4, .stages_per_rank = 2, .micro_batches = 8};
static_assert(heddle::valid<StageByStage, shape>);
static_assert(heddle::peak_live<StageByStage>(shape, 0) == 2 * 8);
// docs: end

/// The loss of one step under this schedule.
template <heddle::schedule Schedule>
double loss_of_a_step() {
  const auto batch = matrix::random_matrix(16, 3, 1);
  const heddle::InProcessGroup<matrix::MatrixBundle> group{shape.ranks};
  double loss = 0;
  heddle::run_ranks(shape.ranks, [&](int rank) {
    auto communicator = group.communicator(rank);
    auto stages = heddle::local_stages<Schedule>(shape, rank, [](int stage) {
      return matrix::Layer{matrix::random_matrix(3, 3, static_cast<unsigned>(stage))};
    });
    heddle::Executor step{heddle::proved<Schedule, shape>, std::move(stages), communicator,
                          heddle::mean_loss(matrix::squared_error)};
    const auto result = step.run({heddle::split(batch)}, {heddle::split(batch)});
    if (result.has_loss) loss = result.loss;
  });
  return loss;
}

template <heddle::schedule Schedule>
heddle::Candidate candidate() {
  return {std::string{Schedule::name}, heddle::make_plan(heddle::exec_order<Schedule, shape>())};
}

int main() {
  const std::array candidates{candidate<StageByStage>(), candidate<heddle::Interleaved1F1B>()};
  std::fputs(heddle::comparison_table(candidates).c_str(), stdout);
  return loss_of_a_step<StageByStage>() == loss_of_a_step<heddle::Interleaved1F1B>() ? 0 : 1;
}
