// Training throughput over Gloo processes on this machine: a stage is L times (Linear, ReLU). The
// peer of pytorch_gloo_mlp.py; parameters and batch follow one formula on both sides, so that the
// gradients can be compared.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/version.h>

#include <heddle/heddle.hpp>
#include <heddle/torch/stage.hpp>

#include "gloo.hpp"
#include "launcher.hpp"

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  int processes = 4;
  int stages_per_rank = 1;
  int micro_batches = 16;
  int rows = 4;
  int width = 64;
  int layers = 2;
  int steps = 20;
  std::string gradients;  ///< the folder that each rank's gradients go to, if any
};

int number(const std::string& flag, const std::string& text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < 1) {
    throw std::runtime_error(flag + " is '" + text + "', but must be a whole number of at least 1");
  }
  return value;
}

Options parse(const std::vector<std::string>& arguments) {
  Options options;
  const std::pair<const char*, int*> numbers[] = {
      {"--processes", &options.processes},
      {"--stages-per-rank", &options.stages_per_rank},
      {"--micro-batches", &options.micro_batches},
      {"--rows", &options.rows},
      {"--width", &options.width},
      {"--layers", &options.layers},
      {"--steps", &options.steps},
  };
  for (std::size_t index = 0; index < arguments.size(); index += 2) {
    const std::string& flag = arguments[index];
    if (index + 1 == arguments.size()) throw std::runtime_error(flag + " needs a value");
    const std::string& value = arguments[index + 1];
    const auto* const known = std::find_if(std::begin(numbers), std::end(numbers),
                                           [&](const auto& entry) { return entry.first == flag; });
    if (known != std::end(numbers)) {
      *known->second = number(flag, value);
    } else if (flag == "--gradients") {
      options.gradients = value;
    } else {
      throw std::runtime_error("unknown option " + flag);
    }
  }
  return options;
}

/// `scale` times numbers in [-1, 1) that look random and are the same everywhere: exact in float.
at::Tensor formula(at::IntArrayRef sizes, std::int64_t seed, double scale) {
  const at::Tensor index = at::arange(c10::multiply_integers(sizes), at::kLong);
  const at::Tensor mixed = (index * 7919 + seed * 104729) * 31337 % 65536;
  return ((mixed.to(at::kDouble) / 32768 - 1) * scale).to(at::kFloat).reshape(sizes);
}

/// L times (Linear, ReLU).
class Block {
 public:
  Block(const Options& options, int stage) {
    const std::int64_t width = options.width;
    for (int layer = 0; layer < options.layers; ++layer) {
      const std::int64_t seed = 2 * (std::int64_t{stage} * options.layers + layer);
      // Keeps the size of activations about the same from layer to layer.
      const double scale = std::sqrt(6.0 / static_cast<double>(width));
      parameters_.push_back(formula({width, width}, seed, scale).set_requires_grad(true));
      parameters_.push_back(formula({width}, seed + 1, 0.1).set_requires_grad(true));
    }
  }

  at::Tensor operator()(at::Tensor value) const {
    for (std::size_t index = 0; index < parameters_.size(); index += 2) {
      value = at::linear(value, parameters_[index], parameters_[index + 1]).relu();
    }
    return value;
  }

  const std::vector<at::Tensor>& parameters() const { return parameters_; }

 private:
  std::vector<at::Tensor> parameters_;
};

at::Tensor loss_of(const at::Tensor& outputs, const at::Tensor& targets) {
  return at::mse_loss(outputs, targets);
}

/// Raw floats, stage by stage, weight before bias: what compare_gradients.py reads.
void write_gradients(const std::string& folder, int rank, const std::vector<at::Tensor>& tensors) {
  const std::string path = folder + "/rank" + std::to_string(rank) + ".bin";
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) throw std::runtime_error("cannot write " + path);
  for (const auto& tensor : tensors) {
    const at::Tensor gradient = tensor.grad().contiguous();
    std::fwrite(gradient.data_ptr<float>(), sizeof(float),
                static_cast<std::size_t>(gradient.numel()), file);
  }
  if (std::fclose(file) != 0) throw std::runtime_error("cannot write " + path);
}

template <class Schedule>
void measure(Schedule schedule, const Options& options, heddle::C10dCommunicator& communicator) {
  const heddle::PipelineShape shape{.ranks = communicator.size(),
                                    .stages_per_rank = options.stages_per_rank,
                                    .micro_batches = options.micro_batches};
  std::vector<at::Tensor> parameters;
  auto stages = heddle::local_stages(schedule, shape, communicator.rank(), [&](int stage) {
    const Block block{options, stage};
    parameters.insert(parameters.end(), block.parameters().begin(), block.parameters().end());
    return heddle::TorchStage{block};
  });
  heddle::Executor pipeline{schedule, shape, std::move(stages), communicator,
                            heddle::mean_loss(loss_of)};

  const std::int64_t rows = std::int64_t{options.rows} * options.micro_batches;
  const at::Tensor inputs = formula({rows, options.width}, -1, 1);
  const at::Tensor targets = formula({rows, options.width}, -2, 1);
  const auto step = [&] {
    for (auto& parameter : parameters) parameter.mutable_grad().reset();
    return pipeline.run({heddle::split(inputs)}, {heddle::split(targets)});
  };

  for (int warm_up = 0; warm_up < 3; ++warm_up) step();
  if (!options.gradients.empty()) {
    write_gradients(options.gradients, communicator.rank(), parameters);
  }
  // A run ends on all ranks together, so rank 0's clock tells the time of all.
  std::vector<double> times;
  for (int index = 0; index < options.steps; ++index) {
    const auto begin = Clock::now();
    step();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  if (communicator.rank() == 0) {
    std::printf("heddle LibTorch %s: least %.2f ms, median %.2f ms a step\n", TORCH_VERSION,
                times.front(), times[times.size() / 2]);
  }
}

int run(const std::vector<std::string>& arguments) {
  const auto options = parse(arguments);
  const auto environment = heddle::process_environment();
  if (!environment) {
    const heddle_example::StoreServer server;
    return heddle_example::combined(heddle_example::launch(
        {.processes = options.processes, .arguments = arguments, .port = server.port()}));
  }
  at::set_num_threads(1);
  auto communicator = heddle_example::gloo_communicator(*environment);
  if (options.stages_per_rank == 1) {
    measure(heddle::OneFOneB{}, options, communicator);
  } else {
    measure(heddle::Interleaved1F1B{}, options, communicator);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heddle_benchmark_gloo_mlp: %s\n", error.what());
    return 1;
  }
}
