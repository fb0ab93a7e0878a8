// A communicator of our own: a link on which every message takes a given time.

#include <chrono>
#include <cstdio>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include <heddle/heddle.hpp>

#include "layer.hpp"

using Clock = std::chrono::steady_clock;

// docs: begin
/// Delivers each bundle `delay` after it was sent. Models `heddle::communicator`.
struct SlowLink {
  using Bundle = matrix::MatrixBundle;

  struct Parcel {
    Bundle bundle;
    Clock::time_point arrival;
  };
  using Inner = heddle::InProcessCommunicator<Parcel>;

  struct ReceiveRequest {
    bool test() {
      if (!parcel && inner.test()) parcel = inner.wait(Clock::now());
      return parcel && parcel->arrival <= Clock::now();
    }
    Bundle wait(heddle::Deadline deadline) {
      if (!parcel) parcel = inner.wait(deadline);
      if (parcel->arrival > deadline) throw heddle::TimeoutError("the link is slower than allowed");
      std::this_thread::sleep_until(parcel->arrival);
      return std::move(parcel->bundle);
    }
    Inner::ReceiveRequest inner;
    std::optional<Parcel> parcel{};
  };

  int rank() const { return inner.rank(); }
  int size() const { return inner.size(); }
  auto send(Bundle bundle, int peer, heddle::MessageId id) {
    return inner.send({std::move(bundle), Clock::now() + delay}, peer, id);
  }
  ReceiveRequest receive(int peer, heddle::MessageId id) { return {inner.receive(peer, id)}; }
  void all_reduce_sum(std::span<double> numbers, heddle::Deadline deadline) {
    inner.all_reduce_sum(numbers, deadline);
  }
  void abort(const heddle::Failure& failure) { inner.abort(failure); }

  Inner inner;
  Clock::duration delay;
};
static_assert(heddle::communicator<SlowLink>);
// docs: end

int main() {
  constexpr heddle::PipelineShape shape{.ranks = 4, .micro_batches = 4};
  constexpr auto delay = std::chrono::milliseconds{5};
  const auto batch = matrix::random_matrix(8, 3, 1);
  const heddle::InProcessGroup<SlowLink::Parcel> group{shape.ranks};
  const auto begin = Clock::now();
  heddle::run_ranks(shape.ranks, [&](int rank) {
    SlowLink link{group.communicator(rank), delay};
    auto stages = heddle::local_stages<heddle::OneFOneB>(shape, rank, [](int stage) {
      return matrix::Layer{matrix::random_matrix(3, 3, static_cast<unsigned>(stage))};
    });
    heddle::Executor step{heddle::proved<heddle::OneFOneB, shape>, std::move(stages), link,
                          heddle::mean_loss(matrix::squared_error)};
    step.run({heddle::split(batch)}, {heddle::split(batch)});
  });
  // The first micro-batch passes three links on its way to the loss, and three on its way back.
  const auto time = Clock::now() - begin;
  std::printf("a step took %.1f ms\n", std::chrono::duration<double, std::milli>{time}.count());
  return time >= 6 * delay ? 0 : 1;
}
