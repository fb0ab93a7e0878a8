// Runs an order that was written elsewhere: read, checked, given its transfers, and executed.

#include <cstdio>
#include <string_view>
#include <utility>

#include <heddle/heddle.hpp>

#include "layer.hpp"

// A row a rank: 1F1B over two ranks, as PyTorch's pipelining would write it.
constexpr std::string_view table =
    "0F0,0F1,,0B0,0F2,0B1,,0B2\n"
    ",1F0,1B0,1F1,1B1,1F2,1B2\n";

// docs: begin
/// The order in `text`, with its transfers.
heddle::Order read_order(std::string_view text) {
  const auto imported = heddle::read_csv(text);
  heddle::Order order = heddle::lower(imported.order);
  if (const auto fault = heddle::verify(order)) throw heddle::ScheduleError(*fault);
  return order;
}

double loss_of_a_step(const heddle::Order& order) {
  const auto batch = matrix::random_matrix(6, 3, 1);
  const heddle::InProcessGroup<matrix::MatrixBundle> group{order.ranks()};
  double loss = 0;
  heddle::run_ranks(order.ranks(), [&](int rank) {
    auto communicator = group.communicator(rank);
    heddle::LocalStages<matrix::Layer> stages;
    for (int stage = 0; stage < order.shape.stages(); ++stage) {
      if (order.view().rank_of(stage) != rank) continue;
      stages.add(stage, matrix::Layer{matrix::random_matrix(3, 3, static_cast<unsigned>(stage))});
    }
    heddle::Executor step{order, std::move(stages), communicator,
                          heddle::mean_loss(matrix::squared_error)};
    const auto result = step.run({heddle::split(batch)}, {heddle::split(batch)});
    if (result.has_loss) loss = result.loss;
  });
  return loss;
}
// docs: end

int main() {
  const double own = loss_of_a_step(read_order(table));
  const double built_in =
      loss_of_a_step(heddle::exec_order(heddle::OneFOneB{}, {.ranks = 2, .micro_batches = 3}));
  std::printf("loss: %.6f\n", own);
  return own == built_in ? 0 : 1;
}
