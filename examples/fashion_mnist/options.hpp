#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace fashion_mnist {

/// A command line that asks for what cannot be; what() is the sentence, and the exit status is 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What the command line says.
struct Options {
  std::string schedule = "interleaved_1f1b";
  std::optional<int> ranks;  ///< as threads of this process
  int processes = 0;         ///< to start, or 0
  int stages_per_rank = 2;
  int micro_batches = 8;
  int epochs = 2;
  std::optional<int> steps;  ///< instead of epochs
  std::filesystem::path data = "/usr/share/datasets/fashion-mnist";
  std::filesystem::path out = "fashion_mnist_run";
  bool help = false;
  std::vector<std::string> of_each_process;  ///< the arguments that processes to start get
};

/// Images in a micro-batch.
inline constexpr int micro_batch_size = 32;

/// Reads the arguments behind the program's name. Errors: UsageError.
Options parse(std::span<const char* const> arguments);

/// The text of `--help`.
std::string help();

}  // namespace fashion_mnist
