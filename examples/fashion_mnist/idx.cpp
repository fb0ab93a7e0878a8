#include "idx.hpp"

#include <zlib.h>

#include <array>
#include <cstddef>
#include <memory>
#include <stdexcept>

namespace fashion_mnist {
namespace {

namespace fs = std::filesystem;

fs::path find(const fs::path& folder, const std::string& name) {
  for (const auto& path : {folder / name, folder / (name + ".gz")}) {
    if (fs::exists(path)) return path;
  }
  throw std::runtime_error("neither " + name + " nor " + name + ".gz is in " + folder.string() +
                           "; install Debian's package dataset-fashion-mnist, or give the folder "
                           "of these files by --data");
}

/// Reads plain and compressed files alike.
class ByteReader {
 public:
  explicit ByteReader(const fs::path& path) : path_{path}, file_{gzopen(path.c_str(), "rb")} {
    if (!file_) fail("cannot be opened");
  }

  void read(std::uint8_t* to, std::size_t count) {
    const int got = gzread(file_.get(), to, static_cast<unsigned>(count));
    if (got < 0 || static_cast<std::size_t>(got) != count) fail("ends too early or is damaged");
  }

  bool at_end() { return gzgetc(file_.get()) == -1; }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(path_.string() + " " + what);
  }

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose(file); }
  };

  fs::path path_;
  std::unique_ptr<gzFile_s, Close> file_;
};

}  // namespace

IdxArray read_idx(const fs::path& folder, const std::string& name, std::size_t dimensions) {
  constexpr std::uint8_t unsigned_byte = 8;
  constexpr std::int64_t most_bytes = std::int64_t{1} << 30;
  ByteReader file{find(folder, name)};
  std::array<std::uint8_t, 4> word{};
  file.read(word.data(), word.size());
  if (word[0] != 0 || word[1] != 0 || word[2] != unsigned_byte || word[3] != dimensions) {
    file.fail("is no IDX file of bytes in " + std::to_string(dimensions) + " dimensions");
  }

  IdxArray array;
  std::int64_t count = 1;
  for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
    file.read(word.data(), word.size());
    std::int64_t size = 0;
    for (const std::uint8_t byte : word) size = size * 256 + byte;
    array.sizes.push_back(size);
    if (size > 0 && count > most_bytes / size) file.fail("says that it is larger than 1 GiB");
    count *= size;
  }
  array.bytes.resize(static_cast<std::size_t>(count));
  file.read(array.bytes.data(), array.bytes.size());
  if (!file.at_end()) file.fail("is longer than it says");
  return array;
}

}  // namespace fashion_mnist
