#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <heddle/exec/in_process.hpp>
#include <heddle/exec/run_ranks.hpp>

using namespace heddle;

namespace {

using Words = std::vector<std::string>;

Deadline in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

MessageId activation(int micro_batch, int run = 0) {
  return {{StepKind::send_activation, micro_batch, 0}, run};
}

constexpr std::chrono::milliseconds soon{50};
constexpr std::chrono::seconds late{20};

}  // namespace

TEST_CASE("messages of a pair of ranks are taken in the order in which they were sent") {
  for (const Transport transport : {Transport::buffered, Transport::rendezvous}) {
    InProcessGroup<Words> group{2, {.transport = transport, .deadline = late}};
    run_ranks(2, [&](int rank) {
      auto communicator = group.communicator(rank);
      if (rank == 0) {
        for (const char* word : {"warp", "weft"}) {
          communicator.send({word}, 1, activation(word[1] == 'a' ? 0 : 1));
        }
      } else {
        auto first = communicator.receive(0, activation(0));
        auto second = communicator.receive(0, activation(1));
        CHECK(second.wait(in(late)) == Words{"weft"});
        CHECK(first.test());
        CHECK(first.wait(in(late)) == Words{"warp"});
      }
    });
  }
}

TEST_CASE("a buffered send returns at once, one that meets its receive only when that is posted") {
  for (const Transport transport : {Transport::buffered, Transport::rendezvous}) {
    InProcessGroup<Words> group{2, {.transport = transport, .deadline = late}};
    std::atomic<bool> is_posted = false;
    run_ranks(2, [&](int rank) {
      auto communicator = group.communicator(rank);
      if (rank == 0) {
        communicator.send({"warp"}, 1, activation(0));
        if (transport == Transport::rendezvous) CHECK(is_posted);
      } else {
        std::this_thread::sleep_for(soon);
        is_posted = true;
        CHECK(communicator.receive(0, activation(0)).wait(in(late)) == Words{"warp"});
      }
    });
  }
}

TEST_CASE("a message that is not the expected one is refused, and both are named") {
  InProcessGroup<Words> group{2};
  auto sender = group.communicator(0);
  auto receiver = group.communicator(1);
  sender.send({"warp"}, 1, activation(3));
  CHECK_THROWS_WITH_AS(
      receiver.receive(0, activation(2)).wait(in(soon)),
      "rank 1 expected the send of the activation of micro-batch 2 on stage 0 in run 0 from rank "
      "0, "
      "but got the send of the activation of micro-batch 3 on stage 0 in run 0; all ranks must run "
      "the same order and make the same calls",
      Error);
  sender.send({"weft"}, 1, activation(0, -1));
  CHECK_THROWS_AS(receiver.receive(0, activation(0, 0)).wait(in(soon)), Error);
}

TEST_CASE("sums over all ranks are the same on each, time after time") {
  InProcessGroup<Words> group{3};
  run_ranks(3, [&](int rank) {
    auto communicator = group.communicator(rank);
    for (int round = 0; round < 50; ++round) {
      std::vector<double> numbers{1.0 * rank, 0.1 * round};
      communicator.all_reduce_sum(numbers, in(late));
      CHECK(numbers == std::vector<double>{3, 0.1 * round + 0.1 * round + 0.1 * round});
    }
  });
}

TEST_CASE("ranks that do not come to a sum are named") {
  InProcessGroup<Words> group{3};
  auto communicator = group.communicator(1);
  std::vector<double> numbers{1};
  CHECK_THROWS_WITH_AS(communicator.all_reduce_sum(numbers, in(soon)),
                       "rank 1: the agreement of all ranks waited for rank 0 2 past its deadline",
                       TimeoutError);
}

TEST_CASE("once a rank has given up, every wait and every new call ends with its reason") {
  InProcessGroup<Words> group{3, {.transport = Transport::rendezvous, .deadline = late}};
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<int> told = 0;
  run_ranks(3, [&](int rank) {
    auto communicator = group.communicator(rank);
    const auto is_told = [&](auto call) {
      try {
        call();
      } catch (const PipelineError& error) {
        CHECK(error.origin.message == "a thread broke");
        CHECK(error.origin.rank == 2);
        ++told;
      }
    };
    if (rank == 0) is_told([&] { communicator.send({}, 1, activation(0)); });
    if (rank == 1) is_told([&] { communicator.receive(2, activation(0)).wait(in(late)); });
    if (rank == 2) {
      std::this_thread::sleep_for(soon);
      communicator.abort({2, forward(0, 2), "a thread broke"});
    }
    std::vector<double> numbers{1};
    is_told([&] { communicator.all_reduce_sum(numbers, in(late)); });
  });
  CHECK(told == 5);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{5});
}

TEST_CASE("run_ranks joins all ranks and throws what happened, not its echo") {
  std::atomic<int> joined = 0;
  const auto run = [&](auto work) {
    joined = 0;
    run_ranks(3, [&](int rank) {
      ++joined;
      work(rank);
    });
  };
  CHECK_THROWS_WITH_AS(run([](int rank) {
                         if (rank == 1) throw std::logic_error("before any run");
                       }),
                       "before any run", std::logic_error);
  CHECK(joined == 3);
  CHECK_THROWS_WITH_AS(run([](int rank) {
                         std::this_thread::sleep_for(std::chrono::milliseconds{rank == 2 ? 60 : 0});
                         throw PipelineError{rank, {2, forward(0, 2), "broken"}};
                       }),
                       "the run ended on rank 2; it began at rank 2, forward of micro-batch 0 on "
                       "stage 2: broken",
                       PipelineError);
  CHECK_THROWS_AS(InProcessGroup<Words>{2}.communicator(2), Error);
}
