#pragma once

#include <algorithm>
#include <thread>

#include <ATen/Parallel.h>

namespace heddle {

/// Divides `cores` (0: those of this machine that the process may use) among the ranks that are
/// threads of this process, and returns how many threads LibTorch now uses for one operation.
///
/// Each rank's thread works at the same time, and LibTorch would take all cores for each of them:
/// without this call P ranks run P times as many threads as there are cores. One process a rank is
/// the same with the ranks on this machine as the number, where nothing else (`OMP_NUM_THREADS`,
/// which `torchrun` sets to 1) has settled it.
///
/// Requires: called before ranks start; LibTorch takes over its number once in each thread.
inline int limit_torch_threads(int ranks_in_this_process, int cores = 0) {
  if (cores < 1) cores = static_cast<int>(std::thread::hardware_concurrency());
  const int threads = std::max(1, cores / std::max(1, ranks_in_this_process));
  at::set_num_threads(threads);
  return threads;
}

}  // namespace heddle
