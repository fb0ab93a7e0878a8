#pragma once

#include <span>

#include <heddle/exec/communicator.hpp>
#include <heddle/exec/failure.hpp>
#include <heddle/exec/micro_batch.hpp>

/// The smallest model of each concept: everything is declared, nothing is defined. A negative test
/// breaks one atom of it.
namespace heddle_test::archetype {

struct Bundle {};

struct Stage {
  Bundle forward(heddle::MicroBatch micro_batch, Bundle inputs);
  Bundle backward(heddle::MicroBatch micro_batch, Bundle output_gradients);
};

struct LossStage : Stage {
  template <class Loss>
  double forward_loss(heddle::MicroBatch micro_batch, Bundle inputs, const Bundle& targets,
                      Loss& loss, double scale);
};

struct SendRequest {
  bool test();
  void wait(heddle::Deadline deadline);
};

struct ReceiveRequest {
  bool test();
  archetype::Bundle wait(heddle::Deadline deadline);
};

struct Communicator {
  using Bundle = archetype::Bundle;

  int rank() const;
  int size() const;
  SendRequest send(Bundle bundle, int peer, heddle::MessageId id);
  ReceiveRequest receive(int peer, heddle::MessageId id);
  void all_reduce_sum(std::span<double> numbers, heddle::Deadline deadline);
  void abort(const heddle::Failure& failure);
};

struct Observer {
  void begin(heddle::Step step);
  void end(heddle::Step step);
};

}  // namespace heddle_test::archetype
