#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <heddle/core/error.hpp>
#include <heddle/core/shape.hpp>
#include <heddle/schedule/ownership.hpp>
#include <heddle/schedule/schedule.hpp>

namespace heddle {

/// The samples of an epoch, as indices into a data set.
///
/// Semantics: `begin()` starts the epoch's sequence anew, `size()` says how long it is. A container
/// of numbers is one.
template <class Stream>
concept index_stream = requires(const Stream& stream) {
  { *stream.begin() } -> std::convertible_to<std::size_t>;
  { stream.begin() != stream.end() } -> std::convertible_to<bool>;
  { stream.size() } -> std::convertible_to<std::size_t>;
};

/// `stream.set_epoch(number)` chooses the sequence of an epoch.
template <class Stream>
concept has_set_epoch = requires(Stream& stream, int epoch) { stream.set_epoch(epoch); };

/// `stream.restore(stream.state())` goes on where a stream was saved.
template <class Stream>
concept has_state =
    requires(Stream& stream, const Stream& saved) { stream.restore(saved.state()); };

namespace detail {

struct NoState {
  friend bool operator==(const NoState&, const NoState&) = default;
};

template <class Stream>
auto state_of(const Stream& stream) {
  if constexpr (has_state<Stream>) {
    return stream.state();
  } else {
    return NoState{};
  }
}

}  // namespace detail

/// What `OwnedSampler::state` saves: the state of the stream below, or nothing if it has none.
template <class Stream>
struct OwnedSamplerState {
  std::optional<decltype(detail::state_of(std::declval<const Stream&>()))> base;
};

/// Gives a rank those samples of a stream whose micro-batches it owns, so that each rank loads its
/// own and nothing else.
///
/// The stream is cut into chunks of a whole batch; of each the rank has the slices of its
/// micro-batches, ascending. A last chunk that is no whole batch is left out. A rank that owns
/// nothing has an empty sequence.
///
/// Requires: every rank has the same stream.
/// Complexity: linear in the stream; holds one batch of indices.
/// Example: `OwnedSampler mine{base, schedule, shape, rank, 16};`
template <index_stream Stream>
class OwnedSampler {
 public:
  using Index = std::remove_cvref_t<decltype(*std::declval<const Stream&>().begin())>;

  class Iterator;

  /// Errors: Error if a micro-batch has no sample, or `owned` one that there is not.
  OwnedSampler(Stream stream, int micro_batches, std::vector<int> owned, int micro_batch_size)
      : stream_{std::move(stream)}, owned_{std::move(owned)} {
    if (micro_batch_size < 1)
      throw Error("a micro-batch has " + std::to_string(micro_batch_size) +
                  " samples; it must have at least 1");
    for (const int micro_batch : owned_) {
      if (micro_batch < 0 || micro_batch >= micro_batches)
        throw Error("micro-batch " + std::to_string(micro_batch) +
                    " is owned, but there are only " + std::to_string(micro_batches));
    }
    size_ = static_cast<std::size_t>(micro_batch_size);
    chunk_ = size_ * static_cast<std::size_t>(micro_batches);
  }

  /// The samples of the micro-batches that `rank` owns under `policy`.
  template <schedule Schedule>
    requires has_owners<Schedule>
  OwnedSampler(Stream stream, const Schedule& policy, PipelineShape shape, int rank,
               int micro_batch_size)
      : OwnedSampler(std::move(stream), shape.micro_batches,
                     owned_micro_batches(policy, shape, rank), micro_batch_size) {}

  Iterator begin() const { return Iterator{*this}; }
  std::default_sentinel_t end() const { return {}; }

  /// How many samples there are.
  std::size_t size() const {
    if (owned_.empty()) return 0;
    return static_cast<std::size_t>(stream_.size()) / chunk_ * owned_.size() * size_;
  }

  void set_epoch(int epoch)
    requires has_set_epoch<Stream>
  {
    stream_.set_epoch(epoch);
  }

  /// What `restore` goes on from; empty if the stream below has no state.
  OwnedSamplerState<Stream> state() const {
    if constexpr (has_state<Stream>) {
      return {stream_.state()};
    } else {
      return {};
    }
  }

  void restore(const OwnedSamplerState<Stream>& saved) {
    if constexpr (has_state<Stream>) {
      if (saved.base) stream_.restore(*saved.base);
    }
  }

 private:
  Stream stream_;
  std::vector<int> owned_;
  std::size_t size_ = 0;   // of a micro-batch
  std::size_t chunk_ = 0;  // of a batch
};

/// Goes through the samples of an `OwnedSampler` once. Requires: the sampler stays and is not
/// changed.
template <index_stream Stream>
class OwnedSampler<Stream>::Iterator {
 public:
  using value_type = Index;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::input_iterator_tag;

  explicit Iterator(const OwnedSampler& sampler)
      : sampler_{&sampler}, next_{sampler.stream_.begin()}, end_{sampler.stream_.end()} {
    fill();
  }

  const Index& operator*() const {
    const auto micro_batch = static_cast<std::size_t>(sampler_->owned_[owned_]);
    return batch_[micro_batch * sampler_->size_ + sample_];
  }

  Iterator& operator++() {
    if (++sample_ < sampler_->size_) return *this;
    sample_ = 0;
    if (++owned_ < sampler_->owned_.size()) return *this;
    owned_ = 0;
    fill();
    return *this;
  }

  void operator++(int) { ++*this; }

  friend bool operator==(const Iterator& at, std::default_sentinel_t /*end*/) {
    return at.batch_.empty();
  }

 private:
  /// Takes the next whole batch of the stream; nothing if there is none or it is not needed.
  void fill() {
    batch_.clear();
    if (sampler_->owned_.empty()) return;
    for (; batch_.size() < sampler_->chunk_ && next_ != end_; ++next_) batch_.push_back(*next_);
    if (batch_.size() < sampler_->chunk_) batch_.clear();
  }

  using Next = decltype(std::declval<const Stream&>().begin());
  using End = decltype(std::declval<const Stream&>().end());

  const OwnedSampler* sampler_;
  Next next_;
  End end_;
  std::vector<Index> batch_;
  std::size_t owned_ = 0;   // which of the rank's micro-batches
  std::size_t sample_ = 0;  // of it
};

}  // namespace heddle
