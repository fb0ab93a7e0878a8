#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace heddle_example {

/// How `launch` runs a program several times.
struct LaunchOptions {
  int processes = 1;
  std::vector<std::string> arguments;  ///< of each process, without the program's name
  int port = 0;                        ///< where the launcher serves the store
  std::chrono::seconds deadline = std::chrono::minutes{60};
  /// How long the others may take to end by themselves once one has failed.
  std::chrono::seconds grace{15};
  bool show_all = false;  ///< the output of every rank, not just that of rank 0
};

/// How each process ended, by rank: its exit status, 128 + the signal that ended it, or
/// `ended_by_launcher`.
using ExitStatuses = std::vector<int>;

inline constexpr int ended_by_launcher = -1;

/// Runs this very program `processes` times on this machine, as one rank each, with the environment
/// that `torchrun` would set, and returns once all have ended. When one fails, the others get
/// `grace` to find out and end, then they are killed; past the deadline all are.
ExitStatuses launch(const LaunchOptions& options);

/// Takes `--processes N` out of the arguments of a main and returns N, or 0 if it is not there.
int take_processes(std::vector<std::string>& arguments);

/// A status for the launcher itself to exit with: 0 if all are, else that of the lowest failed
/// rank.
int combined(const ExitStatuses& statuses);

}  // namespace heddle_example
