#pragma once

#include <stdio.h>  // popen is POSIX, not standard
#include <sys/wait.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace heddle_test {

/// What a program printed, on both streams together, and its exit status.
struct Outcome {
  int status = -1;
  std::string text;
};

/// Runs a command line of the shell.
inline Outcome run_program(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  Outcome outcome;
  std::array<char, 4096> block{};
  while (const std::size_t count = fread(block.data(), 1, block.size(), pipe)) {
    outcome.text.append(block.data(), count);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  return outcome;
}

}  // namespace heddle_test
