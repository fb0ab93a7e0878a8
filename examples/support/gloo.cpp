// The one file that includes Gloo's process group. Debian's header of it is empty without the
// definition; the wheel's needs the headers of Debian's libgloo-dev beside it.
#ifndef USE_C10D_GLOO
#define USE_C10D_GLOO
#endif

#include "gloo.hpp"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace heddle_example {
namespace {

auto device(const heddle::ProcessEnvironment& environment) {
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME"); interface != nullptr) {
    return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  }
  const std::string_view address = environment.master_address;
  if (address == "127.0.0.1" || address == "localhost") {
    return c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
  }
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

c10::intrusive_ptr<c10d::Store> connect(const heddle::ProcessEnvironment& environment) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(environment.master_port);
  options.isServer = environment.rank == 0 && !environment.launcher_serves;
  options.waitWorkers = false;
  return c10::make_intrusive<c10d::TCPStore>(environment.master_address, options);
}

}  // namespace

// docs: begin
heddle::C10dCommunicator gloo_communicator(const heddle::ProcessEnvironment& environment,
                                           heddle::BoundaryShapes shapes,
                                           const std::string& group) {
  const auto store = c10::make_intrusive<c10d::PrefixStore>(group + "/" + environment.attempt,
                                                            connect(environment));
  auto options = c10d::ProcessGroupGloo::Options::create();
  options->devices.push_back(device(environment));
  auto process_group = c10::make_intrusive<c10d::ProcessGroupGloo>(store, environment.rank,
                                                                   environment.size, options);
  return heddle::C10dCommunicator{std::move(process_group), {.shapes = shapes, .store = store}};
}
// docs: end

StoreServer::StoreServer() {
  c10d::TCPStoreOptions options;
  options.port = 0;  // any that is free
  options.isServer = true;
  options.waitWorkers = false;
  auto store = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
  port_ = store->getPort();
  store_ = std::move(store);
}

}  // namespace heddle_example
