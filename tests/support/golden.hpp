#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"

namespace heddle_test {

/// One line of a table of tests/data/golden, its fields by the names in the table's first line.
class GoldenRow {
 public:
  explicit GoldenRow(std::map<std::string, std::string> fields) : fields_{std::move(fields)} {}

  const std::string& operator[](const std::string& column) const { return fields_.at(column); }
  int number(const std::string& column) const { return std::stoi(fields_.at(column)); }

 private:
  std::map<std::string, std::string> fields_;
};

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream{text};
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// The whole of a file under tests/data.
inline std::string read_data(const std::string& name) {
  std::ifstream file{std::string{HEDDLE_TEST_DATA} + "/" + name, std::ios::binary};
  if (!file) throw std::runtime_error("no file tests/data/" + name);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

/// What a file under tests/data holds that gzip has packed.
inline std::string read_packed_data(const std::string& name) {
  const auto [status, text] =
      run_program("gzip -dc '" + std::string{HEDDLE_TEST_DATA} + "/" + name + "'");
  if (status != 0) throw std::runtime_error("cannot unpack tests/data/" + name + ": " + text);
  return text;
}

/// The rows of `golden/<name>.tsv`, or of the packed `golden/<name>.tsv.gz` if that is what there
/// is. An order written `=<id>` is replaced by the order of that row.
inline std::vector<GoldenRow> golden_rows(const std::string& name) {
  std::vector<GoldenRow> rows;
  std::map<std::string, std::string> orders;
  const std::string file = "golden/" + name + ".tsv";
  const bool packed = std::filesystem::exists(std::string{HEDDLE_TEST_DATA} + "/" + file + ".gz");
  std::stringstream table{packed ? read_packed_data(file + ".gz") : read_data(file)};
  std::string line;
  std::getline(table, line);
  const auto columns = split(line, '\t');
  while (std::getline(table, line)) {
    const auto values = split(line, '\t');
    std::map<std::string, std::string> fields;
    for (std::size_t i = 0; i < columns.size(); ++i)
      fields[columns[i]] = i < values.size() ? values[i] : "";
    if (auto order = fields.find("order"); order != fields.end()) {
      if (order->second.starts_with("=")) order->second = orders.at(order->second.substr(1));
      orders[fields.at("id")] = order->second;
    }
    rows.emplace_back(std::move(fields));
  }
  return rows;
}

}  // namespace heddle_test
