#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <heddle/core/order.hpp>
#include <heddle/core/text.hpp>
#include <heddle/verify/causality.hpp>
#include <heddle/verify/coverage.hpp>
#include <heddle/verify/fault.hpp>
#include <heddle/verify/matching.hpp>
#include <heddle/verify/pairing.hpp>
#include <heddle/verify/progress.hpp>
#include <heddle/verify/report.hpp>

namespace heddle {

namespace detail {

/// The transfers at which the ranks of a circle stand, in the order of their waiting; of a wait
/// that never ends, that transfer alone.
inline std::vector<Action> waiting_actions(const Pairing& pairing, const Rendezvous& rendezvous) {
  std::vector<Action> actions;
  const int culprit = rendezvous.culprit();
  for (int rank = culprit; actions.empty() || rank != culprit; rank = rendezvous.awaited(rank)) {
    const int transfer = rendezvous.at(rank);
    actions.push_back({rank, pairing.position()[transfer], pairing.step(transfer)});
  }
  return actions;
}

inline FaultReport report_of(OrderView order, const Fault& fault, std::vector<Action> cycle = {}) {
  FaultReport report{fault, {}, std::move(cycle)};
  report.sentence = describe(order, report);
  return report;
}

}  // namespace detail

/// The first fault of `order`, in words, if it has one: asks coverage, matching, causality and
/// progress in turn.
///
/// An order may come from anywhere: any table of stages, with or without data steps, with steps of
/// other systems and of the user. One without fault ends under blocking sends and computes
/// everything once, from what it needs. Complexity: linear in steps, in (stage, micro-batch) pairs
/// and in pairs of ranks.
inline std::optional<FaultReport> verify(OrderView order) {
  if (const auto fault = coverage_fault(order)) return detail::report_of(order, *fault);
  const detail::Pairing pairing{order};
  if (const auto fault = detail::matching_fault(pairing)) {
    if (fault->kind != FaultKind::overtaken_receive) return detail::report_of(order, *fault);
    const detail::Rendezvous rendezvous{pairing};
    return detail::report_of(order, *fault, detail::waiting_actions(pairing, rendezvous));
  }
  if (const auto fault = causality_fault(order)) return detail::report_of(order, *fault);
  const detail::Rendezvous rendezvous{pairing};
  if (const auto fault = detail::progress_fault(pairing, rendezvous)) {
    return detail::report_of(order, *fault, detail::waiting_actions(pairing, rendezvous));
  }
  return std::nullopt;
}

}  // namespace heddle
