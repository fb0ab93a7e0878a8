#pragma once

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <heddle/core/error.hpp>

namespace heddle {

/// What a launcher tells each process that it starts: who it is, and where all meet.
struct ProcessEnvironment {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  ///< counted on this machine
  std::string master_address = "127.0.0.1";
  int master_port = 29500;
  bool launcher_serves = false;  ///< the launcher itself serves the store at that address
  std::string attempt = "0";     ///< counted by launchers that restart their processes
};

namespace detail {

inline std::optional<std::string> environment_text(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return text;
}

inline std::optional<int> environment_number(const char* name) {
  const auto text = environment_text(name);
  if (!text) return std::nullopt;
  int number = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc{} || stop != end || number < 0) {
    throw Error(std::string{"the environment variable "} + name + " is '" + *text +
                "', but must be a whole number of at least 0");
  }
  return number;
}

/// The variables of one launcher. `one_machine` counts the processes on this machine, or the
/// machines: with all of the former, or one of the latter, no address is needed.
struct LauncherNames {
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* one_machine;
  bool one_machine_is_size;
};

inline constexpr LauncherNames launchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", true},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", true},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_JOB_NUM_NODES", false},
};

inline std::string master_address(const LauncherNames& names, int size) {
  if (auto address = environment_text("MASTER_ADDR")) return *std::move(address);
  const auto on_machine = environment_number(names.one_machine);
  if (size > 1 && (!on_machine || *on_machine != (names.one_machine_is_size ? size : 1))) {
    throw Error(std::string{names.size} + " is " + std::to_string(size) +
                ", but MASTER_ADDR is not set and the processes may be on several machines; set "
                "it to the address of the machine of rank 0");
  }
  return "127.0.0.1";
}

inline ProcessEnvironment read_environment(const LauncherNames& names, int rank) {
  ProcessEnvironment environment;
  environment.rank = rank;
  const auto size = environment_number(names.size);
  if (!size) {
    throw Error(std::string{names.rank} + " is set, but " + names.size +
                " is not; set both, or neither to run as one process");
  }
  if (rank >= *size) {
    throw Error(std::string{names.rank} + " is " + std::to_string(rank) + ", but must be below " +
                names.size + ", which is " + std::to_string(*size));
  }
  environment.size = *size;
  environment.local_rank = environment_number(names.local_rank).value_or(rank);
  environment.master_address = master_address(names, *size);
  if (const auto port = environment_number("MASTER_PORT")) {
    environment.master_port = *port;
  } else if (const auto job = environment_number("SLURM_JOB_ID")) {
    environment.master_port += *job % 1000;  // jobs that share a machine do not meet
  }
  environment.launcher_serves = environment_text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  environment.attempt = environment_text("TORCHELASTIC_RESTART_COUNT").value_or("0");
  return environment;
}

}  // namespace detail

/// What the launcher of this process has put into its environment; nothing if none did.
///
/// Understands `torchrun` (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT), Open MPI
/// (OMPI_COMM_WORLD_...) and Slurm (SLURM_PROCID, SLURM_NTASKS), in this order. The last two say
/// nothing about a meeting place: MASTER_ADDR and MASTER_PORT count there too, and may be left out
/// where all processes are on one machine.
///
/// Errors: a number that is none, a rank without a size, a rank beyond it, or several machines
/// without MASTER_ADDR.
inline std::optional<ProcessEnvironment> process_environment() {
  for (const auto& names : detail::launchers) {
    if (const auto rank = detail::environment_number(names.rank)) {
      return detail::read_environment(names, *rank);
    }
  }
  return std::nullopt;
}

}  // namespace heddle
