#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include <ATen/core/Tensor.h>

namespace fashion_mnist {

/// Images with the class of each: n x 1 x 28 x 28 bytes, and n numbers 0 .. 9.
struct Examples {
  at::Tensor images;
  at::Tensor labels;

  std::int64_t count() const { return labels.size(0); }
};

struct Dataset {
  Examples train;
  Examples test;
};

/// Reads the four IDX files of Fashion-MNIST.
Dataset read_dataset(const std::filesystem::path& folder);

/// How many rows of `scores` are highest at their label.
std::int64_t count_right(const at::Tensor& scores, const at::Tensor& labels);

/// The pixels as floats with mean 0 and variance 1 over the training images.
at::Tensor as_floats(const at::Tensor& images);

/// Images as floats and their labels: what one step trains on.
struct Batch {
  at::Tensor images;
  at::Tensor labels;
};

/// The batches of a training in the order of their steps: the examples are shuffled anew for each
/// epoch, in the same way on every rank. What does not fill a batch is left out.
class Batches {
 public:
  Batches(const Examples& examples, int batch_size, int steps);

  int steps() const { return steps_; }
  Batch operator[](int step) const;

 private:
  Examples examples_;
  int batch_size_;
  int steps_;
  int steps_per_epoch_;
  std::vector<at::Tensor> orders_;  ///< of the examples, an epoch each
};

}  // namespace fashion_mnist
