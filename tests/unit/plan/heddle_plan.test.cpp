// heddle-plan as a user runs it: what each flag prints, and how it refuses what cannot be.

#include <doctest/doctest.h>
#include <heddle/core/csv.hpp>
#include <heddle/core/text.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "support/golden.hpp"
#include "support/program.hpp"

using namespace heddle;
using heddle_test::GoldenRow;
using heddle_test::Outcome;

namespace {

Outcome run(const std::string& arguments) {
  return heddle_test::run_program(std::string{HEDDLE_PLAN} + " " + arguments);
}

std::string shape_flags(const GoldenRow& row) {
  return " --ranks " + row["P"] + " --stages-per-rank " + row["V"] + " --micro-batches " + row["M"];
}

std::string mpipe_flags(const GoldenRow& row) {
  const bool trains = row["tr"] == "1";
  std::string flags = " --overflow " + row["ovf"] + (trains ? "" : " --tower frozen");
  if (trains && row["own"] == "1") flags += " --tower-backward owner";
  if (row["T"] == "0") flags += " --data-only";
  if (row["lm"] == "1") flags += " --warmup shallow";
  return flags;
}

std::string without_bubbles(const std::string& order) {
  return text_of(read_text(order).order, Bubbles::left_out) + "\n";
}

std::string without_data(const std::string& order) {
  std::string out;
  for (const auto& step : heddle_test::split(order, ' ')) {
    if (!step.starts_with("D")) out += (out.empty() ? "" : " ") + step;
  }
  return without_bubbles(out);
}

/// The compute steps of each row, idle cells aside.
std::vector<std::vector<std::string>> cells(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& line : heddle_test::split(csv, '\n')) {
    auto row = heddle_test::split(line, ',');
    std::erase(row, "");
    rows.push_back(row);
  }
  return rows;
}

void check_refused(const std::string& arguments, const std::string& words) {
  CAPTURE(arguments);
  const Outcome outcome = run(arguments);
  CHECK(outcome.status == 2);
  CHECK_MESSAGE(outcome.text.find(words) != std::string::npos, outcome.text);
}

const std::string interleaved =
    "--schedule interleaved_1f1b --ranks 4 --stages-per-rank 2 --micro-batches 8";

}  // namespace

TEST_CASE("steps prints the golden orders without their bubbles") {
  struct Table {
    const char* name;
    const char* schedule;
    std::size_t stride;
  };
  for (const auto& [name, schedule, stride] :
       {Table{"orders_gpipe", "gpipe", 5}, Table{"orders_1f1b", "1f1b", 5},
        Table{"orders_interleaved", "interleaved_1f1b", 15}}) {
    const auto rows = heddle_test::golden_rows(name);
    int compared = 0;
    for (std::size_t index = 0; index < rows.size(); index += stride) {
      const auto& row = rows[index];
      const std::string arguments = "--schedule " + std::string{schedule} + shape_flags(row) +
                                    (row["lm"] == "1" ? " --warmup shallow" : "");
      CAPTURE(arguments);
      CHECK(run(arguments + " --data-steps").text == without_bubbles(row["order"]));
      CHECK(run(arguments).text == without_data(row["order"]));
      ++compared;
    }
    CHECK(compared >= 8);
  }
}

TEST_CASE("steps prints the golden orders of MPipe, and refuses those that cannot be") {
  const auto rows = heddle_test::golden_rows("orders_mpipe");
  int compared = 0;
  int refused = 0;
  for (std::size_t index = 0; index < rows.size(); index += 29) {
    const auto& row = rows[index];
    const std::string arguments = "--schedule mpipe" + shape_flags(row) + mpipe_flags(row);
    if (row["tr"] == "1" && row["T"] == "0") {
      check_refused(arguments, "the tower must be frozen or none");
      ++refused;
      continue;
    }
    CAPTURE(arguments);
    CHECK(run(arguments + " --data-steps").text == row["order"] + "\n");
    CHECK(run(arguments + " --golden-costs --receives inline --format stats")
              .text.starts_with("{\"makespan\": " + row["mk_eager"] + ","));
    ++compared;
  }
  CHECK(compared > 30);
  CHECK(refused > 5);
}

TEST_CASE("mpipe has the traits, the body and the costs that are asked for") {
  const std::string shape = " --ranks 4 --micro-batches 8 --format stats";
  const auto makespan_is = [&](const std::string& arguments, const std::string& makespan) {
    CAPTURE(arguments);
    const auto text = run("--schedule mpipe " + arguments + shape).text;
    CHECK_MESSAGE(text.starts_with("{\"makespan\": " + makespan + ","), text);
  };
  makespan_is("", "53");
  makespan_is("--overflow full --tower trainable --tower-backward rank0 --body interleaved_1f1b",
              "53");
  makespan_is("--golden-costs --receives inline", "56");
  makespan_is("--tower-backward owner --receives inline", "42");
  makespan_is("--tower-backward owner --golden-costs", "39");
  makespan_is("--tower-backward owner --tower-forward 2 --tower-backward-cost 4 --receives inline",
              "52");
  makespan_is("--tower frozen", "35");
  makespan_is("--tower none --data-only", "33");
  CHECK(run("--schedule mpipe --tower frozen" + shape).text.find("\"features\": [8, 2, 2, 2]") !=
        std::string::npos);
  CHECK(run("--schedule mpipe --body 1f1b --tower frozen --ranks 2 --micro-batches 2").text ==
        "Mf0@-1 Mr1@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 / "
        "Mf1@-1 Ms1@-1 Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1\n");
  check_refused("--schedule mpipe --data-only --ranks 2 --micro-batches 2",
                "the tower must be frozen or none");
  check_refused(
      "--schedule mpipe --tower frozen --tower-backward owner --ranks 2 --micro-batches 2",
      "the backward must be left at rank0");
  check_refused("--schedule mpipe --body gpip --ranks 2 --micro-batches 2",
                "did you mean 'gpipe'?");
  check_refused("--schedule mpipe --body gpipe --ranks 2 --stages-per-rank 2 --micro-batches 2",
                "must be exactly 1");
  check_refused("--tower thawed", "trainable|frozen|none, not 'thawed'");
}

TEST_CASE("a comparison says whether transposing the tower pays") {
  const std::string shape = " --ranks 4 --micro-batches 8";
  CHECK(run("--compare mpipe,1f1b" + shape).text ==
        "schedule                            makespan  bubble  of makespan  peak  messages\n"
        "mpipe                                     53      27       50.9 %     7        60\n"
        "interleaved_1f1b, tower in stage 0        48      24         50 %     7        48\n"
        "1f1b                                      33       9       27.3 %     4        48\n"
        "mpipe takes 53, interleaved_1f1b with the tower in stage 0 takes 48: transposing does not "
        "pay\n");
  CHECK(run("--compare mpipe --tower-backward owner" + shape)
            .text.find("takes 39, interleaved_1f1b with the tower in stage 0 takes 48: transposing "
                       "pays (1.231 times as fast)\n") != std::string::npos);
  CHECK(run("--compare mpipe --tower frozen" + shape).text.find("transposing does not pay\n") !=
        std::string::npos);
  // Data alone are no tower, and JSON has no room for a sentence.
  CHECK(run("--compare mpipe,gpipe --tower none --data-only" + shape).text.find("tower in") ==
        std::string::npos);
  CHECK(run("--compare mpipe --format stats" + shape).text.ends_with("}\n]\n"));
}

TEST_CASE("csv prints the compute orders of PyTorch") {
  const auto expect = [](const std::string& file, const std::string& arguments) {
    const Outcome outcome = run(arguments + " --format csv");
    CHECK(outcome.status == 0);
    CHECK(cells(outcome.text) == cells(heddle_test::read_data("golden/pytorch/" + file)));
  };
  expect("interleaved_1f1b_p4v2m8_compute.csv", interleaved);
  expect("interleaved_1f1b_p2v2m4_compute.csv",
         "--schedule interleaved_1f1b --ranks 2 --stages-per-rank 2 --micro-batches 4");
}

TEST_CASE("stats prints JSON") {
  CHECK(run(interleaved + " --format stats").text ==
        "{\"makespan\": 57, \"bubble\": [9, 9, 9, 9], \"peak\": [11, 9, 7, 5], \"slots\": [11, 9, "
        "7, 5], "
        "\"messages\": [24, 32, 32, 24]}\n");
  CHECK(run(interleaved + " --format=stats --warmup=shallow --receives=rendezvous")
            .text.starts_with("{\"makespan\": 69,"));
  CHECK(run("--schedule interleaved_1f1b --ranks 2 --stages-per-rank 2 --micro-batches 4 --latency "
            "0.1 --format stats")
            .text.starts_with("{\"makespan\": 27.6,"));
  CHECK(run("--schedule gpipe --ranks 2 --micro-batches 1 --forward 2 --backward 5 --weight 2 "
            "--format stats")
            .text.starts_with("{\"makespan\": 14,"));
  CHECK(run("--schedule gpipe --ranks 1 --micro-batches 3 --backward 0.5 --format stats")
            .text.starts_with("{\"makespan\": 4.5,"));
}

TEST_CASE("pictures are of the format that is asked for") {
  CHECK(run("--schedule 1f1b --ranks 2 --micro-batches 2 --format text").text ==
        "1f1b, 2 ranks x 1 stage x 2 micro-batches: 9 chunk forwards, 67 % busy\n"
        "rank 0 |0F0-0F1-........0B0=====....0B1=====|\n"
        "rank 1 |....1F0-1B0=====1F1-1B1=====........|\n");
  CHECK(run(interleaved + " --format svg").text.starts_with("<svg "));
  CHECK(run(interleaved + " --format trace").text.starts_with("{\"displayTimeUnit\""));
}

TEST_CASE("several schedules are compared") {
  const std::string both = "--compare gpipe,1f1b --ranks 4 --micro-batches 8";
  CHECK(run(both).text ==
        "schedule  makespan  bubble  of makespan  peak  messages\n"
        "gpipe           33       9       27.3 %     8        48\n"
        "1f1b            33       9       27.3 %     4        48\n");
  CHECK(run("--schedule interleaved_1f1b " + both).text.find("interleaved_1f1b  ") !=
        std::string::npos);
  CHECK(run(both + " --format stats").text.find("{\"schedule\": \"1f1b\", \"makespan\": 33,") !=
        std::string::npos);
  CHECK(run(both + " --format text").text.find("gpipe: 33 chunk forwards") == 0);
  check_refused(both + " --format csv", "--compare prints text, svg, trace or stats");
}

TEST_CASE("the schedules, the help and the version are printed") {
  CHECK(run("--list").text.find("interleaved_1f1b\n") != std::string::npos);
  CHECK(run("--help").text.find("--stages-per-rank V") != std::string::npos);
  CHECK(run("--help").status == 0);
  CHECK(run("--version").text.starts_with("heddle-plan "));
}

TEST_CASE("unknown names are refused with the nearest") {
  check_refused("--schedule 1f1 --ranks 2 --micro-batches 2", "did you mean '1f1b'?");
  check_refused("--compare gpipe,interleaved --ranks 2 --micro-batches 2",
                "did you mean 'interleaved_1f1b'?");
  check_refused("--rank 2", "did you mean --ranks?");
  check_refused("--warmup clasic", "classic|shallow, not 'clasic'; the nearest is classic");
  check_refused("--format png", "steps|csv|text|svg|trace|stats, not 'png'");
  check_refused("gpipe", "'gpipe' belongs to no flag");
}

TEST_CASE("impossible shapes are refused with the nearest legal value") {
  check_refused("--schedule gpipe --ranks 2 --stages-per-rank 2 --micro-batches 2",
                "stages_per_rank is 2, but must be exactly 1");
  check_refused("--schedule 1f1b --ranks 2 --stages-per-rank 3 --micro-batches 2",
                "must be exactly 1");
  check_refused("--compare gpipe,1f1b --ranks 2 --stages-per-rank 2 --micro-batches 2",
                "must be exactly 1");
  check_refused("--schedule gpipe --ranks 0 --micro-batches 2",
                "--ranks takes a number of at least 1, not '0'");
  check_refused("--schedule gpipe --ranks -3 --micro-batches 2", "at least 1, not '-3'");
  check_refused("--schedule gpipe --ranks 100000 --micro-batches 100000",
                "micro_batches is 100000, but must be at most 671");
}

TEST_CASE("what is no number, is missing or is there twice is refused") {
  check_refused("", "--schedule is missing");
  check_refused("--schedule gpipe --micro-batches 2", "--ranks is missing");
  check_refused("--schedule gpipe --ranks 2", "--micro-batches is missing");
  check_refused("--schedule", "--schedule lacks its value NAME");
  check_refused("--schedule --ranks 2 --micro-batches 2", "--schedule lacks its value NAME");
  check_refused("--ranks x", "--ranks takes a whole number, not 'x'");
  check_refused("--ranks 2x", "not '2x'");
  check_refused("--ranks 2.5", "not '2.5'");
  check_refused("--ranks 99999999999", "a number up to 2147483647");
  check_refused("--ranks ''", "--ranks takes a whole number");
  check_refused("--ranks 2 --ranks 3", "--ranks is given twice");
  check_refused("--data-steps=yes", "--data-steps takes no value");
  check_refused("--latency inf", "not 'inf'");
  check_refused("--forward -1", "at least 0, not '-1'");
  check_refused("--forward 1e308", "up to 1e12, not '1e308'");
  check_refused("--weight 3", "--weight is above --backward");
  check_refused("--list --check f", "cannot be combined");
  check_refused("--check f --schedule gpipe", "cannot be combined");
  check_refused("--compare gpipe,,1f1b", "names separated by commas");
}
