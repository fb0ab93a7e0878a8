#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <heddle/core/order.hpp>
#include <heddle/core/step.hpp>
#include <heddle/verify/fault.hpp>
#include <heddle/verify/scratch.hpp>
#include <heddle/verify/tower_coverage.hpp>

namespace heddle::detail {

/// Gives each message of an order a row: its kind and the stage that produces it. Together with the
/// micro-batch that is its identity, the same seen from the send and from the receive.
class MessageRows {
 public:
  static constexpr int none = -1;

  constexpr explicit MessageRows(OrderView order)
      : stages_{order.shape.stages()},
        gradients_{stages_ + 1},
        data_{2 * stages_ + 3},
        tower_{3 * stages_ + 4},
        permitted_{count()} {
    using enum StepKind;
    for (int kind = 0; kind < kinds; ++kind) first_[kind] = none;
    set(send_activation, 1);
    set(receive_activation, 0);
    set(send_gradient, gradients_ + 1);
    set(receive_gradient, gradients_ + 2);
    set(send_data, data_ + 1);
    set(receive_data, data_);
    set(send_feature, tower_ + 1);
    set(receive_feature, tower_ + 1);
    set(send_tower_input, tower_ + 3);
    set(receive_tower_input, tower_ + 3);
    set(send_feature_gradient, tower_ + 5);
    set(receive_and_tower_backward, tower_ + 5);
    permit(order);
  }

  /// Rows that there are.
  constexpr int count() const { return tower_ + 6; }

  /// For each kind the row of its stage 0; `none` if it is no transfer.
  constexpr const int* first() const { return first_; }

  /// By row: whether an order may have such messages.
  constexpr const std::uint8_t* permitted() const { return permitted_.data(); }

  /// The row of data from the tower's owner, whose receive has no stage before it.
  constexpr int source_data() const { return data_; }

  static constexpr int kinds = static_cast<int>(StepKind::receive_and_tower_backward) + 1;

 private:
  constexpr void set(StepKind kind, int row) { first_[static_cast<int>(kind)] = row; }

  // A row counts stages from -1, so that the neighbours of the ends have rows too, which nothing
  // permits.
  constexpr void permit(OrderView order) {
    for (int stage = 0; stage + 1 < stages_; ++stage) {
      const bool crosses = order.crosses_after(stage);
      permitted_.data()[stage + 1] = crosses;
      permitted_.data()[data_ + stage + 1] = crosses;
      permitted_.data()[gradients_ + stage + 2] =
          crosses && stage >= order.shape.first_trained_stage;
    }
    permitted_.data()[data_] = true;
    for (int row = tower_; row < count(); ++row) permitted_.data()[row] = true;
  }

  int stages_;
  int gradients_;
  int data_;
  int tower_;
  int first_[kinds]{};
  Scratch<std::uint8_t> permitted_;
};

/// The transfers of an order, rank by rank, each with the transfer that it meets, and between them
/// the steps that all ranks do together. Other steps are left out.
///
/// Requires: `coverage_fault` found nothing.
class Pairing {
 public:
  static constexpr int unmet = -1;
  static constexpr int all_ranks = -2;  ///< the partner of a step that all ranks do together

  constexpr explicit Pairing(OrderView order)
      : order_{order},
        first_{order.ranks() + 1},
        position_{order.steps.size()},
        rank_{order.steps.size()},
        partner_{order.steps.size()},
        sends_{order.steps.size()} {
    pair();
  }

  constexpr OrderView order() const { return order_; }

  /// By rank, its first transfer; the transfers of all ranks are numbered one behind the other.
  constexpr const int* first() const { return first_.data(); }

  /// By transfer: where it stands in the list of its rank, its rank, the transfer that it meets or
  /// `unmet`, and whether it is a send.
  constexpr const int* position() const { return position_.data(); }
  constexpr const int* rank() const { return rank_.data(); }
  constexpr const int* partner() const { return partner_.data(); }
  constexpr const bool* sends() const { return sends_.data(); }

  constexpr Step step(int transfer) const {
    return order_.rank(rank()[transfer])[static_cast<std::size_t>(position()[transfer])];
  }

  /// A fault of `transfer` with the transfer that it meets, or with the one that it misses.
  /// Requires: it is no step of all ranks.
  constexpr Fault fault_of(FaultKind kind, int transfer) const {
    const int partner_of_it = partner()[transfer];
    if (partner_of_it != unmet) return fault_of_two(kind, transfer, partner_of_it);
    const Step own = step(transfer);
    const Step missing = sends()[transfer] ? matching_receive(own) : matching_send(own);
    return {.kind = kind,
            .rank = rank()[transfer],
            .position = position()[transfer],
            .step = own,
            .other_rank = home_of(order_, missing),
            .other_step = missing};
  }

  /// The first transfer that cannot be paired: no such message is permitted, or it is there
  /// already.
  constexpr std::optional<Fault> fault() const { return fault_; }

 private:
  constexpr void pair() {
    const MessageRows rows{order_};
    // By message: 0, or 1 + its send, or -1 - its receive, whichever came first.
    Scratch<int> waiting{static_cast<std::size_t>(rows.count()) *
                         static_cast<std::size_t>(order_.shape.micro_batches)};
    int transfer = 0;
    for (int rank = 0; rank < order_.ranks(); ++rank) {
      first_.data()[rank] = transfer;
      transfer = pair(rank, transfer, rows, waiting.data());
    }
    first_.data()[order_.ranks()] = transfer;
  }

  /// Pairs the transfers of one rank, numbered from `transfer` on; the number after the last.
  constexpr int pair(int rank, int transfer, const MessageRows& rows, int* waiting) {
    const int begin = order_.offsets[static_cast<std::size_t>(rank)];
    const int end = order_.offsets[static_cast<std::size_t>(rank) + 1];
    const Step* const steps = order_.steps.data();
    const int* const first_row = rows.first();
    const std::uint8_t* const permitted = rows.permitted();
    for (int at = begin; at < end; ++at) {
      const Step& step = steps[at];
      const int kind = static_cast<int>(step.kind);
      if (kind >= MessageRows::kinds || first_row[kind] < 0) {
        if (is_collective(step.kind)) add(transfer++, rank, at - begin, all_ranks);
        continue;
      }
      int row = first_row[kind] + step.stage;
      if (step.kind == StepKind::receive_data && step.stage <= 0)
        row = step.stage < 0 ? rows.source_data() : 0;
      if (permitted[row] == 0) {
        refuse(fault_of_unpermitted(rank, at - begin));
        continue;
      }
      add(transfer, rank, at - begin, unmet);
      sends_.data()[transfer] = is_send(step.kind);
      meet(transfer++, waiting[row * order_.shape.micro_batches + step.micro_batch]);
    }
    return transfer;
  }

  constexpr void add(int transfer, int rank, int position, int partner) {
    position_.data()[transfer] = position;
    rank_.data()[transfer] = rank;
    partner_.data()[transfer] = partner;
  }

  constexpr void meet(int transfer, int& waiting) {
    const bool sends = sends_.data()[transfer];
    int* const partner = partner_.data();
    if (waiting == 0) {
      waiting = sends ? 1 + transfer : -1 - transfer;
      return;
    }
    const int other = waiting > 0 ? waiting - 1 : -1 - waiting;
    if ((waiting > 0) == sends) return refuse(fault_of_repeated(transfer, other));
    if (partner[other] != unmet) return refuse(fault_of_repeated(transfer, partner[other]));
    if (rank_.data()[other] == rank_.data()[transfer])
      return refuse(fault_of_self_send(transfer, other));
    partner[transfer] = other;
    partner[other] = transfer;
  }

  constexpr void refuse(const Fault& fault) {
    if (!fault_) fault_ = fault;
  }

  constexpr Fault fault_of_unpermitted(int rank, int position) const {
    Fault fault = fault_at(order_, FaultKind::no_neighbour, rank, position);
    const Step step = fault.step;
    const bool sends = is_send(step.kind);
    const bool gradient =
        step.kind == StepKind::send_gradient || step.kind == StepKind::receive_gradient;
    const int neighbour = step.stage + (sends == gradient ? -1 : 1);
    if (neighbour < 0 || neighbour >= order_.shape.stages()) return fault;
    fault.kind = order_.rank_of(neighbour) == rank ? FaultKind::neighbour_on_rank
                                                   : FaultKind::untrained_gradient;
    return fault;
  }

  constexpr Fault fault_of_two(FaultKind kind, int transfer, int other) const {
    return {.kind = kind,
            .rank = rank()[transfer],
            .position = position()[transfer],
            .step = step(transfer),
            .other_rank = rank()[other],
            .other_position = position()[other],
            .other_step = step(other)};
  }

  constexpr Fault fault_of_repeated(int transfer, int earlier) const {
    const auto kind = sends()[transfer] ? FaultKind::send_twice : FaultKind::receive_twice;
    return fault_of_two(kind, transfer, earlier);
  }

  constexpr Fault fault_of_self_send(int transfer, int other) const {
    return sends()[transfer] ? fault_of_two(FaultKind::send_to_itself, transfer, other)
                             : fault_of_two(FaultKind::send_to_itself, other, transfer);
  }

  OrderView order_;
  Scratch<int> first_;
  Scratch<int> position_;
  Scratch<int> rank_;
  Scratch<int> partner_;
  Scratch<bool> sends_;
  std::optional<Fault> fault_;
};

}  // namespace heddle::detail
