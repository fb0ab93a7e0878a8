#include <unistd.h>
#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/Functions.h>
#include <heddle/exec/in_process.hpp>
#include <heddle/torch/bundle.hpp>

#include "conversation.hpp"
#include "data.hpp"
#include "idx.hpp"
#include "model.hpp"
#include "unsplit.hpp"

#include <doctest/doctest.h>  // behind LibTorch, which has a CHECK of its own

namespace fs = std::filesystem;
using namespace fashion_mnist;

namespace {

/// A folder that goes away with the test case.
struct Folder {
  Folder() { fs::create_directories(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream{path / name, std::ios::binary} << bytes;
  }

  /// What reading `name` as an array of two dimensions says.
  std::string error(const std::string& name) const {
    try {
      read_idx(path, name, 2);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "no error";
  }

  fs::path path = fs::temp_directory_path() / ("heddle_idx_" + std::to_string(getpid()));
};

/// Two rows of three bytes.
std::string small_file() { return std::string{"\0\0\10\2\0\0\0\2\0\0\0\3", 12} + "abcdef"; }

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Batch small_batch() {
  return {at::linspace(-1, 1, 4 * 28 * 28).view({4, 1, 28, 28}), at::arange(4)};
}

/// What a pipeline of one rank would leave behind: the gradients of the whole model.
double leave_gradients(torch::nn::Sequential& model, const Batch& batch) {
  double loss = 0;
  for (int row = 0; row < 4; row += 2) {
    const auto part = cross_entropy(model->forward(batch.images.narrow(0, row, 2)),
                                    batch.labels.narrow(0, row, 2));
    (part / 2).backward();
    loss += part.item<double>() / 2;
  }
  return loss;
}

}  // namespace

TEST_CASE("an IDX file is read plain and compressed alike") {
  const Folder folder;
  folder.write("plain", small_file());
  const auto name = (folder.path / "compressed.gz").string();
  const gzFile file = gzopen(name.c_str(), "wb");
  REQUIRE(gzwrite(file, small_file().data(), static_cast<unsigned>(small_file().size())) == 18);
  gzclose(file);
  for (const char* kind : {"plain", "compressed"}) {
    const auto array = read_idx(folder.path, kind, 2);
    CHECK((array.sizes == std::vector<std::int64_t>{2, 3}));
    CHECK((array.bytes == std::vector<std::uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'}));
  }
}

TEST_CASE("a file that is no IDX file is refused with its name and what is wrong") {
  const Folder folder;
  CHECK(contains(folder.error("absent"), "neither absent nor absent.gz is in"));
  folder.write("short", small_file().substr(0, 15));
  CHECK(contains(folder.error("short"), "short ends too early"));
  folder.write("long", small_file() + "g");
  CHECK(contains(folder.error("long"), "long is longer than it says"));
  folder.write("other", "P6 2 3 255 abcdef");
  CHECK(contains(folder.error("other"), "other is no IDX file of bytes in 2 dimensions"));
  folder.write("huge", std::string{"\0\0\10\2\177\0\0\2\0\0\177\3", 12});
  CHECK(contains(folder.error("huge"), "huge says that it is larger"));
  folder.write("right", small_file());
  CHECK(folder.error("right") == "no error");
}

TEST_CASE("an epoch shows each example once, in another order than the one before") {
  const Examples examples{at::arange(6, at::kByte).view({6, 1, 1, 1}), at::arange(6)};
  const Batches batches{examples, 2, 6};
  const auto epoch = [&](int first) {
    return at::cat({batches[first].labels, batches[first + 1].labels, batches[first + 2].labels});
  };
  CHECK(std::get<0>(epoch(0).sort()).equal(at::arange(6)));
  CHECK(std::get<0>(epoch(3).sort()).equal(at::arange(6)));
  CHECK(!epoch(0).equal(epoch(3)));
  CHECK(batches[1].images.flatten().equal(
      as_floats(batches[1].labels.to(at::kByte).view({2, 1, 1, 1})).flatten()));
}

TEST_CASE("the unsplit step tells gradients that are equal from those that differ in one bit") {
  auto model = make_model(1);
  const auto batch = small_batch();
  const UnsplitStep unsplit{model, batch, 2};
  const heddle::InProcessGroup<heddle::TorchBundle> group{1};
  auto communicator = group.communicator(0);
  const Conversation ranks{communicator};

  auto parameters = model->parameters();
  CHECK(!unsplit.is_equal(ranks, 0, parameters));  // there are no gradients
  const double loss = leave_gradients(model, batch);
  CHECK(unsplit.is_equal(ranks, loss, parameters));
  CHECK(!unsplit.is_equal(ranks, loss + 1e-9, parameters));
  parameters.back().mutable_grad().view(-1)[3] *= 1.0000001;
  CHECK(!unsplit.is_equal(ranks, loss, parameters));
  parameters.back().mutable_grad().fill_(NAN);
  CHECK(!unsplit.is_equal(ranks, loss, parameters));
}

TEST_CASE("a model is cut into stages that have all of its parameters") {
  auto model = make_model(1);
  for (const int stages : {1, 3, 8, 16}) {
    std::size_t parameters = 0;
    for (const auto& part : cut(model, stages)) {
      CHECK(!part->is_empty());
      parameters += part->parameters().size();
    }
    CHECK(parameters == model->parameters().size());
  }
}
