#pragma once

#include <optional>

#include <heddle/core/order.hpp>
#include <heddle/verify/fault.hpp>
#include <heddle/verify/pairing.hpp>
#include <heddle/verify/scratch.hpp>

namespace heddle {

namespace detail {

/// The first receive of which a later message of the same channel was received earlier. A channel
/// leads from one rank to another and carries messages of every kind.
constexpr std::optional<Fault> overtaking_fault(const Pairing& pairing) {
  const int ranks = pairing.order().ranks();
  const int* const partner = pairing.partner();
  const int* const rank_of = pairing.rank();
  const bool* const sends = pairing.sends();
  Scratch<int> newest{ranks};  // by sending rank: 1 + its newest send that was received so far
  for (int rank = 0; rank < ranks; ++rank) {
    for (int sender = 0; sender < ranks; ++sender) newest.data()[sender] = 0;
    for (int transfer = pairing.first()[rank]; transfer < pairing.first()[rank + 1]; ++transfer) {
      if (sends[transfer] || partner[transfer] < 0) continue;
      const int other = partner[transfer];
      int& newest_send = newest.data()[rank_of[other]];
      if (other < newest_send) {
        return pairing.fault_of(FaultKind::overtaken_receive, transfer);
      }
      newest_send = other + 1;
    }
  }
  return std::nullopt;
}

constexpr std::optional<Fault> matching_fault(const Pairing& pairing) {
  if (pairing.fault()) return pairing.fault();
  const int* const partner = pairing.partner();
  const int count = pairing.first()[pairing.order().ranks()];
  for (int transfer = 0; transfer < count; ++transfer) {
    if (partner[transfer] != Pairing::unmet) continue;
    const bool sends = pairing.sends()[transfer];
    return pairing.fault_of(
        sends ? FaultKind::send_without_receive : FaultKind::receive_without_send, transfer);
  }
  return overtaking_fault(pairing);
}

}  // namespace detail

/// Law 2: each send has one receive of the same identity on the other side and the other way round,
/// none is needless, and from each rank to each other messages are received in the order in which
/// they are sent.
///
/// Requires: `coverage_fault` found nothing.
/// Complexity: linear in steps, in (stage, micro-batch) pairs and in pairs of ranks.
constexpr std::optional<Fault> matching_fault(OrderView order) {
  return detail::matching_fault(detail::Pairing{order});
}

}  // namespace heddle
