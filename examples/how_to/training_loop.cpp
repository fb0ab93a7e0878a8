// What a training loop asks of an executor beyond one batch after the other.

#include <cmath>
#include <cstdio>
#include <utility>

#include <heddle/heddle.hpp>

#include "layer.hpp"

namespace {

using Bundle = matrix::MatrixBundle;
using Communicator = heddle::InProcessCommunicator<Bundle>;
constexpr heddle::PipelineShape shape{.ranks = 2, .micro_batches = 2};
constexpr auto order = heddle::proved<heddle::OneFOneB, shape>;
const matrix::Matrix inputs = matrix::random_matrix(7, 3, 1);
const matrix::Matrix targets = matrix::random_matrix(7, 3, 2);

auto make_stages(int rank) {
  return heddle::local_stages<heddle::OneFOneB>(shape, rank, [](int stage) {
    return matrix::Layer{matrix::random_matrix(3, 3, static_cast<unsigned>(stage))};
  });
}

// docs: begin unequal
double rows_of(const Bundle& micro_batch) { return static_cast<double>(micro_batch[0].rows()); }

double train(Communicator communicator) {
  heddle::Executor step{order, make_stages(communicator.rank()), communicator,
                        heddle::weighted_loss(matrix::squared_error, rows_of)};
  // Two batches, then one step of the optimizer: gradients add up from run to run.
  const heddle::RunOptions both{.total_count = 7 + 7};
  double loss = 0;
  for (int batch = 0; batch < 2; ++batch) {
    loss += step.run({heddle::split(inputs, 0, {4, 3})}, {heddle::split(targets, 0, {4, 3})}, both)
                .loss;
  }
  for (matrix::Layer& layer : step.stages()) layer.descend(0);
  // Forwards only, over any number of micro-batches; outputs on the last stage's rank.
  const auto outputs = step.evaluate({heddle::split(inputs)}, 7);
  return outputs.empty() ? 0 : loss;
}
// docs: end

// docs: begin loader
double train_from_loader(Communicator communicator) {
  heddle::Executor step{heddle::OneFOneB{},
                        shape,
                        make_stages(communicator.rank()),
                        communicator,
                        heddle::weighted_loss(matrix::squared_error, rows_of),
                        heddle::ExecutorOptions{.data_steps = heddle::DataSteps::chain}};
  const auto load = [](int micro_batch) {  // called on the rank of the first stage
    const int begin = micro_batch == 0 ? 0 : 4;
    const int length = micro_batch == 0 ? 4 : 3;
    return heddle::LoadedMicroBatch<Bundle>{Bundle{{matrix::narrow(inputs, 0, begin, length)}},
                                            Bundle{{matrix::narrow(targets, 0, begin, length)}}};
  };
  return step.run_loaded(load, {.total_count = 7}).loss;
}
// docs: end

}  // namespace

int main() {
  double losses[2] = {0, 0};
  const heddle::InProcessGroup<Bundle> group{shape.ranks};
  const heddle::InProcessGroup<Bundle> other{shape.ranks};
  heddle::run_ranks(shape.ranks, [&](int rank) {
    const double loss = train(group.communicator(rank));
    const double loaded = train_from_loader(other.communicator(rank));
    if (rank + 1 == shape.ranks) losses[0] = loss, losses[1] = loaded;
  });
  std::printf("loss: %.6f\n", losses[0]);
  return losses[0] > 0 && std::abs(losses[0] - losses[1]) < 1e-12 ? 0 : 1;
}
