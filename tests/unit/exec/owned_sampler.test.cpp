#include <heddle/exec/owned_sampler.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <heddle/schedule/mpipe_transpose.hpp>
#include <support/golden.hpp>

namespace {

using namespace heddle;

std::vector<int> counted(int length) {
  std::vector<int> numbers(static_cast<std::size_t>(length));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

template <class Sampler>
std::vector<int> drawn(const Sampler& sampler) {
  std::vector<int> indices;
  for (const int index : sampler) indices.push_back(index);
  return indices;
}

RuntimeMPipeTranspose<> mpipe(const std::string& mode) {
  return RuntimeMPipeTranspose<>{
      {.overflow = mode == "min" ? OverflowMode::min : OverflowMode::full}};
}

/// A stream that knows epochs and can be saved: epoch e is 10 e, 10 e + 1, ...
class Counting {
 public:
  explicit Counting(int length) : numbers_{counted(length)} {}
  auto begin() const { return numbers_.begin() + skipped_; }
  auto end() const { return numbers_.end(); }
  std::size_t size() const { return numbers_.size() - static_cast<std::size_t>(skipped_); }
  void set_epoch(int epoch) { std::iota(numbers_.begin(), numbers_.end(), 10 * epoch); }
  int state() const { return skipped_; }
  void restore(int skipped) { skipped_ = skipped; }

 private:
  std::vector<int> numbers_;
  int skipped_ = 0;
};

}  // namespace

TEST_CASE("The samples of each rank are those of the golden table") {
  int rows = 0;
  for (const auto& row : heddle_test::golden_rows("owned")) {
    const PipelineShape shape{.ranks = row.number("P"), .micro_batches = row.number("M")};
    std::string yielded;
    for (int rank = 0; rank < shape.ranks; ++rank) {
      const OwnedSampler sampler{counted(row.number("base_len")), mpipe(row["mode"]), shape, rank,
                                 row.number("micro_bs")};
      std::string text;
      for (const int index : sampler) text += (text.empty() ? "" : ",") + std::to_string(index);
      yielded += (rank > 0 ? ";" : "") + text;
      CHECK(sampler.size() == drawn(sampler).size());
    }
    CHECK(yielded == row["sampler_yield_by_rank"]);
    ++rows;
  }
  CHECK(rows == 174);
}

TEST_CASE("The ranks together have the stream, less a last batch that is not whole") {
  const PipelineShape shape{.ranks = 3, .micro_batches = 7};
  for (int length = 0; length <= 64; ++length) {
    std::vector<int> all;
    for (int rank = 0; rank < shape.ranks; ++rank) {
      const OwnedSampler sampler{counted(length), mpipe("full"), shape, rank, 3};
      const auto mine = drawn(sampler);
      CHECK(mine.size() == sampler.size());
      all.insert(all.end(), mine.begin(), mine.end());
    }
    std::sort(all.begin(), all.end());
    CHECK(all == counted(length / 21 * 21));
  }
}

TEST_CASE("Epochs and states are those of the stream below") {
  static_assert(has_state<Counting> && !has_state<std::vector<int>>);
  OwnedSampler sampler{Counting{6}, 3, {0, 2}, 1};
  CHECK(drawn(sampler) == std::vector<int>{0, 2, 3, 5});
  sampler.set_epoch(1);
  CHECK(drawn(sampler) == std::vector<int>{10, 12, 13, 15});
  const auto fresh = sampler.state();
  sampler.restore({.base = 3});
  CHECK(sampler.state().base == 3);
  CHECK(drawn(sampler) == std::vector<int>{13, 15});
  sampler.restore(fresh);
  CHECK(drawn(sampler) == std::vector<int>{10, 12, 13, 15});
}

TEST_CASE("A stream without a state saves nothing and restores nothing") {
  OwnedSampler sampler{counted(4), 2, {1}, 2};
  CHECK(!sampler.state().base);
  sampler.restore(sampler.state());
  CHECK(drawn(sampler) == std::vector<int>{2, 3});
}

TEST_CASE("What no sampler can give is an error") {
  CHECK_THROWS_WITH_AS((OwnedSampler{counted(4), 2, {1}, 0}),
                       "a micro-batch has 0 samples; it must have at least 1", Error);
  CHECK_THROWS_WITH_AS((OwnedSampler{counted(4), 2, {2}, 1}),
                       "micro-batch 2 is owned, but there are only 2", Error);
}
