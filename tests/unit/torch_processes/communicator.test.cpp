#include <heddle/torch/c10d_communicator.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include <heddle/exec/communicator.hpp>

#include "across_processes.hpp"
#include "gloo.hpp"

using heddle::BoundaryShapes;
using heddle::C10dCommunicator;
using heddle::MessageId;
using heddle::ProcessEnvironment;
using heddle::StepKind;
using heddle::TorchBundle;
using heddle_example::gloo_communicator;
using heddle_test::across_processes;
using heddle_test::in;
using heddle_test::soon;

static_assert(heddle::communicator<C10dCommunicator>);

namespace {

MessageId activation(int micro_batch, int stage = 0, int run = 0) {
  return {{StepKind::send_activation, micro_batch, stage}, run};
}

MessageId gradient(int micro_batch, int stage = 1, int run = 0) {
  return {{StepKind::send_gradient, micro_batch, stage}, run};
}

at::Tensor rows(int count, double value) { return at::full({count, 3}, value, at::kFloat); }

/// The sentence of the `Expected` that `call` throws.
template <class Expected, class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Expected& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string{"another exception: "} + error.what();
  }
  return "no exception";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a bundle of mixed dtypes with an absent slot crosses between processes exactly") {
  across_processes(2, [](const ProcessEnvironment& environment) {
    auto communicator = gloo_communicator(environment);
    const at::Tensor floats = at::arange(12, at::kFloat).view({3, 4}).set_requires_grad(true);
    const at::Tensor mask = at::arange(6, at::kLong).remainder(2).to(at::kBool).view({2, 3});
    const at::Tensor tokens = at::arange(8, at::kLong).mul(1'000'000'007).view({2, 4});
    const at::Tensor empty = at::empty({0, 5}, at::kDouble);
    for (int micro_batch = 0; micro_batch < 3; ++micro_batch) {
      if (communicator.rank() == 0) {
        // a transposed view: what travels is its content, not its memory
        TorchBundle bundle{floats, mask, at::Tensor{}, tokens.t(), empty};
        auto request = communicator.send(std::move(bundle), 1, activation(micro_batch));
        request.wait(soon());
      } else {
        const auto slots = communicator.receive(0, activation(micro_batch)).wait(soon()).slots();
        REQUIRE(slots.size() == 5);
        CHECK(slots[0].equal(floats));
        CHECK(slots[0].requires_grad());
        CHECK(slots[1].equal(mask));
        CHECK_FALSE(slots[2].defined());
        CHECK(slots[3].equal(tokens.t()));
        CHECK_FALSE(slots[3].requires_grad());
        CHECK(slots[4].sizes() == at::IntArrayRef{0, 5});
      }
    }
  });
}

TEST_CASE("gradients come back without a description and zeros stand for those that are absent") {
  across_processes(2, [](const ProcessEnvironment& environment) {
    auto communicator = gloo_communicator(environment);
    if (communicator.rank() == 0) {
      TorchBundle bundle{rows(2, 1).set_requires_grad(true), at::ones({4}, at::kLong),
                         rows(5, 2).set_requires_grad(true)};
      auto back = communicator.send(std::move(bundle), 1, activation(0));
      auto request = communicator.receive(1, gradient(0));
      back.wait(soon());
      const auto slots = request.wait(soon()).slots();
      REQUIRE(slots.size() == 3);
      CHECK(slots[0].equal(rows(2, 7)));
      CHECK_FALSE(slots[1].defined());
      CHECK(slots[2].equal(rows(5, 0)));
    } else {
      communicator.receive(0, activation(0)).wait(soon());
      TorchBundle bundle{rows(2, 7), at::Tensor{}, at::Tensor{}};
      communicator.send(std::move(bundle), 0, gradient(0)).wait(soon());
    }
  });
}

TEST_CASE("receives posted ahead of their description are filled once it has come") {
  across_processes(2, [](const ProcessEnvironment& environment) {
    for (const auto shapes : {BoundaryShapes::fixed, BoundaryShapes::per_step}) {
      auto communicator =
          gloo_communicator(environment, shapes, "mode" + std::to_string(static_cast<int>(shapes)));
      for (int run = 0; run < 2; ++run) {
        if (communicator.rank() == 0) {
          for (int i = 0; i < 4; ++i) {
            communicator.send(TorchBundle{rows(2, i)}, 1, activation(i, 0, run)).wait(soon());
          }
        } else {
          std::vector<heddle::C10dReceive> requests;
          for (int i = 0; i < 4; ++i) {
            requests.push_back(communicator.receive(0, activation(i, 0, run)));
          }
          for (const int i : {2, 0, 3, 1}) {  // not the order of posting
            CHECK(
                requests[static_cast<std::size_t>(i)].wait(soon()).slots().at(0).equal(rows(2, i)));
          }
        }
      }
    }
  });
}

TEST_CASE("shapes change with each run or with each micro-batch where that was asked for") {
  across_processes(2, [](const ProcessEnvironment& environment) {
    for (const auto shapes : {BoundaryShapes::per_step, BoundaryShapes::per_micro_batch}) {
      const bool each = shapes == BoundaryShapes::per_micro_batch;
      auto communicator =
          gloo_communicator(environment, shapes, "mode" + std::to_string(static_cast<int>(shapes)));
      const auto length = [&](int run, int i) { return 2 + 3 * run + (each ? i * i : 0); };
      for (int run = 0; run < 3; ++run) {
        for (int i = 0; i < 4; ++i) {
          const auto expected = rows(length(run, i), i);
          if (communicator.rank() == 0) {
            auto bundle = TorchBundle{expected.clone().set_requires_grad(true)};
            communicator.send(std::move(bundle), 1, activation(i, 0, run)).wait(soon());
          } else {
            const auto slots = communicator.receive(0, activation(i, 0, run)).wait(soon()).slots();
            CHECK(slots.at(0).equal(expected));
          }
        }
        for (int i = 3; i >= 0; --i) {  // gradients in another order than activations
          const auto expected = rows(length(run, i), -i);
          if (communicator.rank() == 0) {
            const auto slots = communicator.receive(1, gradient(i, 1, run)).wait(soon()).slots();
            CHECK(slots.at(0).equal(expected));
          } else {
            communicator.send(TorchBundle{expected}, 0, gradient(i, 1, run)).wait(soon());
          }
        }
      }
    }
  });
}

TEST_CASE("a description of many slots travels in two messages") {
  across_processes(2, [](const ProcessEnvironment& environment) {
    auto communicator = gloo_communicator(environment);
    constexpr int slots = 70;  // more than tags have parts
    if (communicator.rank() == 0) {
      TorchBundle bundle;
      for (int i = 0; i < slots; ++i) bundle.append(rows(1 + i % 3, i));
      communicator.send(std::move(bundle), 1, activation(0)).wait(soon());
    } else {
      const auto received = communicator.receive(0, activation(0)).wait(soon()).slots();
      REQUIRE(received.size() == slots);
      for (int i = 0; i < slots; ++i) {
        CHECK(received[static_cast<std::size_t>(i)].equal(rows(1 + i % 3, i)));
      }
    }
  });
}

TEST_CASE("another shape than the agreed one is refused on the sender with both shapes named") {
  across_processes(2, [](const ProcessEnvironment& environment) {
    auto communicator = gloo_communicator(environment);
    if (communicator.rank() != 0) {
      CHECK(communicator.receive(0, activation(0)).wait(soon()).slots().at(0).size(0) == 2);
      return;
    }
    communicator.send(TorchBundle{rows(2, 0)}, 1, activation(0)).wait(soon());
    const auto text = error_of<heddle::Error>(
        [&] { communicator.send(TorchBundle{rows(4, 0)}, 1, activation(1)); });
    CAPTURE(text);
    CHECK(contains(text, "micro-batch 1 on stage 0"));
    CHECK(contains(text, "Float [4, 3]"));
    CHECK(contains(text, "Float [2, 3]"));
    CHECK(contains(text, "per_micro_batch"));
  });
}

TEST_CASE("an evaluation of another shape leaves a fixed training boundary as it was") {
  across_processes(2, [](const ProcessEnvironment& environment) {
    auto communicator = gloo_communicator(environment);
    const auto exchange = [&](int run, const at::Tensor& tensor) {
      if (communicator.rank() == 0) {
        communicator.send(TorchBundle{tensor}, 1, activation(0, 0, run)).wait(soon());
      } else {
        const auto slots = communicator.receive(0, activation(0, 0, run)).wait(soon()).slots();
        CHECK(slots.at(0).equal(tensor));
        CHECK(slots.at(0).requires_grad() == tensor.requires_grad());
      }
    };
    exchange(-1, rows(3, 1));
    exchange(0, rows(2, 2).set_requires_grad(true));
    exchange(-2, rows(3, 3));
    exchange(1, rows(2, 4).set_requires_grad(true));
  });
}

TEST_CASE("messages of two edges between the same ranks do not swap") {
  across_processes(2, [](const ProcessEnvironment& environment) {
    auto communicator = gloo_communicator(environment);
    const int peer = 1 - communicator.rank();
    // stages 0 and 2 on rank 0, 1 and 3 on rank 1; received in the other order than sent
    if (communicator.rank() == 0) {
      auto first = communicator.send(TorchBundle{rows(2, 0)}, peer, activation(0, 0));
      auto second = communicator.send(TorchBundle{rows(2, 2)}, peer, activation(0, 2));
      CHECK(communicator.receive(peer, activation(0, 1))
                .wait(soon())
                .slots()
                .at(0)
                .equal(rows(2, 1)));
      first.wait(soon());
      second.wait(soon());
    } else {
      auto second = communicator.receive(peer, activation(0, 2));
      auto first = communicator.receive(peer, activation(0, 0));
      auto back = communicator.send(TorchBundle{rows(2, 1)}, peer, activation(0, 1));
      CHECK(second.wait(soon()).slots().at(0).equal(rows(2, 2)));
      CHECK(first.wait(soon()).slots().at(0).equal(rows(2, 0)));
      back.wait(soon());
    }
  });
}

TEST_CASE("numbers are summed over all processes") {
  across_processes(3, [](const ProcessEnvironment& environment) {
    auto communicator = gloo_communicator(environment);
    for (int round = 0; round < 3; ++round) {
      std::array<double, 2> numbers{1.0 + communicator.rank(), round * 0.5};
      communicator.all_reduce_sum(numbers, soon());
      CHECK(numbers == std::array<double, 2>{6.0, round * 1.5});
    }
  });
}

TEST_CASE("a wait past its deadline names what it waited for and from whom") {
  across_processes(2, [](const ProcessEnvironment& environment) {
    auto communicator = gloo_communicator(environment);
    if (communicator.rank() == 1) {
      auto request = communicator.receive(0, activation(5, 2));
      const auto text =
          error_of<heddle::TimeoutError>([&] { request.wait(in(std::chrono::milliseconds{300})); });
      CAPTURE(text);
      CHECK(contains(text, "activation of micro-batch 5 on stage 2"));
      CHECK(contains(text, "rank 0"));
    }
    std::array<double, 1> number{1.0};
    communicator.all_reduce_sum(number, soon());  // the connections still work
    CHECK(number[0] == 2.0);
  });
}

TEST_CASE("a failure on one rank ends the waits of all others with its words") {
  across_processes(3, [](const ProcessEnvironment& environment) {
    auto communicator = gloo_communicator(environment);
    if (communicator.rank() == 2) {
      communicator.abort({2, heddle::forward(3, 2), "out of memory\nand more"});
      CHECK_THROWS_AS(communicator.receive(0, activation(0)).wait(soon()), heddle::PipelineError);
      return;
    }
    const auto begin = std::chrono::steady_clock::now();
    try {
      if (communicator.rank() == 1) communicator.receive(0, activation(0)).wait(soon());
      std::array<double, 1> number{1.0};
      communicator.all_reduce_sum(number, soon());
      FAIL("no exception");
    } catch (const heddle::PipelineError& error) {
      CHECK(error.rank == communicator.rank());
      CHECK(error.origin.rank == 2);
      CHECK(error.origin.step == heddle::forward(3, 2));
      CHECK(error.origin.message == "out of memory\nand more");
    }
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{2});
  });
}

TEST_CASE("a rank that is killed ends the waits for it with an error that names it") {
  const heddle_test::AcrossOptions options{.statuses = {0, 128 + SIGKILL}};
  across_processes(
      2,
      [](const ProcessEnvironment& environment) {
        auto communicator = gloo_communicator(environment);
        if (communicator.rank() == 1) raise(SIGKILL);
        auto request = communicator.receive(1, activation(4, 1));
        const auto text = error_of<heddle::Error>([&] { request.wait(soon()); });
        CAPTURE(text);
        CHECK(contains(text, "lost its connection"));
        CHECK(contains(text, "activation of micro-batch 4 on stage 1"));
        CHECK(contains(text, "rank 1"));
      },
      options);
}
