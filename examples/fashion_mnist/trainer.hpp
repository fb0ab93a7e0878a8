#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <torch/optim/adam.h>
#include <torch/optim/schedulers/step_lr.h>

#include <heddle/heddle.hpp>
#include <heddle/torch/stage.hpp>

#include "conversation.hpp"
#include "data.hpp"
#include "model.hpp"
#include "report.hpp"
#include "unsplit.hpp"

namespace fashion_mnist {

/// What all ranks have in common; each trains its own stages of the model.
struct Job {
  heddle::PipelineShape shape;
  Dataset data;
  Batches batches;
  torch::nn::Sequential model;
  UnsplitStep unsplit;
};

/// What one rank has to say at the end.
struct Outcome {
  double accuracy = 0;  ///< of the test images
  bool is_equal_to_unsplit = false;
  std::vector<heddle::TimelineSpan> last_step;
};

/// How many of `examples` the model tells right, as a fraction; every rank calls it.
template <class Executor>
double accuracy_of(Executor& step, const Conversation& ranks, const Examples& examples) {
  const auto micro_batches = static_cast<int>(std::gcd(examples.count(), std::int64_t{40}));
  const auto labels = examples.labels.chunk(micro_batches);
  const auto scores = step.evaluate({heddle::split(as_floats(examples.images))}, micro_batches);
  double right = 0;  // the scores are on the rank of the last stage
  for (std::size_t index = 0; index < scores.size(); ++index) {
    right += static_cast<double>(count_right(scores[index][0], labels[index]));
  }
  return ranks.sum(right) / static_cast<double>(examples.count());
}

/// Trains on one rank of a pipeline; every rank calls it.
template <heddle::schedule Schedule, heddle::communicator Communicator>
Outcome train(const Schedule& schedule, Communicator& communicator, Job& job) {
  const Conversation ranks{communicator};
  Progress progress{ranks, job.batches.steps()};
  Outcome outcome;

  const auto parts = cut(job.model, job.shape.stages());
  std::vector<at::Tensor> parameters;
  auto stages = heddle::local_stages(schedule, job.shape, communicator.rank(), [&](int stage) {
    const auto& part = parts[static_cast<std::size_t>(stage)];
    for (const auto& parameter : part->parameters()) parameters.push_back(parameter);
    return heddle::TorchStage{part};
  });
  heddle::Executor step{schedule,
                        job.shape,
                        std::move(stages),
                        communicator,
                        heddle::mean_loss(cross_entropy),
                        heddle::ExecutorOptions{},
                        heddle::TimelineObserver{ranks.common_moment()}};
  torch::optim::Adam optimizer{parameters, 0.002};
  const auto steps = static_cast<unsigned>(job.batches.steps());
  torch::optim::StepLR learning_rate{optimizer, std::max(1U, steps / 4), 0.4};

  for (int number = 0; number < job.batches.steps(); ++number) {
    const auto [images, labels] = job.batches[number];
    step.observer().clear();  // it keeps the last step, which is drawn
    optimizer.zero_grad();
    const auto result = step.run({heddle::split(images)}, {heddle::split(labels)});
    if (number == 0) {
      outcome.is_equal_to_unsplit = job.unsplit.is_equal(ranks, result.loss, parameters);
    }
    optimizer.step();
    learning_rate.step();
    progress.show(number, labels.size(0), result.loss);
  }
  outcome.last_step = step.observer().spans();

  outcome.accuracy = accuracy_of(step, ranks, job.data.test);
  return outcome;
}

}  // namespace fashion_mnist
