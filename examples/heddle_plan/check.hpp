#pragma once

#include "flags.hpp"

namespace heddle_plan {

/// Verifies the order in `request.file` and prints the verdict; returns the exit status.
int check_file(const Request& request);

}  // namespace heddle_plan
