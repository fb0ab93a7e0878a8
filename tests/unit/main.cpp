// The main of every test program: doctest's own, which also reports skipped tests to ctest and
// refuses to pass when a filter matched nothing.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <iostream>

#include "support/skip.hpp"

namespace {

constexpr int skipped_exit_code = 77;  // SKIP_RETURN_CODE in cmake/HeddleTesting.cmake

bool skipped = false;
unsigned cases_run = 0;

struct CountCases : doctest::IReporter {
  explicit CountCases(const doctest::ContextOptions& /*options*/) {}
  void report_query(const doctest::QueryData& /*data*/) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& stats) override {
    cases_run = stats.numTestCasesPassingFilters;
  }
  void test_case_start(const doctest::TestCaseData& /*data*/) override {}
  void test_case_reenter(const doctest::TestCaseData& /*data*/) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& /*stats*/) override {}
  void test_case_exception(const doctest::TestCaseException& /*exception*/) override {}
  void subcase_start(const doctest::SubcaseSignature& /*subcase*/) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData& /*assertion*/) override {}
  void log_message(const doctest::MessageData& /*message*/) override {}
  void test_case_skipped(const doctest::TestCaseData& /*data*/) override {}
};

REGISTER_LISTENER("count_cases", 1, CountCases);

}  // namespace

void heddle_test::skip(std::string_view why) {
  std::cout << "skipped: " << why << std::endl;
  skipped = true;
}

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int result = context.run();
  if (result != 0 || context.shouldExit()) return result;
  if (cases_run == 0) {
    std::cerr << "no test case matches the filter\n";
    return 1;
  }
  return skipped ? skipped_exit_code : 0;
}
