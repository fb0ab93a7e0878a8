// Trains a classifier on Fashion-MNIST through a pipeline, over threads or over processes.

#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>

#include <heddle/heddle.hpp>

#include "options.hpp"
#include "trainer.hpp"

namespace fashion_mnist {
namespace {

/// Trains on one rank, reports, and returns the exit status.
template <heddle::schedule Schedule, heddle::communicator Communicator>
int run_rank(const Schedule& schedule, Communicator& communicator, Job& job,
             const std::filesystem::path& out) {
  const auto outcome = train(schedule, communicator, job);
  const Conversation ranks{communicator};
  const auto title = std::string{Schedule::name} + ", " + std::to_string(job.shape.ranks) +
                     " ranks x " + std::to_string(job.shape.stages_per_rank) + " stages, " +
                     std::to_string(job.shape.micro_batches) + " micro-batches";
  const auto pictures =
      draw(ranks, title, heddle::exec_order(schedule, job.shape), outcome.last_step, out);
  conclude(ranks, outcome.accuracy, outcome.is_equal_to_unsplit, pictures);
  return outcome.is_equal_to_unsplit ? 0 : 1;
}

Job make_job(const Options& options, heddle::PipelineShape shape) {
  auto data = read_dataset(options.data);
  const int batch_size = micro_batch_size * shape.micro_batches;
  Batches batches{
      data.train, batch_size,
      options.steps.value_or(options.epochs * static_cast<int>(data.train.count() / batch_size))};
  auto model = make_model(2026);
  UnsplitStep unsplit{model, batches[0], shape.micro_batches};
  return {shape, std::move(data), std::move(batches), std::move(model), std::move(unsplit)};
}

/// Ranks are threads of this process.
template <heddle::schedule Schedule>
int run_threads(const Schedule& schedule, Job job, const std::filesystem::path& out) {
  const heddle::InProcessGroup<heddle::TorchBundle> group{job.shape.ranks};
  std::vector<int> statuses(static_cast<std::size_t>(job.shape.ranks));
  heddle::run_ranks(job.shape.ranks, [&](int rank) {
    auto communicator = group.communicator(rank);
    statuses[static_cast<std::size_t>(rank)] = run_rank(schedule, communicator, job, out);
  });
  return statuses.front();
}

heddle::PipelineShape shape_of(const Options& options) {
  const heddle::PipelineShape shape{.ranks = options.ranks.value_or(4),
                                    .stages_per_rank = options.stages_per_rank,
                                    .micro_batches = options.micro_batches};
  if (shape.stages() > layers) {
    throw UsageError("the model has " + std::to_string(layers) + " layers, not enough for " +
                     std::to_string(shape.stages()) + " stages; give fewer ranks or stages a rank");
  }
  return shape;
}

int run(const Options& options) {
  const auto shape = shape_of(options);
  at::set_num_threads(1);
  return heddle::with_schedule(options.schedule, [&](auto schedule) {
    return run_threads(schedule, make_job(options, shape), options.out);
  });
}

}  // namespace
}  // namespace fashion_mnist

int main(int argc, char** argv) {
  const auto fail = [](const char* what, int status) {
    std::fprintf(stderr, "fashion_mnist: %s\n", what);
    return status;
  };
  try {
    const std::span<const char* const> arguments{argv, static_cast<std::size_t>(argc)};
    const auto options = fashion_mnist::parse(arguments.subspan(argc > 0 ? 1 : 0));
    if (options.help) return std::fputs(fashion_mnist::help().c_str(), stdout) < 0 ? 1 : 0;
    return fashion_mnist::run(options);
  } catch (const fashion_mnist::UsageError& error) {
    return fail(error.what(), 2);
  } catch (const std::exception& error) {
    return fail(error.what(), 1);
  }
}
