// Compares each writer with the pictures in tests/data/render. HEDDLE_UPDATE_PICTURES=1 in the
// environment writes them anew; look at what changed before you commit it.

#include <doctest/doctest.h>
#include <heddle/render/chrome_trace.hpp>
#include <heddle/render/span_csv.hpp>
#include <heddle/render/svg.hpp>
#include <heddle/render/text.hpp>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "support/golden.hpp"

using namespace heddle;

namespace {

/// Two ranks, one stage each, two micro-batches.
Timeline planned() {
  return {.title = "planned",
          .unit = "chunk forwards",
          .ranks = {{{forward(0, 0), 0, 1},
                     {forward(1, 0), 1, 2},
                     {backward(0, 0), 4, 6},
                     {backward(1, 0), 7, 9}},
                    {{forward(0, 1), 1, 2},
                     {backward(0, 1), 2, 4},
                     {forward(1, 1), 4, 5},
                     {backward(1, 1), 5, 7}}}};
}

/// What a run of it could look like, with a receive that made a rank wait.
Timeline measured() {
  return {.title = "measured <here> & \"now\"",
          .unit = "s",
          .ranks = {{{forward(0, 0), 0, 0.00125},
                     {forward(1, 0), 0.0013, 0.0025},
                     {{StepKind::receive_gradient, 0, 0}, 0.0025, 0.0051},
                     {backward(0, 0), 0.0051, 0.0075},
                     {backward(1, 0), 0.0085, 0.0111}},
                    {{forward(0, 1), 0.0013, 0.0024},
                     {backward_input(0, 1), 0.0024, 0.0035},
                     {backward_weight(0, 1), 0.0035, 0.005},
                     {forward(1, 1), 0.005, 0.0061},
                     {backward(1, 1), 0.0061, 0.0084},
                     {{user_kind(2), no_micro_batch, no_stage}, 0.0084, 0.0094}}}};
}

std::vector<Timeline> both() { return {planned(), measured()}; }

void check_picture(const std::string& name, const std::string& drawn) {
  const std::string file = "render/" + name;
  if (std::getenv("HEDDLE_UPDATE_PICTURES") !=
      nullptr) {  // NOLINT(concurrency-mt-unsafe): one thread
    std::ofstream{std::string{HEDDLE_TEST_DATA} + "/" + file, std::ios::binary} << drawn;
  }
  CHECK(drawn == heddle_test::read_data(file));
}

}  // namespace

TEST_CASE("a timeline is drawn with letters") {
  check_picture("planned.txt", text_timeline(planned()));
  check_picture("measured.txt", text_timeline(measured()));
  check_picture("narrow.txt", text_timeline(planned(), {.columns = 20}) +
                                  text_timeline(planned(), {.columns = 6}));
}

TEST_CASE("the planned timeline is drawn above the measured one") {
  check_picture("both.svg", svg_timeline(both()));
  check_picture("planned.svg", svg_timeline(planned(), {.width = 600, .lane_height = 24}));
}

TEST_CASE("timelines with the same unit share their scale") {
  Timeline half = planned();
  for (auto& spans : half.ranks) spans.resize(2);  // ends at 4 of 9
  const std::string drawn = svg_timeline(std::vector{planned(), half}, {.width = 984});
  // 900 pixels for 9 units, in both: the first backward of rank 1 is 200 wide twice.
  const std::string backward_of_rank_1 = "x=\"264.5\" y=\"";
  const auto first = drawn.find(backward_of_rank_1);
  CHECK(first != std::string::npos);
  CHECK(drawn.find(backward_of_rank_1, first + 1) != std::string::npos);
}

TEST_CASE("a trace has a process a timeline and a thread a rank") {
  check_picture("both.json", chrome_trace(both()));
}

TEST_CASE("begin and end of every step are a table") {
  check_picture("planned.csv", span_csv(planned()));
  check_picture("measured.csv", span_csv(measured()));
}

TEST_CASE("a timeline without steps is drawn as empty lanes") {
  const Timeline empty{.title = "nothing", .ranks = {{}, {}}};
  CHECK(text_timeline(empty) == "nothing: 0 chunk forwards, 0 % busy\nrank 0 ||\nrank 1 ||\n");
  CHECK(svg_timeline(empty).find("rank 1") != std::string::npos);
  CHECK(text_timeline(Timeline{}) == "0 chunk forwards, 0 % busy\n");
}

TEST_CASE("names that markup would take for its own are escaped") {
  CHECK(svg_timeline(measured()).find("measured &lt;here&gt; &amp; &quot;now&quot;") !=
        std::string::npos);
  CHECK(chrome_trace(measured()).find(R"("measured <here> & \"now\"")") != std::string::npos);
  CHECK(chrome_trace(Timeline{.title = "a\nb\\c", .ranks = {}}).find(R"("a\u000ab\\c")") !=
        std::string::npos);
}
