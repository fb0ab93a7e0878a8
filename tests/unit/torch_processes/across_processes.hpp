#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include <heddle/torch/c10d_communicator.hpp>
#include <heddle/torch/c10d_environment.hpp>

namespace heddle_test {

struct AcrossOptions {
  std::vector<int> statuses{};  ///< how each rank is to end, where not all are to end with 0
  std::chrono::seconds deadline{60};
};

/// Called by a TEST_CASE: runs that case again in `processes` processes, in each of which this runs
/// `body`. What a rank checks is shown by that rank and fails the case.
void across_processes(int processes,
                      const std::function<void(const heddle::ProcessEnvironment&)>& body,
                      const AcrossOptions& options = {});

inline heddle::Deadline in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

inline heddle::Deadline soon() { return in(std::chrono::seconds{20}); }

}  // namespace heddle_test
