#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fashion_mnist {

/// An array of bytes as an IDX file holds it.
struct IdxArray {
  std::vector<std::int64_t> sizes;  ///< of each dimension
  std::vector<std::uint8_t> bytes;
};

/// Reads the file `name` of `folder`, or `name`.gz.
///
/// Errors: a sentence that says which file and what is wrong with it: missing, no IDX file of bytes
/// with this many dimensions, too short or too long.
IdxArray read_idx(const std::filesystem::path& folder, const std::string& name,
                  std::size_t dimensions);

}  // namespace fashion_mnist
