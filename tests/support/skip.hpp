#pragma once

#include <string_view>

namespace heddle_test {

/// Ends as "skipped" in ctest instead of passing silently: call it and return from the TEST_CASE.
void skip(std::string_view why);

}  // namespace heddle_test
