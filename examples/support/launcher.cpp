#include "launcher.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace heddle_example {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// The environment of this process, with what makes of the new one a rank.
std::vector<std::string> environment_of(int rank, const LaunchOptions& options) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const auto threads = std::max(1U, cores / static_cast<unsigned>(options.processes));
  std::vector<std::string> ours{
      "RANK=" + std::to_string(rank),
      "LOCAL_RANK=" + std::to_string(rank),
      "WORLD_SIZE=" + std::to_string(options.processes),
      "LOCAL_WORLD_SIZE=" + std::to_string(options.processes),
      "MASTER_ADDR=127.0.0.1",
      "MASTER_PORT=" + std::to_string(options.port),
      "TORCHELASTIC_USE_AGENT_STORE=True",
  };
  if (std::getenv("OMP_NUM_THREADS") == nullptr) {
    ours.push_back("OMP_NUM_THREADS=" + std::to_string(threads));
  }
  std::vector<std::string> result = ours;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text{*entry};
    const auto name = text.substr(0, text.find('=') + 1);
    const bool replaced = std::any_of(ours.begin(), ours.end(),
                                      [&](const auto& own) { return own.starts_with(name); });
    if (!replaced) result.emplace_back(text);
  }
  return result;
}

pid_t start(int rank, const LaunchOptions& options) {
  std::vector<std::string> arguments{program_invocation_name};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  std::vector<std::string> environment = environment_of(rank, options);
  const auto argument_pointers = pointers(arguments);
  const auto environment_pointers = pointers(environment);
  const bool silent = rank != 0 && !options.show_all;
  const pid_t parent = getpid();

  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(std::string{"cannot fork: "} + std::strerror(errno));
  if (child > 0) return child;
  // Between fork and exec only what is safe in a process with threads.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  if (silent) {
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
  }
  execve("/proc/self/exe", argument_pointers.data(), environment_pointers.data());
  _exit(127);
}

int status_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

}  // namespace

ExitStatuses launch(const LaunchOptions& options) {
  std::vector<pid_t> running;  // 0 once it has ended
  for (int rank = 0; rank < options.processes; ++rank) running.push_back(start(rank, options));

  ExitStatuses statuses(running.size(), ended_by_launcher);
  auto left = options.processes;
  auto until = Clock::now() + options.deadline;
  while (left > 0 && Clock::now() < until) {
    for (std::size_t rank = 0; rank < running.size(); ++rank) {
      int wait_status = 0;
      if (running[rank] == 0 || waitpid(running[rank], &wait_status, WNOHANG) == 0) continue;
      running[rank] = 0;
      statuses[rank] = status_of(wait_status);
      --left;
      if (statuses[rank] != 0) until = std::min(until, Clock::now() + options.grace);
    }
    if (left > 0) std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  for (const pid_t child : running) {
    if (child == 0) continue;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  return statuses;
}

int take_processes(std::vector<std::string>& arguments) {
  const auto flag = std::find(arguments.begin(), arguments.end(), "--processes");
  if (flag == arguments.end()) return 0;
  const auto value = flag + 1;
  int processes = 0;
  if (value != arguments.end()) {
    const char* end = value->data() + value->size();
    const auto [stop, error] = std::from_chars(value->data(), end, processes);
    if (error != std::errc{} || stop != end) processes = 0;
  }
  if (processes < 1) {
    throw std::runtime_error("--processes must be followed by a whole number of at least 1");
  }
  arguments.erase(flag, value + 1);
  return processes;
}

int combined(const ExitStatuses& statuses) {
  const auto failed = std::find_if(statuses.begin(), statuses.end(), [](int s) { return s != 0; });
  if (failed == statuses.end()) return 0;
  return *failed > 0 ? *failed : 1;
}

}  // namespace heddle_example
