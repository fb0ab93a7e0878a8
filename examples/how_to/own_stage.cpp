// A stage of our own: it multiplies by one weight. Two of them learn to multiply by three.

#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>

#include <heddle/heddle.hpp>

#include "numbers.hpp"

// docs: begin
/// `y = weight * x`. Models `heddle::stage_for<Numbers>`, and can be the last stage.
class Scale {
 public:
  explicit Scale(double weight) : weight_{weight} {}

  void reserve(int slots) { saved_.resize(static_cast<std::size_t>(slots)); }

  Numbers forward(heddle::MicroBatch micro_batch, Numbers x) {
    if (micro_batch.trains()) saved(micro_batch).x = x;
    for (double& value : x.values) value *= weight_;
    return x;
  }

  template <class Loss>
  double forward_loss(heddle::MicroBatch micro_batch, Numbers x, const Numbers& targets, Loss& loss,
                      double scale) {
    auto [value, gradient] = loss(forward(micro_batch, std::move(x)), targets);
    for (double& element : gradient.values) element *= scale;
    if (micro_batch.trains()) saved(micro_batch).loss_gradient = std::move(gradient);
    return value;
  }

  Numbers backward(heddle::MicroBatch micro_batch, Numbers gradient) {
    auto [x, loss_gradient] = std::exchange(saved(micro_batch), {});
    if (gradient.values.empty()) gradient = std::move(loss_gradient);  // the last stage
    for (std::size_t at = 0; at < x.values.size(); ++at) {
      gradient_ += gradient.values[at] * x.values[at];
      gradient.values[at] *= weight_;
    }
    return gradient;
  }

  void descend(double rate) { weight_ -= rate * std::exchange(gradient_, 0); }

 private:
  struct Saved {
    Numbers x;
    Numbers loss_gradient;
  };
  Saved& saved(heddle::MicroBatch of) { return saved_[static_cast<std::size_t>(of.slot)]; }

  double weight_;
  double gradient_ = 0;
  std::vector<Saved> saved_;
};
// docs: end

int main() {
  using Schedule = heddle::OneFOneB;
  constexpr heddle::PipelineShape shape{.ranks = 2, .micro_batches = 4};
  const heddle::InProcessGroup<Numbers> group{shape.ranks};
  double loss = 1;
  heddle::run_ranks(shape.ranks, [&](int rank) {
    auto communicator = group.communicator(rank);
    auto stages = heddle::local_stages<Schedule>(shape, rank, [](int) { return Scale{1}; });
    heddle::Executor step{heddle::proved<Schedule, shape>, std::move(stages), communicator,
                          heddle::sum_loss(squared_error)};
    for (int run = 0; run < 100; ++run) {
      const auto result = step.run({heddle::split(std::vector<double>{1, 2, 3, 4})},
                                   {heddle::split(std::vector<double>{3, 6, 9, 12})});
      step.stages().front().descend(0.002);
      if (result.has_loss) loss = result.loss;
    }
  });
  std::printf("loss: %.9f\n", loss);
  return loss < 1e-6 ? 0 : 1;
}
