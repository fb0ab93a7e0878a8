#include "across_processes.hpp"

#include <doctest/doctest.h>

#include <string>

#include "gloo.hpp"
#include "launcher.hpp"

namespace heddle_test {
namespace {

/// The name of the running case as a filter that matches nothing else.
std::string filter() {
  std::string text = "--test-case=";
  for (const char* at = doctest::getContextOptions()->currentTest->m_name; *at != '\0'; ++at) {
    if (*at == ',') text += '\\';
    text += *at;
  }
  return text;
}

}  // namespace

void across_processes(int processes,
                      const std::function<void(const heddle::ProcessEnvironment&)>& body,
                      const AcrossOptions& options) {
  const auto environment = heddle::process_environment();
  if (environment && environment->launcher_serves) {
    body(*environment);
    return;
  }
  const heddle_example::StoreServer server;
  const auto statuses = heddle_example::launch({.processes = processes,
                                                .arguments = {filter()},
                                                .port = server.port(),
                                                .deadline = options.deadline,
                                                .show_all = true});
  const std::vector<int> all_well(static_cast<std::size_t>(processes), 0);
  CHECK(statuses == (options.statuses.empty() ? all_well : options.statuses));
}

}  // namespace heddle_test
