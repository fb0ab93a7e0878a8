// Case C15 of the field: malformed orders from elsewhere, through heddle-plan --check.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/golden.hpp"
#include "support/program.hpp"

using heddle_test::Outcome;

namespace {

Outcome run(const std::string& arguments) {
  return heddle_test::run_program(std::string{HEDDLE_PLAN} + " " + arguments);
}

/// A file that is there for one test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) {
    std::string pattern = (std::filesystem::temp_directory_path() / "heddle_plan_XXXXXX").string();
    const int file = mkstemp(pattern.data());
    REQUIRE(file >= 0);
    name_ = pattern;
    std::ofstream{name_, std::ios::binary} << content;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(name_); }

  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

Outcome check_text(const std::string& content, const std::string& more = "") {
  const TemporaryFile file{content};
  return run("--check " + file.name() + " " + more);
}

/// A CSV by cells, rows and columns counted from 1.
class Cells {
 public:
  explicit Cells(const std::string& csv) {
    for (const auto& line : heddle_test::split(csv, '\n'))
      rows_.push_back(heddle_test::split(line, ','));
  }

  std::string& at(int row, int column) {
    return rows_.at(std::size_t(row) - 1).at(std::size_t(column) - 1);
  }
  int append(int row, const std::string& cell) {
    rows_.at(std::size_t(row) - 1).push_back(cell);
    return static_cast<int>(rows_.at(std::size_t(row) - 1).size());
  }

  /// The column of `cell` in `row`.
  int column(int row, const std::string& cell) {
    for (int at_column = 1;; ++at_column) {
      if (at(row, at_column) == cell) return at_column;
    }
  }

  std::string csv(const std::string& line_end = "\n") const {
    std::string text;
    for (const auto& row : rows_) {
      for (std::size_t index = 0; index < row.size(); ++index)
        text += (index > 0 ? "," : "") + row[index];
      text += line_end;
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

const std::string shape = "--ranks 4 --stages-per-rank 2 --micro-batches 4";
const std::string schedule = "--schedule interleaved_1f1b " + shape;

Cells table() { return Cells{run(schedule + " --format csv").text}; }

std::string pytorch(const std::string& file) {
  return heddle_test::read_data("golden/pytorch/" + file);
}

std::string place(int row, int column, const std::string& token) {
  return "row " + std::to_string(row) + ", column " + std::to_string(column) + ", '" + token + "'";
}

void check_refused(const Outcome& outcome, const std::string& cell, const std::string& rule) {
  CHECK(outcome.status == 1);
  CHECK_MESSAGE(outcome.text.find(cell) != std::string::npos, outcome.text);
  CHECK_MESSAGE(outcome.text.find(rule) != std::string::npos, outcome.text);
}

}  // namespace

TEST_CASE("C15: the table that the cases change is accepted") {
  const Outcome outcome = check_text(table().csv());
  CHECK(outcome.status == 0);
  CHECK(outcome.text.find("an order without fault, 4 ranks x 2 stages x 4 micro-batches") !=
        std::string::npos);
}

TEST_CASE("C15 (a): an extra backward with micro-batch -2 is refused") {
  Cells cells = table();
  const int column = cells.append(2, "1B-2");
  check_refused(check_text(cells.csv()), place(2, column, "1B-2"), "a number from 0");
}

TEST_CASE("C15 (b): a forward for a micro-batch that is not there is refused") {
  Cells cells = table();
  const int column = cells.append(1, "0F4");
  check_refused(check_text(cells.csv(), shape), place(1, column, "0F4"),
                "the highest micro-batch is 3");
  check_refused(check_text(cells.csv()), place(1, column, "0F4"), "never runs");
}

TEST_CASE("C15 (c): one backward twice and another missing is refused") {
  Cells cells = table();
  const int column = cells.column(3, "2B2");
  cells.at(3, column) = "2B1";
  check_refused(check_text(cells.csv()), place(3, column, "2B1"), "repeats");
}

TEST_CASE("C15 (d): a stage on two ranks is refused") {
  Cells cells = table();
  const int column = cells.append(1, "1F0");
  check_refused(check_text(cells.csv()), place(1, column, "1F0"), "belongs to rank 1");
}

TEST_CASE("C15 (e): a weight half before its input half is refused") {
  Cells cells{pytorch("interleaved_zero_bubble_p2v2m4_compute.csv")};
  const int input = cells.column(2, "3I0");
  const int weight = cells.column(2, "3W0");
  cells.at(2, input) = "3W0";
  cells.at(2, weight) = "3I0";
  check_refused(check_text(cells.csv()), place(2, input, "3W0"), "comes before what it needs: 3I0");
}

TEST_CASE("C15 (f): an order that cannot proceed is refused with the cycle") {
  Cells cells = table();
  const int first = cells.column(1, "0F0");
  const int later = cells.column(1, "4F0");
  cells.at(1, first) = "4F0";
  cells.at(1, later) = "0F0";
  const Outcome outcome = check_text(cells.csv());
  check_refused(outcome, place(1, first, "4F0"), "wait for each other");
  for (const auto* action : {"rank 0 waits at 4RECV_F0", "rank 1 waits at 1RECV_F0",
                             "rank 2 waits at 2RECV_F0", "rank 3 waits at 3RECV_F0"}) {
    CHECK_MESSAGE(outcome.text.find(action) != std::string::npos, outcome.text);
  }
}

TEST_CASE("C15 (g): a send without its receive is refused") {
  Cells cells{pytorch("interleaved_1f1b_p2v2m4_comms.csv")};
  cells.at(2, cells.column(2, "1RECV_F1")) = "";
  check_refused(check_text(cells.csv()), place(1, cells.column(1, "0SEND_F1"), "0SEND_F1"),
                "lacks its receive 1RECV_F1");
}

TEST_CASE("C15 (h): an unknown token is refused with its place") {
  Cells cells = table();
  cells.at(3, 5) = "2Q0";
  check_refused(check_text(cells.csv()), place(3, 5, "2Q0"), "unknown action");
}

TEST_CASE("C15 (i): line ends, trailing commas and empty cells are accepted") {
  const Outcome plain = check_text(table().csv(), "--format stats");
  CHECK(plain.status == 0);
  CHECK(check_text(table().csv("\r\n"), "--format stats").text == plain.text);
  CHECK(check_text(table().csv(",,\n"), "--format stats").text == plain.text);
  CHECK(check_text(table().csv(",\r\n") + "\r\n\n", "--format stats").text == plain.text);
}

TEST_CASE("what was exported is imported to the same plan") {
  const std::string stats = run(schedule + " --format stats").text;
  CHECK(check_text(run(schedule + " --format csv").text, "--format stats").text == stats);
  const std::string steps = run(schedule + " --format steps").text;
  CHECK(check_text(steps, "--format stats").text == stats);
  CHECK(check_text(steps, "--format steps").text == steps);
  const std::string with_data = run(schedule + " --data-steps").text;
  CHECK(check_text(with_data, "--format steps").text == with_data);
}

TEST_CASE("a fault in the text form is told in the text form") {
  const Outcome cycle = check_text(
      "Fr0@2 F0@0 Fs0@0 F0@2 Fs0@2 Br0@2 B0@2 Bs0@2 Br0@0 B0@0 / "
      "Fr0@1 F0@1 Fs0@1 Fr0@3 F0@3 B0@3 Bs0@3 Br0@1 B0@1 Bs0@1\n");
  CHECK(cycle.status == 1);
  CHECK(cycle.text.find("rank 0 waits at Fr0@2 in row 1, column 1, 'Fr0@2'") != std::string::npos);
  CHECK(cycle.text.find("rank 1 waits at Fr0@1 in row 2, column 1, 'Fr0@1'") != std::string::npos);
  check_refused(check_text("F0@0 B0@0 / F0@1 Q0@1"), place(2, 2, "Q0@1"), "no step is written so");
}

TEST_CASE("the orders of PyTorch get the verdict of a strict sequence") {
  const std::string folder = std::string{HEDDLE_TEST_DATA} + "/golden/pytorch/";
  int accepted = 0;
  int refused = 0;
  for (const auto& row : heddle_test::golden_rows("pytorch/expected")) {
    CAPTURE(row["file"]);
    const Outcome outcome = run("--check " + folder + row["file"]);
    if (row["sequential"] == "ok") {
      CHECK(outcome.status == 0);
      ++accepted;
    } else {
      CHECK(outcome.status == 1);
      CHECK(outcome.text.find("wait for each other") != std::string::npos);
      CHECK(outcome.text.find("waits at") != std::string::npos);
      ++refused;
    }
  }
  CHECK(accepted >= 24);
  CHECK(accepted + refused == 48);
}

TEST_CASE("a file that is not there cannot be checked") {
  const Outcome outcome = run("--check /nowhere/at/all");
  CHECK(outcome.status == 2);
  CHECK(outcome.text.find("cannot read the file '/nowhere/at/all'") != std::string::npos);
}

TEST_CASE("an empty file is refused") { CHECK(check_text("").status == 1); }
