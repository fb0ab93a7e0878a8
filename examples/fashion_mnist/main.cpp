// Trains a classifier on Fashion-MNIST through a pipeline whose ranks are threads or processes;
// trainer.hpp is the part to read.

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <heddle/heddle.hpp>
#include <heddle/torch/c10d_environment.hpp>
#include <heddle/torch/threads.hpp>

#include "gloo.hpp"
#include "launcher.hpp"
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

/// This process is one rank of several.
template <heddle::schedule Schedule>
int run_process(const Schedule& schedule, Job job, const heddle::ProcessEnvironment& environment,
                const std::filesystem::path& out) {
  auto communicator = heddle_example::gloo_communicator(environment);
  return run_rank(schedule, communicator, job, out);
}

/// Starts a process a rank on this machine.
int start_processes(const Options& options) {
  const heddle_example::StoreServer server;
  return heddle_example::combined(heddle_example::launch({.processes = options.processes,
                                                          .arguments = options.of_each_process,
                                                          .port = server.port()}));
}

/// Errors: UsageError if the schedule or the model cannot have the shape.
heddle::PipelineShape checked_shape(const Options& options, int ranks) {
  const heddle::PipelineShape shape{.ranks = ranks,
                                    .stages_per_rank = options.stages_per_rank,
                                    .micro_batches = options.micro_batches};
  try {
    heddle::with_schedule(options.schedule, [&](auto schedule) {
      if constexpr (heddle::has_owners<decltype(schedule)>) {
        throw UsageError(options.schedule + " runs a tower, and this model has none");
      } else {
        heddle::exec_order(schedule, shape);
      }
    });
  } catch (const heddle::Error& error) {
    throw UsageError(error.what());
  }
  if (shape.stages() > layers) {
    throw UsageError("the model has " + std::to_string(layers) + " layers, too few for " +
                     std::to_string(shape.stages()) + " stages; take fewer ranks or " +
                     "--stages-per-rank");
  }
  return shape;
}

int run(const Options& options) {
  const auto environment = heddle::process_environment();
  if (environment && (options.ranks || options.processes > 0)) {
    throw UsageError("a launcher has started this process as one of " +
                     std::to_string(environment->size) +
                     " ranks; leave out --ranks and --processes");
  }
  const int threads_or_processes =
      options.processes > 0 ? options.processes : options.ranks.value_or(4);
  const auto shape = checked_shape(options, environment ? environment->size : threads_or_processes);
  if (options.processes > 0) return start_processes(options);

  if (std::getenv("OMP_NUM_THREADS") == nullptr) heddle::limit_torch_threads(shape.ranks);
  return heddle::with_schedule(options.schedule, [&](auto schedule) {
    auto job = make_job(options, shape);
    return environment ? run_process(schedule, std::move(job), *environment, options.out)
                       : run_threads(schedule, std::move(job), options.out);
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
