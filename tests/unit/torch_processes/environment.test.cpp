#include <heddle/torch/c10d_environment.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "launcher.hpp"

namespace {

/// The environment of this process with these variables and without those of any launcher.
class Variables {
 public:
  explicit Variables(const std::map<std::string, std::string>& variables) {
    for (const auto* name :
         {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
          "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
          "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID",
          "SLURM_JOB_NUM_NODES", "SLURM_JOB_ID", "TORCHELASTIC_USE_AGENT_STORE",
          "TORCHELASTIC_RESTART_COUNT"}) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      unsetenv(name);
    }
    for (const auto& [name, value] : variables) {
      setenv(name.c_str(), value.c_str(), 1);
      names_.push_back(name);
    }
  }
  ~Variables() {
    for (const auto& name : names_) unsetenv(name.c_str());
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  std::map<std::string, std::string> before_;
  std::vector<std::string> names_;
};

std::string error_with(const std::map<std::string, std::string>& variables) {
  const Variables set{variables};
  try {
    heddle::process_environment();
  } catch (const heddle::Error& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a process that no launcher has started has no process environment") {
  const Variables none{{}};
  CHECK_FALSE(heddle::process_environment().has_value());
}

TEST_CASE("the environment of torchrun is read") {
  const Variables set{{{"RANK", "5"},
                       {"WORLD_SIZE", "8"},
                       {"LOCAL_RANK", "1"},
                       {"MASTER_ADDR", "node7"},
                       {"MASTER_PORT", "1234"},
                       {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                       {"TORCHELASTIC_RESTART_COUNT", "2"}}};
  const auto environment = heddle::process_environment();
  REQUIRE(environment.has_value());
  CHECK(environment->rank == 5);
  CHECK(environment->size == 8);
  CHECK(environment->local_rank == 1);
  CHECK(environment->master_address == "node7");
  CHECK(environment->master_port == 1234);
  CHECK(environment->launcher_serves);
  CHECK(environment->attempt == "2");
}

TEST_CASE("the environment of Open MPI on one machine needs no address") {
  const Variables set{{{"OMPI_COMM_WORLD_RANK", "2"},
                       {"OMPI_COMM_WORLD_SIZE", "4"},
                       {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                       {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}};
  const auto environment = heddle::process_environment();
  REQUIRE(environment.has_value());
  CHECK(environment->rank == 2);
  CHECK(environment->size == 4);
  CHECK(environment->master_address == "127.0.0.1");
  CHECK(environment->master_port == 29500);
  CHECK_FALSE(environment->launcher_serves);
}

TEST_CASE("jobs of Slurm on one machine meet at ports of their own") {
  const Variables set{{{"SLURM_PROCID", "1"},
                       {"SLURM_NTASKS", "2"},
                       {"SLURM_LOCALID", "1"},
                       {"SLURM_JOB_NUM_NODES", "1"},
                       {"SLURM_JOB_ID", "70042"}}};
  const auto environment = heddle::process_environment();
  REQUIRE(environment.has_value());
  CHECK(environment->rank == 1);
  CHECK(environment->master_port == 29542);
}

TEST_CASE("several machines without an address are refused with the variable to set") {
  CHECK(contains(
      error_with({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}, {"SLURM_JOB_NUM_NODES", "2"}}),
      "MASTER_ADDR"));
  CHECK(contains(error_with({{"OMPI_COMM_WORLD_RANK", "1"},
                             {"OMPI_COMM_WORLD_SIZE", "4"},
                             {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}),
                 "MASTER_ADDR"));
}

TEST_CASE("variables that contradict each other are refused by name and value") {
  CHECK(contains(error_with({{"RANK", "1"}}), "WORLD_SIZE is not"));
  CHECK(contains(error_with({{"RANK", "4"}, {"WORLD_SIZE", "4"}}), "must be below WORLD_SIZE"));
  CHECK(contains(error_with({{"RANK", "one"}, {"WORLD_SIZE", "4"}}), "'one'"));
  CHECK(contains(error_with({{"RANK", "-1"}, {"WORLD_SIZE", "4"}}), "'-1'"));
}

TEST_CASE("the number of processes is taken out of the arguments of a main") {
  std::vector<std::string> arguments{"--steps", "3", "--processes", "4", "--data", "here"};
  CHECK(heddle_example::take_processes(arguments) == 4);
  CHECK(arguments == std::vector<std::string>{"--steps", "3", "--data", "here"});
  CHECK(heddle_example::take_processes(arguments) == 0);
  for (const auto* value : {"0", "-2", "four"}) {
    std::vector<std::string> wrong{"--processes", value};
    CHECK_THROWS(heddle_example::take_processes(wrong));
  }
  std::vector<std::string> nothing{"--processes"};
  CHECK_THROWS(heddle_example::take_processes(nothing));
}

TEST_CASE("a launch ends with the status of the lowest rank that failed") {
  CHECK(heddle_example::combined({0, 0, 0}) == 0);
  CHECK(heddle_example::combined({0, 3, heddle_example::ended_by_launcher}) == 3);
  CHECK(heddle_example::combined({0, heddle_example::ended_by_launcher}) == 1);
}
