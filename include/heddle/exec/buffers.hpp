#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <heddle/exec/communicator.hpp>

namespace heddle::detail {

template <class Communicator>
using SendRequestOf = decltype(std::declval<Communicator&>().send(
    std::declval<typename Communicator::Bundle>(), int{}, MessageId{}));

template <class Communicator>
using ReceiveRequestOf = decltype(std::declval<Communicator&>().receive(int{}, MessageId{}));

/// How many things live at once, and the most there were.
class LiveCount {
 public:
  void add() { most_ = std::max(most_, ++live_); }
  void remove() { --live_; }
  void reset() { live_ = most_ = 0; }
  int most() const { return most_; }

 private:
  int live_ = 0;
  int most_ = 0;
};

/// The bundles of a rank that wait for their consumer, some of them still on their way.
template <communicator Communicator>
class Buffers {
 public:
  using Bundle = typename Communicator::Bundle;
  using Request = ReceiveRequestOf<Communicator>;

  /// Makes room for at least `size` bundles.
  void reserve(int size) { cells_.resize(std::max(cells_.size(), static_cast<std::size_t>(size))); }

  void put(int buffer, Bundle bundle) {
    cell(buffer).bundle = std::move(bundle);
    live_.add();
  }

  void expect(int buffer, Request request) {
    cell(buffer).request = std::move(request);
    cell(buffer).is_expected = true;
    live_.add();
  }

  /// Waits for what is expected in `buffer`, if anything is, and shows it.
  template <class MakeDeadline>
  Bundle& settle(int buffer, MakeDeadline deadline) {
    Cell& settled = cell(buffer);
    if (settled.is_expected) {
      settled.bundle = settled.request.wait(deadline());
      settled.request = Request{};
      settled.is_expected = false;
    }
    return settled.bundle;
  }

  /// Hands over what is in `buffer`, which must be settled.
  Bundle take(int buffer) {
    live_.remove();
    return std::exchange(cell(buffer).bundle, Bundle{});
  }

  void clear() {
    for (Cell& each : cells_) each = Cell{};
    live_.reset();
  }

  void clear_counts() { live_.reset(); }

  /// The most that were in use at once since the counts were cleared.
  int most_live() const { return live_.most(); }

 private:
  struct Cell {
    Bundle bundle{};
    Request request{};
    bool is_expected = false;
  };

  Cell& cell(int buffer) { return cells_[static_cast<std::size_t>(buffer)]; }

  std::vector<Cell> cells_;
  LiveCount live_;
};

/// The sends of a rank that are under way, oldest first, never more than a given number.
template <communicator Communicator>
class Outbox {
 public:
  using Request = SendRequestOf<Communicator>;

  explicit Outbox(int capacity) : requests_(static_cast<std::size_t>(capacity)) {}

  /// Lets go of what is done and, if the outbox is still full, waits for the oldest. That is safe:
  /// the order was proved for sends that block until their receive is posted.
  template <class MakeDeadline>
  void make_room(MakeDeadline deadline) {
    while (size_ > 0 && oldest().test()) finish_oldest(deadline());
    if (size_ == requests_.size()) finish_oldest(deadline());
  }

  void add(Request request) {
    requests_[(oldest_ + size_) % requests_.size()] = std::move(request);
    ++size_;
  }

  template <class MakeDeadline>
  void finish(MakeDeadline deadline) {
    while (size_ > 0) finish_oldest(deadline());
  }

  void clear() {
    for (Request& request : requests_) request = Request{};
    size_ = 0;
  }

 private:
  Request& oldest() { return requests_[oldest_]; }

  void finish_oldest(Deadline deadline) {
    oldest().wait(deadline);
    oldest() = Request{};
    oldest_ = (oldest_ + 1) % requests_.size();
    --size_;
  }

  std::vector<Request> requests_;
  std::size_t oldest_ = 0;
  std::size_t size_ = 0;
};

}  // namespace heddle::detail
