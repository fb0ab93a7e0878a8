#include "data.hpp"

#include <ATen/Functions.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

#include "idx.hpp"

namespace fashion_mnist {
namespace {

at::Tensor as_tensor(const IdxArray& array) {
  auto tensor = at::empty(array.sizes, at::kByte);
  std::memcpy(tensor.data_ptr(), array.bytes.data(), array.bytes.size());
  return tensor;
}

Examples read_examples(const std::filesystem::path& folder, const std::string& set) {
  Examples examples{as_tensor(read_idx(folder, set + "-images-idx3-ubyte", 3)).unsqueeze(1),
                    as_tensor(read_idx(folder, set + "-labels-idx1-ubyte", 1)).to(at::kLong)};
  if (examples.images.size(0) != examples.count()) {
    throw std::runtime_error(folder.string() + " has " + std::to_string(examples.images.size(0)) +
                             " images, but " + std::to_string(examples.count()) + " labels (" +
                             set + ")");
  }
  return examples;
}

at::Tensor shuffled(std::int64_t count, unsigned seed) {
  auto order = at::empty({count}, at::kLong);
  auto* begin = static_cast<std::int64_t*>(order.data_ptr());
  std::iota(begin, begin + count, 0);
  std::shuffle(begin, begin + count, std::mt19937{seed});
  return order;
}

}  // namespace

Dataset read_dataset(const std::filesystem::path& folder) {
  return {read_examples(folder, "train"), read_examples(folder, "t10k")};
}

std::int64_t count_right(const at::Tensor& scores, const at::Tensor& labels) {
  return scores.argmax(1).eq(labels).sum().item<std::int64_t>();
}

at::Tensor as_floats(const at::Tensor& images) {
  return images.to(at::kFloat).div_(255).sub_(0.2860).div_(0.3530);
}

Batches::Batches(const Examples& examples, int batch_size, int steps)
    : examples_{examples},
      batch_size_{batch_size},
      steps_{steps},
      steps_per_epoch_{static_cast<int>(examples.count() / batch_size)} {
  if (steps_per_epoch_ == 0) {
    throw std::runtime_error("a batch has " + std::to_string(batch_size) +
                             " images, but there are only " + std::to_string(examples.count()));
  }
  for (int first = 0; first < steps; first += steps_per_epoch_) {
    orders_.push_back(shuffled(examples.count(), static_cast<unsigned>(orders_.size())));
  }
}

Batch Batches::operator[](int step) const {
  const auto& order = orders_[static_cast<std::size_t>(step / steps_per_epoch_)];
  const auto chosen =
      order.narrow(0, std::int64_t{step % steps_per_epoch_} * batch_size_, batch_size_);
  return {as_floats(examples_.images.index_select(0, chosen)),
          examples_.labels.index_select(0, chosen)};
}

}  // namespace fashion_mnist
