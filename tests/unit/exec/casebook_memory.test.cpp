// Field problems with memory: cases C07 and C08 of the casebook.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <heddle/exec/executor.hpp>

#include "support/matrix_pipeline.hpp"

using namespace heddle;
using namespace heddle_test;

namespace {

/// Buffers of one size that are filled with NaN when they are freed and then used again.
class Pool {
 public:
  class Buffer {
   public:
    explicit Buffer(Pool& pool) : pool_{pool}, values_{pool.take()} {}
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { pool_.give_back(std::move(values_)); }
    std::vector<double>& values() { return values_; }

   private:
    Pool& pool_;
    std::vector<double> values_;
  };

  std::shared_ptr<Buffer> buffer() { return std::make_shared<Buffer>(*this); }

  int live() const { return live_; }
  int most() const { return most_; }
  void forget_most() { most_ = live_; }

 private:
  std::vector<double> take() {
    most_ = std::max(most_, ++live_);
    if (free_.empty()) return std::vector<double>(3);
    auto values = std::move(free_.back());
    free_.pop_back();
    return values;
  }
  void give_back(std::vector<double> values) {
    std::ranges::fill(values, std::numeric_limits<double>::quiet_NaN());
    free_.push_back(std::move(values));
    --live_;
  }

  std::vector<std::vector<double>> free_;
  int live_ = 0;
  int most_ = 0;
};

/// The pool of the rank whose thread this is.
thread_local Pool pool;

/// Three numbers in a buffer of the pool.
struct PooledBundle {
  using Value = double;
  std::shared_ptr<Pool::Buffer> buffer{};

  static std::int64_t length(double, int) { return 8; }
  static double narrow(double value, int, std::int64_t begin, std::int64_t) {
    return value + static_cast<double>(begin);
  }
  void append(double value) {
    buffer = pool.buffer();
    std::ranges::fill(buffer->values(), value);
  }
};

/// Multiplies by a weight; keeps its input until the backward.
struct Multiply {
  double weight;
  double gradient = 0;
  std::vector<PooledBundle> saved{};
  double output = 0;
  double begin = 0;

  void reserve(int slots) { saved.resize(static_cast<std::size_t>(slots)); }
  PooledBundle times(const PooledBundle& bundle, double factor) const {
    PooledBundle result{pool.buffer()};
    for (std::size_t index = 0; index < 3; ++index) {
      result.buffer->values()[index] = factor * bundle.buffer->values()[index];
    }
    return result;
  }
  PooledBundle forward(MicroBatch micro_batch, PooledBundle inputs) {
    PooledBundle outputs = times(inputs, weight);
    saved[static_cast<std::size_t>(micro_batch.slot)] = std::move(inputs);
    return outputs;
  }
  template <class Loss>
  double forward_loss(MicroBatch micro_batch, PooledBundle inputs, const PooledBundle&, Loss&,
                      double scale) {
    const PooledBundle outputs = forward(micro_batch, std::move(inputs));
    begin = scale;
    return outputs.buffer->values()[0];
  }
  PooledBundle backward(MicroBatch micro_batch, PooledBundle gradients) {
    if (!gradients.buffer) {
      gradients.append(begin);
    }
    const PooledBundle inputs = std::move(saved[static_cast<std::size_t>(micro_batch.slot)]);
    for (std::size_t index = 0; index < 3; ++index) {
      gradient += gradients.buffer->values()[index] * inputs.buffer->values()[index];
    }
    return times(gradients, weight);
  }
};

/// Copies what is sent only some time after the send, into a buffer of the receiver.
class LateCommunicator {
 public:
  using Bundle = PooledBundle;
  using Inner = InProcessCommunicator<std::vector<double>>;
  static constexpr auto delay = std::chrono::milliseconds{50};

  /// Owns the bundle until it has been copied.
  struct SendRequest {
    PooledBundle bundle{};
    Deadline copies_at{};
    Inner* inner = nullptr;
    int peer = 0;
    MessageId id{};

    bool test() {
      if (inner == nullptr) return true;
      if (std::chrono::steady_clock::now() < copies_at) return false;
      std::exchange(inner, nullptr)->send(bundle.buffer->values(), peer, id);
      bundle = {};
      return true;
    }
    void wait(Deadline) {
      std::this_thread::sleep_until(copies_at);
      test();
    }
  };
  struct ReceiveRequest {
    LateCommunicator* owner = nullptr;
    typename Inner::ReceiveRequest inner{};

    bool test() { return inner.test(); }
    PooledBundle wait(Deadline deadline) {
      while (!inner.test()) owner->progress();
      PooledBundle bundle{pool.buffer()};
      bundle.buffer->values() = inner.wait(deadline);
      return bundle;
    }
  };

  explicit LateCommunicator(Inner inner) : inner_{std::move(inner)} {}

  int rank() const { return inner_.rank(); }
  int size() const { return inner_.size(); }
  std::shared_ptr<SendRequest> post(PooledBundle bundle, int peer, MessageId id) {
    auto request = std::make_shared<SendRequest>();
    *request = {std::move(bundle), std::chrono::steady_clock::now() + delay, &inner_, peer, id};
    return request;
  }
  struct SharedSend {
    std::shared_ptr<SendRequest> request{};
    bool test() { return request->test(); }
    void wait(Deadline deadline) { request->wait(deadline); }
  };
  SharedSend send(PooledBundle bundle, int peer, MessageId id) {
    SharedSend request{post(std::move(bundle), peer, id)};
    under_way_.push_back(request.request);
    return request;
  }
  ReceiveRequest receive(int peer, MessageId id) { return {this, inner_.receive(peer, id)}; }
  void all_reduce_sum(std::span<double> numbers, Deadline deadline) {
    inner_.all_reduce_sum(numbers, deadline);
  }
  void abort(const Failure& failure) { inner_.abort(failure); }

  /// Copies what is due, in the order in which it was sent.
  void progress() {
    while (!under_way_.empty()) {
      const auto oldest = under_way_.front().lock();
      if (oldest && !oldest->test()) break;
      under_way_.erase(under_way_.begin());
    }
    std::this_thread::sleep_for(std::chrono::microseconds{200});
  }

 private:
  Inner inner_;
  std::vector<std::weak_ptr<SendRequest>> under_way_;
};

}  // namespace

TEST_CASE("C07: a buffer is not used again while its send is in flight") {
  const PipelineShape shape{.ranks = 4, .stages_per_rank = 4, .micro_batches = 8};
  double expected_sum = 0;
  double product = 1;
  for (int stage = 0; stage < shape.stages(); ++stage) product *= 1 + stage / 16.0;
  for (int index = 0; index < 8; ++index) expected_sum += index + 1.0;
  for (const Transport transport : {Transport::buffered, Transport::rendezvous}) {
    InProcessGroup<std::vector<double>> group{shape.ranks, {.transport = transport}};
    std::mutex mutex;
    run_ranks(shape.ranks, [&](int rank) {
      LateCommunicator communicator{group.communicator(rank)};
      Executor step{Interleaved1F1B{},
                    shape,
                    local_stages<Interleaved1F1B>(
                        shape, rank, [](int stage) { return Multiply{1 + stage / 16.0}; }),
                    communicator,
                    sum_loss(0),
                    {.deadline = patience, .outstanding_sends = 4}};
      const auto result = step.run({split(1.0)}, {});
      const std::scoped_lock lock{mutex};
      if (result.has_loss) CHECK(result.loss == doctest::Approx(expected_sum * product));
      for (const Multiply& stage : step.stages()) {
        CHECK(stage.gradient == doctest::Approx(3 * expected_sum * product / stage.weight));
      }
      // Beside what waits there are the sends under way and the bundles in hand of one step.
      CHECK(pool.most() <= step.program().slots + step.program().buffers + 4 + 3);
      CHECK(pool.live() == 0);
    });
  }
}

namespace {

/// How many of them live in the whole process.
struct Counted {
  static inline std::atomic<int> live = 0;
  static inline std::atomic<int> most = 0;

  Counted() { add(); }
  Counted(const Counted&) { add(); }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --live; }
  static void add() {
    int now = ++live;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) continue;
  }
};

struct CountedBundle {
  using Value = int;
  std::vector<Counted> values{};

  static std::int64_t length(int, int) { return 64; }
  static int narrow(int, int, std::int64_t begin, std::int64_t) { return static_cast<int>(begin); }
  void append(int) { values.emplace_back(); }
};

struct CountedStage {
  std::vector<CountedBundle> saved{};
  int most_saved = 0;
  int saved_now = 0;

  void reserve(int slots) { saved.resize(static_cast<std::size_t>(slots)); }
  CountedBundle forward(MicroBatch micro_batch, CountedBundle inputs) {
    CountedBundle outputs = inputs;
    saved[static_cast<std::size_t>(micro_batch.slot)] = std::move(inputs);
    most_saved = std::max(most_saved, ++saved_now);
    return outputs;
  }
  template <class Loss>
  double forward_loss(MicroBatch micro_batch, CountedBundle inputs, const CountedBundle&, Loss&,
                      double) {
    forward(micro_batch, std::move(inputs));
    return 0;
  }
  CountedBundle backward(MicroBatch micro_batch, CountedBundle) {
    --saved_now;
    return std::exchange(saved[static_cast<std::size_t>(micro_batch.slot)], {});
  }
};

}  // namespace

TEST_CASE("C08: what 1F1B keeps does not grow with the micro-batches") {
  std::vector<int> buffers_before;
  for (const int micro_batches : {4, 16, 64}) {
    for (const Mode mode : all_modes) {
      const PipelineShape shape{.ranks = 4, .micro_batches = micro_batches};
      const int at_start = Counted::live;
      std::vector<int> buffers(4);
      Counted::most = at_start;
      const auto stages = run_pipeline<OneFOneB, CountedBundle>(
          shape, mode, [](int) { return CountedStage{}; }, mean_loss(0),
          [&](int rank, auto& step) {
            for (int run = 0; run < 3; ++run) {
              step.run({split(0)}, {});
              CHECK(step.peaks() == LivePeaks{4 - rank, step.program().buffers});
            }
            buffers[static_cast<std::size_t>(rank)] = step.program().buffers;
          });
      for (int rank = 0; rank < 4; ++rank) {
        CHECK(stages[static_cast<std::size_t>(rank)].most_saved == 4 - rank);
      }
      CHECK(Counted::live == at_start);
      if (buffers_before.empty()) buffers_before = buffers;
      CHECK(buffers == buffers_before);
    }
  }
}
