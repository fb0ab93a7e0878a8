#pragma once

#include <chrono>
#include <concepts>
#include <span>
#include <string>
#include <utility>

#include <heddle/core/step.hpp>
#include <heddle/core/step_names.hpp>
#include <heddle/exec/bundle.hpp>
#include <heddle/exec/failure.hpp>

namespace heddle {

/// When a wait gives up.
using Deadline = std::chrono::steady_clock::time_point;

/// Who a message is: the send step that posts it and the number of the run. Runs that train count
/// 0, 1, 2, ..., evaluations -1, -2, -3, ... It travels with the message or is agreed by order, and
/// a receive that gets another one is an error.
struct MessageId {
  Step send;
  int run = 0;

  friend constexpr bool operator==(const MessageId&, const MessageId&) = default;
};

/// `send of the activation of micro-batch 3 on stage 1 in run 0`, to stand in a sentence.
inline std::string describe(const MessageId& id) {
  std::string text = words_of(id.send.kind) + " of micro-batch " +
                     std::to_string(id.send.micro_batch) + " on stage " +
                     std::to_string(id.send.stage);
  if (id.run >= 0) return text + " in run " + std::to_string(id.run);
  return text + " in evaluation " + std::to_string(-1 - id.run);
}

/// A send under way; it owns its bundle until the transport has let go of it.
template <class Request>
concept send_request = std::movable<Request> && std::default_initializable<Request> &&
                       requires(Request& request, Deadline deadline) {
                         { request.test() } -> std::convertible_to<bool>;
                         request.wait(deadline);
                       };

/// A receive under way; `wait` hands over what came.
template <class Request, class Bundle>
concept receive_request = std::movable<Request> && std::default_initializable<Request> &&
                          requires(Request& request, Deadline deadline) {
                            { request.test() } -> std::convertible_to<bool>;
                            { request.wait(deadline) } -> std::convertible_to<Bundle>;
                          };

template <class Communicator>
concept has_rank = requires(const Communicator& communicator) {
  { communicator.rank() } -> std::convertible_to<int>;
  { communicator.size() } -> std::convertible_to<int>;
};

template <class Communicator>
concept has_send = requires(Communicator& communicator, typename Communicator::Bundle bundle,
                            int peer, MessageId id) {
  { communicator.send(std::move(bundle), peer, id) } -> send_request;
};

template <class Communicator>
concept has_receive = requires(Communicator& communicator, int peer, MessageId id) {
  { communicator.receive(peer, id) } -> receive_request<typename Communicator::Bundle>;
};

/// A sum over all ranks of a few numbers on the host, in place: flags and counts, never gradients.
template <class Communicator>
concept has_all_reduce_sum =
    requires(Communicator& communicator, std::span<double> numbers, Deadline deadline) {
      communicator.all_reduce_sum(numbers, deadline);
    };

template <class Communicator>
concept has_abort =
    requires(Communicator& communicator, const Failure& failure) { communicator.abort(failure); };

/// Carries bundles between ranks.
///
/// **Semantics.** `send` and `receive` post and return (a `send` may also block until its receive
/// is posted: orders are proved for that). Between two ranks, messages in one direction are taken
/// in the order in which they were sent. `wait` returns when the transfer is done, throws
/// `TimeoutError` past the deadline, and throws `PipelineError` with the origin once any rank has
/// called `abort`, which every pending and later call on every rank does within a deadline. Objects
/// of this concept are used by one thread.
template <class Communicator>
concept communicator =
    bundle<typename Communicator::Bundle> && has_rank<Communicator> && has_send<Communicator> &&
    has_receive<Communicator> && has_all_reduce_sum<Communicator> && has_abort<Communicator>;

}  // namespace heddle
