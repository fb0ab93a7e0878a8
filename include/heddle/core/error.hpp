#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace heddle {

/// What every exception of this library derives from; `what()` is a sentence that says what is
/// wrong, where, and what to do instead.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A text that is no order: the cell that is wrong and the rule that it breaks.
///
/// `row` and `column` count from 1, as an editor or a spreadsheet does; a row is a rank.
struct FormatError : Error {
  FormatError(int row_number, int column_number, std::string bad_token, const std::string& rule)
      : Error("row " + std::to_string(row_number) + ", column " + std::to_string(column_number) +
              ", '" + bad_token + "': " + rule),
        row{row_number},
        column{column_number},
        token{std::move(bad_token)} {}

  int row;
  int column;
  std::string token;
};

}  // namespace heddle
