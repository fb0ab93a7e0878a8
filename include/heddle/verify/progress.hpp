#pragma once

#include <optional>

#include <heddle/core/order.hpp>
#include <heddle/verify/fault.hpp>
#include <heddle/verify/pairing.hpp>
#include <heddle/verify/scratch.hpp>

namespace heddle {

namespace detail {

/// Runs an order under the strongest transport: every rank strictly in sequence, and a transfer
/// ends when the other side has come to its partner, a step of all ranks when all have come to it.
/// Other steps take no part.
class Rendezvous {
 public:
  constexpr explicit Rendezvous(const Pairing& pairing)
      : pairing_{pairing}, at_{pairing.order().ranks()} {
    run();
  }

  /// The transfer that `rank` stands at: its last plus one when it has completed.
  constexpr int at(int rank) const { return at_.data()[rank]; }

  /// Whether `rank` stands at a transfer for ever.
  constexpr bool waits(int rank) const { return at(rank) < pairing_.first()[rank + 1]; }

  /// The rank that `rank` waits for; itself if what it waits for is nowhere. Requires:
  /// `waits(rank)`.
  constexpr int awaited(int rank) const {
    const int partner = pairing_.partner()[at(rank)];
    if (partner == Pairing::all_ranks) return absent(pairing_.step(at(rank)).kind, rank);
    return partner == Pairing::unmet ? rank : pairing_.rank()[partner];
  }

  /// Where the waiting of the lowest rank that waits leads to: the lowest rank of a circle, or the
  /// rank whose transfer has no partner. -1 if every rank has completed.
  constexpr int culprit() const {
    const int ranks = pairing_.order().ranks();
    int rank = 0;
    while (rank < ranks && !waits(rank)) ++rank;
    if (rank == ranks) return -1;
    for (int hop = 0; hop < ranks; ++hop) rank = awaited(rank);  // now inside the circle
    int lowest = rank;
    for (int next = awaited(rank); next != rank; next = awaited(next))
      lowest = next < lowest ? next : lowest;
    return lowest;
  }

 private:
  /// The lowest rank that has not come to the step of all ranks at which `rank` stands. It waits
  /// elsewhere: it has not left that step, as `rank` has not.
  constexpr int absent(StepKind kind, int rank) const {
    for (int other = 0; other < pairing_.order().ranks(); ++other) {
      if (waits(other) && pairing_.step(at(other)).kind != kind) return other;
    }
    return rank;
  }

  /// Whether all ranks stand at the step of all ranks at which `rank` has arrived.
  constexpr bool all_arrive(int rank, int* arrived) const {
    const int transfer = at(rank);
    const bool broadcasts = pairing_.step(transfer).kind == StepKind::broadcast_tower;
    return ++arrived[broadcasts ? 0 : 1] == pairing_.order().ranks();
  }

  constexpr void run() {
    const int ranks = pairing_.order().ranks();
    const int* const first = pairing_.first();
    const int* const partner = pairing_.partner();
    const int* const rank_of = pairing_.rank();
    int* const at = at_.data();
    Scratch<int> stack{ranks};  // ranks that may be able to go on, each once
    Scratch<bool> stacked{ranks};
    Scratch<bool> stands{ranks};  // at a step of all ranks
    int arrived[2]{};             // at the broadcast, at the reduction
    int size = ranks;
    for (int rank = 0; rank < ranks; ++rank) {
      at[rank] = first[rank];
      stack.data()[rank] = rank;
      stacked.data()[rank] = true;
    }
    while (size > 0) {
      const int rank = stack.data()[--size];
      stacked.data()[rank] = false;
      const int end = first[rank + 1];
      int own = at[rank];
      while (own < end && partner[own] >= 0) {
        const int other = partner[own];
        const int peer = rank_of[other];
        if (at[peer] != other) break;
        ++own;
        at[peer] = other + 1;
        if (!stacked.data()[peer]) {
          stacked.data()[peer] = true;
          stack.data()[size++] = peer;
        }
      }
      at[rank] = own;
      if (own == end || partner[own] != Pairing::all_ranks || stands.data()[rank]) continue;
      stands.data()[rank] = true;
      if (!all_arrive(rank, arrived)) continue;
      for (int other = 0; other < ranks; ++other) {
        ++at[other];
        stands.data()[other] = false;
        stack.data()[other] = other;
        stacked.data()[other] = true;
      }
      size = ranks;
    }
  }

  const Pairing& pairing_;
  Scratch<int> at_;
};

/// The step that `rank` has of a step of all ranks.
constexpr Step of_rank(Step step, int rank) {
  if (step.kind == StepKind::broadcast_tower) step.micro_batch = rank;
  return step;
}

constexpr std::optional<Fault> progress_fault(const Pairing& pairing,
                                              const Rendezvous& rendezvous) {
  const int rank = rendezvous.culprit();
  if (rank < 0) return std::nullopt;
  const int transfer = rendezvous.at(rank);
  if (pairing.partner()[transfer] == Pairing::all_ranks) {
    const Step step = pairing.step(transfer);
    const int other = rendezvous.awaited(rank);
    return fault_at(pairing.order(), FaultKind::wait_cycle, rank, pairing.position()[transfer],
                    other, of_rank(step, other));
  }
  const bool endless = pairing.partner()[transfer] == Pairing::unmet;
  return pairing.fault_of(endless ? FaultKind::endless_wait : FaultKind::wait_cycle, transfer);
}

}  // namespace detail

/// Law 4: the order completes when every rank runs its list strictly in sequence, every send blocks
/// until its receive is posted, and a broadcast or reduction of the tower until all ranks have come
/// to it. What completes so completes under every other transport.
///
/// Requires: `coverage_fault` found nothing.
/// Complexity: linear in steps and in (stage, micro-batch) pairs.
constexpr std::optional<Fault> progress_fault(OrderView order) {
  const detail::Pairing pairing{order};
  return detail::progress_fault(pairing, detail::Rendezvous{pairing});
}

}  // namespace heddle
