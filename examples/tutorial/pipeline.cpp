// Tells the points of two spirals apart: a LibTorch trainer over a pipeline of two ranks.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include <torch/nn.h>
#include <torch/optim.h>

#include <heddle/heddle.hpp>
#include <heddle/torch/stage.hpp>
#include <heddle/torch/threads.hpp>

struct BlockImpl : torch::nn::Module {
  BlockImpl(int inputs, int outputs)
      : linear{register_module("linear", torch::nn::Linear{inputs, outputs})} {}

  torch::Tensor forward(torch::Tensor x) { return linear(torch::tanh(x)); }

  torch::nn::Linear linear;
};
TORCH_MODULE(Block);

torch::Tensor loss_of(torch::Tensor scores, torch::Tensor spirals) {
  return torch::nn::functional::cross_entropy(scores, spirals);
}

struct Batch {
  torch::Tensor points;
  torch::Tensor spirals;
};

Batch make_batch(int step) {
  std::mt19937 random{static_cast<std::uint32_t>(step)};
  auto points = torch::empty({64, 2});
  auto spirals = torch::empty({64}, torch::kLong);
  for (int row = 0; row < 64; ++row) {
    const int spiral = row % 2;
    const double radius = static_cast<double>(random()) / random.max();
    const double angle = 4 * radius + 3.14159 * spiral;
    points[row][0] = radius * std::cos(angle);
    points[row][1] = radius * std::sin(angle);
    spirals[row] = spiral;
  }
  return {points, spirals};
}

// docs: begin train
using Schedule = heddle::Interleaved1F1B;
constexpr heddle::PipelineShape shape{.ranks = 2, .stages_per_rank = 2, .micro_batches = 8};

void train(torch::nn::Sequential model, int steps,
           heddle::InProcessCommunicator<heddle::TorchBundle> communicator) {
  std::vector<torch::Tensor> parameters;
  auto stages = heddle::local_stages<Schedule>(shape, communicator.rank(), [&](int stage) {
    auto block = model->ptr<BlockImpl>(static_cast<std::size_t>(stage));
    for (const auto& parameter : block->parameters()) parameters.push_back(parameter);
    return heddle::TorchStage{block};
  });
  heddle::Executor pipeline{heddle::proved<Schedule, shape>, std::move(stages), communicator,
                            heddle::mean_loss(loss_of)};
  torch::optim::Adam optimizer{parameters, 0.01};

  for (int step = 1; step <= steps; ++step) {
    const auto [points, spirals] = make_batch(step);
    optimizer.zero_grad();
    const auto result = pipeline.run({heddle::split(points)}, {heddle::split(spirals)});
    optimizer.step();
    if (step % 10 == 0 && result.has_loss) std::printf("step %d: loss %.4f\n", step, result.loss);
  }
}
// docs: end

// docs: begin main
int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 300;
  torch::manual_seed(1);
  torch::nn::Sequential model{Block{2, 64}, Block{64, 64}, Block{64, 64}, Block{64, 2}};
  heddle::limit_torch_threads(shape.ranks);
  const heddle::InProcessGroup<heddle::TorchBundle> group{shape.ranks};
  heddle::run_ranks(shape.ranks, [&](int rank) { train(model, steps, group.communicator(rank)); });
}
// docs: end
