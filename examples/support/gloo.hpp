#pragma once

#include <string>

#include <heddle/torch/c10d_communicator.hpp>
#include <heddle/torch/c10d_environment.hpp>

namespace heddle_example {

/// The communicator of this process in a Gloo group of all processes that `environment` speaks of.
/// Returns once all have come. `group` tells the groups of one set of processes apart.
heddle::C10dCommunicator gloo_communicator(
    const heddle::ProcessEnvironment& environment,
    heddle::BoundaryShapes shapes = heddle::BoundaryShapes::fixed,
    const std::string& group = "heddle");

/// Serves the store at which the processes that this one launches meet.
class StoreServer {
 public:
  StoreServer();
  int port() const { return port_; }

 private:
  c10::intrusive_ptr<c10d::Store> store_;
  int port_ = 0;
};

}  // namespace heddle_example
