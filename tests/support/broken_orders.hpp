#pragma once

#include <array>
#include <optional>
#include <string_view>

#include <heddle/core/order.hpp>
#include <heddle/core/shape.hpp>
#include <heddle/verify/causality.hpp>
#include <heddle/verify/coverage.hpp>
#include <heddle/verify/fault.hpp>
#include <heddle/verify/matching.hpp>
#include <heddle/verify/progress.hpp>

namespace heddle_test {

/// An order with one thing wrong, and what the laws say to it.
struct BrokenOrder {
  std::string_view what;
  heddle::PipelineShape shape;
  std::string_view text;
  heddle::FaultKind kind;
  int rank;
  int position;
  int other_rank;
  int other_position;
};

/// The first fault of the four laws, at compile time too.
constexpr std::optional<heddle::Fault> first_fault_of(heddle::OrderView order) {
  if (const auto fault = heddle::coverage_fault(order)) return fault;
  if (const auto fault = heddle::matching_fault(order)) return fault;
  if (const auto fault = heddle::causality_fault(order)) return fault;
  return heddle::progress_fault(order);
}

constexpr heddle::PipelineShape two_ranks{.ranks = 2, .micro_batches = 2};
constexpr heddle::PipelineShape two_ranks_once{.ranks = 2, .micro_batches = 1};
constexpr heddle::PipelineShape frozen_first{
    .ranks = 2, .micro_batches = 1, .first_trained_stage = 1};
constexpr heddle::PipelineShape one_rank{.ranks = 1, .stages_per_rank = 2, .micro_batches = 1};
constexpr heddle::PipelineShape alone{.ranks = 1, .micro_batches = 1};

// Of two micro-batches the first is rank 0's own, the second rank 1's.
constexpr std::string_view mpipe_frozen =
    "Mf0@-1 Mr1@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 / "
    "Mf1@-1 Ms1@-1 Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1";
constexpr std::string_view mpipe_recomputing =
    "Mb0@-1 Dl0@-1 Mf0@-1 Dr1@-1 Mr1@-1 Gr1@-1 F0@0 Ds0@0 Fs0@0 F1@0 Br0@0 Ds1@0 Fs1@0 B0@0 Mw0@-1 "
    "Br1@0 B1@0 Mw1@-1 / "
    "Mb1@-1 Dl1@-1 Mf1@-1 Ds1@-1 Ms1@-1 Gs1@-1 Dr0@1 Fr0@1 F0@1 B0@1 Bs0@1 Dr1@1 Fr1@1 F1@1 B1@1 "
    "Bs1@1";
constexpr std::string_view mpipe_by_owner =
    "Mb0@-1 Mf0@-1 Mr1@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 Es1@0 Rgx@0 / "
    "Mb1@-1 Mf1@-1 Ms1@-1 Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1 Er1@0 Rgx@0";

/// Orders without fault that the broken ones below come from.
struct SoundOrder {
  heddle::PipelineShape shape;
  std::string_view text;
};

constexpr auto sound_orders = std::to_array<SoundOrder>({
    {two_ranks,
     "F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 / "
     "Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1"},
    {two_ranks,
     "F0@0 Fs0@0 F1@0 Fs1@0 Br0@0 B0@0 Br1@0 B1@0 / "
     "Fr0@1 F0@1 Fr1@1 F1@1 B0@1 Bs0@1 B1@1 Bs1@1"},
    {two_ranks_once, "F0@0 Fs0@0 Br0@0 I0@0 W0@0 / Fr0@1 F0@1 I0@1 Bs0@1 W0@1"},
    {two_ranks_once, "Dl0@0 F0@0 Ds0@0 Fs0@0 Br0@0 B0@0 / Dr0@1 Fr0@1 Dl0@1 F0@1 B0@1 Bs0@1"},
    {frozen_first, "F0@0 Fs0@0 / Fr0@1 F0@1 B0@1"},
    {one_rank, "F0@0 F0@1 B0@1 B0@0"},
    {alone, "F0@0 B0@0"},
    {alone, "Dl0@-1 F0@0 B0@0"},
    {alone, "X3.0@0 F0@0 -2 Uux@0 X4.9@7 B0@0 Ug0@0"},
    {{.ranks = 2, .micro_batches = 1, .first_trained_stage = 2}, "F0@0 Fs0@0 / Fr0@1 F0@1"},
    {two_ranks, mpipe_frozen},
    {two_ranks, mpipe_recomputing},
    {two_ranks, mpipe_by_owner},
    {alone, "Mb0@-1 Mf0@-1 F0@0 I0@0 Mw0@-1 W0@0"},
    {alone, "Mb0@-1 Mf0@-1 F0@0 B0@0 Rgx@0"},
    {alone, "Dl0@-1 Mf0@-1 F0@0 B0@0"},
});

constexpr auto broken_orders = [] {
  using enum heddle::FaultKind;
  constexpr int none = heddle::no_position;
  return std::to_array<BrokenOrder>({
      // coverage
      {"a forward is dropped", two_ranks,
       "F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 / Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 B1@1 Bs1@1",
       missing_forward, 1, none, 1, none},
      {"a backward is dropped", two_ranks,
       "F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 / Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1",
       missing_backward, 0, none, 0, none},
      {"a forward is doubled", two_ranks_once, "F0@0 Fs0@0 F0@0 Br0@0 B0@0 / Fr0@1 F0@1 B0@1 Bs0@1",
       forward_twice, 0, 2, 0, 0},
      {"one backward comes twice, another never", two_ranks,
       "F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B0@0 / "
       "Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1",
       backward_twice, 0, 7, 0, 5},
      {"a half follows the whole backward", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 B0@0 / Fr0@1 F0@1 B0@1 Bs0@1 I0@1", backward_twice, 1, 4, 1, 2},
      {"the whole backward follows a half", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 B0@0 / Fr0@1 F0@1 I0@1 Bs0@1 B0@1", backward_twice, 1, 4, 1, 2},
      {"a weight half is doubled", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 I0@0 W0@0 W0@0 / Fr0@1 F0@1 B0@1 Bs0@1", backward_twice, 0, 5, 0, 4},
      {"a weight half stands alone", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 W0@0 / Fr0@1 F0@1 B0@1 Bs0@1", missing_input_half, 0, none, 0, 3},
      {"an input half stands alone", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 I0@0 / Fr0@1 F0@1 B0@1 Bs0@1", missing_weight_half, 0, none, 0, 3},
      {"a forward is for a micro-batch too many", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 B0@0 / Fr0@1 F1@1 B0@1 Bs0@1", micro_batch_out_of_range, 1, 1, 1, none},
      {"a transfer is for a micro-batch too many", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 B0@0 / Fr1@1 F0@1 B0@1 Bs0@1", micro_batch_out_of_range, 1, 0, 1, none},
      {"a backward is for a stage too many", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 B0@2 / Fr0@1 F0@1 B0@1 Bs0@1", stage_out_of_range, 0, 3, 0, none},
      {"a tower's transfer is for a stage of the body", two_ranks_once,
       "Ms0@1 F0@0 Fs0@0 Br0@0 B0@0 / Fr0@1 F0@1 B0@1 Bs0@1", stage_out_of_range, 0, 0, 0, none},
      {"a stage is on two ranks", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 B0@0 / F0@0 Fr0@1 F0@1 B0@1 Bs0@1", wrong_rank, 1, 0, 0, none},
      {"a transfer is on the wrong rank", two_ranks_once,
       "F0@0 Br0@0 B0@0 / Fs0@0 Fr0@1 F0@1 B0@1 Bs0@1", wrong_rank, 1, 0, 0, none},
      {"a load is on the wrong rank", two_ranks_once,
       "Dl0@1 F0@0 Fs0@0 Br0@0 B0@0 / Fr0@1 F0@1 B0@1 Bs0@1", wrong_rank, 0, 0, 1, none},
      {"a frozen stage runs backward", frozen_first, "F0@0 Fs0@0 B0@0 / Fr0@1 F0@1 B0@1",
       untrained_backward, 0, 2, 0, none},

      {"a tower forward is dropped", two_ranks,
       "Mf0@-1 Mr1@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 / Ms1@-1 Fr0@1 F0@1 B0@1 Bs0@1 "
       "Fr1@1 F1@1 B1@1 Bs1@1",
       missing_tower_forward, 1, none, 1, none},
      {"a tower forward is doubled", two_ranks,
       "Mf0@-1 Mr1@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 / Mf1@-1 Ms1@-1 Mf1@-1 Fr0@1 "
       "F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1",
       tower_forward_twice, 1, 2, 1, 0},
      {"a second rank runs the tower forward", two_ranks,
       "Mf0@-1 Mf1@-1 Mr1@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 / Mf1@-1 Ms1@-1 Fr0@1 "
       "F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1",
       wrong_rank, 1, 0, 0, none},
      {"features are sent by a rank that does not own them", two_ranks,
       "Mf0@-1 Mr1@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 / Mf1@-1 Ms1@-1 Ms0@-1 Fr0@1 "
       "F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1",
       wrong_rank, 1, 2, 0, none},
      {"features go to another rank than the first", two_ranks,
       "Mf0@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 / Mf1@-1 Ms1@-1 Mr1@-1 Fr0@1 F0@1 B0@1 "
       "Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1",
       wrong_rank, 1, 2, 0, none},
      {"a tower forward carries a stage", two_ranks,
       "Mf0@0 Mr1@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 / Mf1@-1 Ms1@-1 Fr0@1 F0@1 B0@1 "
       "Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1",
       stage_out_of_range, 0, 0, 0, none},
      {"a rank broadcasts under another's number", two_ranks,
       "Mb0@-1 Dl0@-1 Mf0@-1 Dr1@-1 Mr1@-1 Gr1@-1 F0@0 Ds0@0 Fs0@0 F1@0 Br0@0 Ds1@0 Fs1@0 B0@0 "
       "Mw0@-1 Br1@0 B1@0 Mw1@-1 / Mb0@-1 Dl1@-1 Mf1@-1 Ds1@-1 Ms1@-1 Gs1@-1 Dr0@1 Fr0@1 F0@1 B0@1 "
       "Bs0@1 Dr1@1 Fr1@1 F1@1 B1@1 Bs1@1",
       wrong_rank, 1, 0, 0, none},
      {"a rank leaves out the broadcast", two_ranks,
       "Mb0@-1 Dl0@-1 Mf0@-1 Dr1@-1 Mr1@-1 Gr1@-1 F0@0 Ds0@0 Fs0@0 F1@0 Br0@0 Ds1@0 Fs1@0 B0@0 "
       "Mw0@-1 Br1@0 B1@0 Mw1@-1 / Dl1@-1 Mf1@-1 Ds1@-1 Ms1@-1 Gs1@-1 Dr0@1 Fr0@1 F0@1 B0@1 Bs0@1 "
       "Dr1@1 Fr1@1 F1@1 B1@1 Bs1@1",
       missing_collective, 1, none, 1, none},
      {"a rank leaves out the reduction", two_ranks,
       "Mb0@-1 Mf0@-1 Mr1@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 Es1@0 / Mb1@-1 Mf1@-1 "
       "Ms1@-1 Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1 Er1@0 Rgx@0",
       missing_collective, 0, none, 0, none},
      {"a rank reduces twice", two_ranks,
       "Mb0@-1 Mf0@-1 Mr1@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 Es1@0 Rgx@0 / Mb1@-1 "
       "Mf1@-1 Ms1@-1 Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1 Er1@0 Rgx@0 Rgx@0",
       collective_twice, 1, 13, 1, 12},
      {"a tower backward is dropped", two_ranks,
       "Mb0@-1 Dl0@-1 Mf0@-1 Dr1@-1 Mr1@-1 Gr1@-1 F0@0 Ds0@0 Fs0@0 F1@0 Br0@0 Ds1@0 Fs1@0 B0@0 "
       "Mw0@-1 Br1@0 B1@0 / Mb1@-1 Dl1@-1 Mf1@-1 Ds1@-1 Ms1@-1 Gs1@-1 Dr0@1 Fr0@1 F0@1 B0@1 Bs0@1 "
       "Dr1@1 Fr1@1 F1@1 B1@1 Bs1@1",
       missing_tower_backward, 0, none, 0, none},
      {"a tower backward is doubled", two_ranks,
       "Mb0@-1 Dl0@-1 Mf0@-1 Dr1@-1 Mr1@-1 Gr1@-1 F0@0 Ds0@0 Fs0@0 F1@0 Br0@0 Ds1@0 Fs1@0 B0@0 "
       "Mw0@-1 Br1@0 B1@0 Mw1@-1 Mw0@-1 / Mb1@-1 Dl1@-1 Mf1@-1 Ds1@-1 Ms1@-1 Gs1@-1 Dr0@1 Fr0@1 "
       "F0@1 B0@1 Bs0@1 Dr1@1 Fr1@1 F1@1 B1@1 Bs1@1",
       tower_backward_twice, 0, 18, 0, 14},
      {"an owner's tower backward is dropped on both sides", two_ranks,
       "Mb0@-1 Mf0@-1 Mr1@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 Rgx@0 / Mb1@-1 Mf1@-1 "
       "Ms1@-1 Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1 Rgx@0",
       missing_tower_backward, 1, none, 1, none},
      {"both the first rank and the owner run the tower backward", two_ranks,
       "Mb0@-1 Mf0@-1 Mr1@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 Mw1@-1 Es1@0 Rgx@0 / "
       "Mb1@-1 Mf1@-1 Ms1@-1 Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1 Er1@0 Rgx@0",
       tower_backward_twice, 1, 11, 0, 11},

      // matching
      {"a send is dropped", two_ranks_once, "F0@0 Br0@0 B0@0 / Fr0@1 F0@1 B0@1 Bs0@1",
       receive_without_send, 1, 0, 0, none},
      {"a receive is dropped", two_ranks_once, "F0@0 Fs0@0 B0@0 / Fr0@1 F0@1 B0@1 Bs0@1",
       send_without_receive, 1, 3, 0, none},
      {"a send is doubled", two_ranks_once, "F0@0 Fs0@0 Fs0@0 Br0@0 B0@0 / Fr0@1 F0@1 B0@1 Bs0@1",
       send_twice, 0, 2, 0, 1},
      {"a receive is doubled", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 B0@0 / Fr0@1 Fr0@1 F0@1 B0@1 Bs0@1", receive_twice, 1, 1, 1, 0},
      {"a message is sent again after it was received", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 B0@0 / Fr0@1 F0@1 B0@1 Bs0@1 Bs0@1", send_twice, 1, 4, 1, 3},
      {"a send names the other micro-batch", two_ranks,
       "F0@0 Fs0@0 F1@0 Br0@0 Fs0@0 B0@0 Br1@0 B1@0 / "
       "Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1",
       send_twice, 0, 4, 0, 1},
      {"two receives are swapped", two_ranks,
       "F0@0 Fs0@0 F1@0 Fs1@0 Br0@0 B0@0 Br1@0 B1@0 / "
       "Fr1@1 Fr0@1 F0@1 F1@1 B0@1 Bs0@1 B1@1 Bs1@1",
       overtaken_receive, 1, 1, 0, 1},
      {"two sends are swapped", two_ranks,
       "F0@0 Fs0@0 F1@0 Fs1@0 Br0@0 B0@0 Br1@0 B1@0 / "
       "Fr0@1 F0@1 Fr1@1 F1@1 B0@1 B1@1 Bs1@1 Bs0@1",
       overtaken_receive, 0, 6, 1, 6},
      {"the first stage sends a gradient", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 B0@0 Bs0@0 / Fr0@1 F0@1 B0@1 Bs0@1", no_neighbour, 0, 4, 0, none},
      {"the first stage receives an activation", two_ranks_once,
       "Fr0@0 F0@0 Fs0@0 Br0@0 B0@0 / Fr0@1 F0@1 B0@1 Bs0@1", no_neighbour, 0, 0, 0, none},
      {"the last stage sends its output", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 B0@0 / Fr0@1 F0@1 Fs0@1 B0@1 Bs0@1", no_neighbour, 1, 2, 1, none},
      {"the first stage receives data", two_ranks_once,
       "Dr0@0 F0@0 Fs0@0 Br0@0 B0@0 / Fr0@1 F0@1 B0@1 Bs0@1", no_neighbour, 0, 0, 0, none},
      {"stages of one rank send to each other", one_rank,
       "F0@0 Fs0@0 Fr0@1 F0@1 B0@1 Bs0@1 Br0@0 B0@0", neighbour_on_rank, 0, 1, 0, none},
      {"a frozen stage is sent a gradient", frozen_first, "F0@0 Fs0@0 / Fr0@1 F0@1 B0@1 Bs0@1",
       untrained_gradient, 1, 3, 1, none},
      {"rank 0 sends itself features", alone, "Mf0@-1 Ms0@-1 Mr0@-1 F0@0 B0@0", send_to_itself, 0,
       1, 0, 2},
      {"features are received that nobody sends", alone, "Mr0@-1 F0@0 B0@0", receive_without_send,
       0, 0, 0, none},

      {"features are not received", two_ranks,
       "Mf0@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 / Mf1@-1 Ms1@-1 Fr0@1 F0@1 B0@1 Bs0@1 "
       "Fr1@1 F1@1 B1@1 Bs1@1",
       send_without_receive, 1, 1, 0, none},
      {"inputs of the tower are not sent", two_ranks,
       "Mb0@-1 Dl0@-1 Mf0@-1 Dr1@-1 Mr1@-1 Gr1@-1 F0@0 Ds0@0 Fs0@0 F1@0 Br0@0 Ds1@0 Fs1@0 B0@0 "
       "Mw0@-1 Br1@0 B1@0 Mw1@-1 / Mb1@-1 Dl1@-1 Mf1@-1 Ds1@-1 Ms1@-1 Dr0@1 Fr0@1 F0@1 B0@1 Bs0@1 "
       "Dr1@1 Fr1@1 F1@1 B1@1 Bs1@1",
       receive_without_send, 0, 5, 1, none},
      {"a feature gradient is not sent", two_ranks,
       "Mb0@-1 Mf0@-1 Mr1@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 Rgx@0 / Mb1@-1 Mf1@-1 "
       "Ms1@-1 Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1 Er1@0 Rgx@0",
       receive_without_send, 1, 11, 0, none},

      // causality
      {"a transfer is dropped on both sides", two_ranks_once, "F0@0 Br0@0 B0@0 / F0@1 B0@1 Bs0@1",
       forward_before_input, 1, 0, 1, none},
      {"a forward comes before its receive", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 B0@0 / F0@1 Fr0@1 B0@1 Bs0@1", forward_before_input, 1, 0, 1, 1},
      {"an activation is sent before its forward", two_ranks_once,
       "Fs0@0 F0@0 Br0@0 B0@0 / Fr0@1 F0@1 B0@1 Bs0@1", send_before_forward, 0, 0, 0, 1},
      {"a backward comes before its forward", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 B0@0 / Fr0@1 B0@1 F0@1 Bs0@1", backward_before_forward, 1, 1, 1, 2},
      {"a backward comes before its gradient", two_ranks_once,
       "F0@0 Fs0@0 B0@0 Br0@0 / Fr0@1 F0@1 B0@1 Bs0@1", backward_before_gradient, 0, 2, 0, 3},
      {"a weight half comes before its input half", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 W0@0 I0@0 / Fr0@1 F0@1 B0@1 Bs0@1", weight_half_before_input_half, 0, 3, 0,
       4},
      {"a gradient is sent before its backward", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 B0@0 / Fr0@1 F0@1 Bs0@1 B0@1", send_before_backward, 1, 2, 1, 3},
      {"a gradient is sent before its input half", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 B0@0 / Fr0@1 F0@1 Bs0@1 I0@1 W0@1", send_before_backward, 1, 2, 1, 3},
      {"a forward comes before that of the stage before, on one rank", one_rank,
       "F0@1 F0@0 B0@1 B0@0", forward_before_input, 0, 0, 0, 1},
      {"a backward comes before that of the stage after, on one rank", one_rank,
       "F0@0 F0@1 B0@0 B0@1", backward_before_gradient, 0, 2, 0, 3},
      {"the first stage's data are not loaded", two_ranks_once,
       "F0@0 Fs0@0 Br0@0 B0@0 / Fr0@1 Dl0@1 F0@1 B0@1 Bs0@1", forward_before_data, 0, 0, 0, none},
      {"data do not reach the second stage", two_ranks_once,
       "Dl0@0 F0@0 Fs0@0 Br0@0 B0@0 / Fr0@1 F0@1 B0@1 Bs0@1", forward_before_data, 1, 1, 1, none},
      {"data are sent before they are loaded", two_ranks_once,
       "Ds0@0 Dl0@0 F0@0 Fs0@0 Br0@0 B0@0 / Dr0@1 Fr0@1 F0@1 B0@1 Bs0@1", send_before_data, 0, 0, 0,
       1},

      {"the first stage does not wait for the features", two_ranks,
       "Mf0@-1 F0@0 Fs0@0 F1@0 Mr1@-1 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 / Mf1@-1 Ms1@-1 Fr0@1 F0@1 B0@1 "
       "Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1",
       forward_before_feature, 0, 3, 0, 4},
      {"features are neither sent nor received", two_ranks,
       "Mf0@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 / Mf1@-1 Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 "
       "F1@1 B1@1 Bs1@1",
       forward_before_feature, 0, 3, 0, none},
      {"features are sent before they are made", two_ranks,
       "Mf0@-1 Mr1@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 / Ms1@-1 Mf1@-1 Fr0@1 F0@1 B0@1 "
       "Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1",
       send_before_tower_forward, 1, 0, 1, 1},
      {"the tower runs before its data are loaded", two_ranks,
       "Mb0@-1 Dl0@-1 Mf0@-1 Dr1@-1 Mr1@-1 Gr1@-1 F0@0 Ds0@0 Fs0@0 F1@0 Br0@0 Ds1@0 Fs1@0 B0@0 "
       "Mw0@-1 Br1@0 B1@0 Mw1@-1 / Mb1@-1 Mf1@-1 Dl1@-1 Ds1@-1 Ms1@-1 Gs1@-1 Dr0@1 Fr0@1 F0@1 B0@1 "
       "Bs0@1 Dr1@1 Fr1@1 F1@1 B1@1 Bs1@1",
       tower_forward_before_data, 1, 1, 1, 2},
      {"the tower runs before its parameters are there", two_ranks,
       "Mb0@-1 Dl0@-1 Mf0@-1 Dr1@-1 Mr1@-1 Gr1@-1 F0@0 Ds0@0 Fs0@0 F1@0 Br0@0 Ds1@0 Fs1@0 B0@0 "
       "Mw0@-1 Br1@0 B1@0 Mw1@-1 / Dl1@-1 Mf1@-1 Mb1@-1 Ds1@-1 Ms1@-1 Gs1@-1 Dr0@1 Fr0@1 F0@1 B0@1 "
       "Bs0@1 Dr1@1 Fr1@1 F1@1 B1@1 Bs1@1",
       tower_forward_before_broadcast, 1, 1, 1, 2},
      {"the tower runs backward before the first stage", two_ranks,
       "Mb0@-1 Dl0@-1 Mf0@-1 Dr1@-1 Mr1@-1 Gr1@-1 F0@0 Ds0@0 Fs0@0 F1@0 Br0@0 Ds1@0 Fs1@0 B0@0 "
       "Mw0@-1 Br1@0 Mw1@-1 B1@0 / Mb1@-1 Dl1@-1 Mf1@-1 Ds1@-1 Ms1@-1 Gs1@-1 Dr0@1 Fr0@1 F0@1 B0@1 "
       "Bs0@1 Dr1@1 Fr1@1 F1@1 B1@1 Bs1@1",
       tower_backward_before_gradient, 0, 16, 0, 17},
      {"the tower runs backward without its input", two_ranks,
       "Mb0@-1 Dl0@-1 Mf0@-1 Dr1@-1 Mr1@-1 F0@0 Ds0@0 Fs0@0 F1@0 Br0@0 Ds1@0 Fs1@0 B0@0 Mw0@-1 "
       "Br1@0 B1@0 Mw1@-1 / Mb1@-1 Dl1@-1 Mf1@-1 Ds1@-1 Ms1@-1 Dr0@1 Fr0@1 F0@1 B0@1 Bs0@1 Dr1@1 "
       "Fr1@1 F1@1 B1@1 Bs1@1",
       tower_backward_before_input, 0, 16, 0, none},
      {"a feature gradient is sent before it is made", two_ranks,
       "Mb0@-1 Mf0@-1 Mr1@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 Es1@0 B1@0 Rgx@0 / Mb1@-1 "
       "Mf1@-1 Ms1@-1 Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1 Er1@0 Rgx@0",
       send_before_backward, 0, 10, 0, 11},
      {"a gradient is reduced before the owner's backward", two_ranks,
       "Mb0@-1 Mf0@-1 Mr1@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 Es1@0 Rgx@0 / Mb1@-1 "
       "Mf1@-1 Ms1@-1 Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1 Rgx@0 Er1@0",
       reduce_before_backward, 1, 11, 1, 12},
      {"a gradient is reduced before the first rank's own backward", two_ranks,
       "Mb0@-1 Mf0@-1 Mr1@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 Rgx@0 B0@0 Br1@0 B1@0 Es1@0 / Mb1@-1 "
       "Mf1@-1 Ms1@-1 Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1 Er1@0 Rgx@0",
       reduce_before_backward, 0, 8, 0, 9},

      // progress
      {"a rank stands at the reduction, the other still waits for its gradient", two_ranks,
       "Mb0@-1 Mf0@-1 Mr1@-1 F0@0 Fs0@0 F1@0 Br0@0 Fs1@0 B0@0 Br1@0 B1@0 Rgx@0 Es1@0 / Mb1@-1 "
       "Mf1@-1 Ms1@-1 Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1 Er1@0 Rgx@0",
       wait_cycle, 0, 11, 1, 12},
      {"both ranks send first", two_ranks,
       "F0@0 Fs0@0 F1@0 Fs1@0 Br0@0 B0@0 Br1@0 B1@0 / "
       "Fr0@1 F0@1 B0@1 Bs0@1 Fr1@1 F1@1 B1@1 Bs1@1",
       wait_cycle, 0, 3, 1, 4},
      {"both ranks receive first",
       {.ranks = 2, .stages_per_rank = 2, .micro_batches = 2, .first_trained_stage = 4},
       "F0@0 Fs0@0 F1@0 Fr0@2 Fs1@0 F0@2 Fs0@2 Fr1@2 F1@2 Fs1@2 / "
       "Fr0@1 F0@1 Fr1@1 F1@1 Fs0@1 Fs1@1 Fr0@3 F0@3 Fr1@3 F1@3",
       wait_cycle,
       0,
       3,
       1,
       4},
      {"three ranks wait in a circle",
       {.ranks = 3, .stages_per_rank = 2, .micro_batches = 3, .first_trained_stage = 6},
       "F0@0 Fs0@0 F1@0 Fs1@0 F2@0 Fs2@0 "
       "Fr0@3 F0@3 Fs0@3 Fr1@3 F1@3 Fs1@3 Fr2@3 F2@3 Fs2@3 / "
       "Fr0@1 F0@1 Fr1@1 F1@1 Fs0@1 Fs1@1 Fr2@1 F2@1 Fs2@1 "
       "Fr0@4 F0@4 Fs0@4 Fr1@4 F1@4 Fs1@4 Fr2@4 F2@4 Fs2@4 / "
       "Fr0@2 F0@2 Fs0@2 Fr1@2 F1@2 Fs1@2 Fr2@2 F2@2 Fs2@2 "
       "Fr0@5 F0@5 Fr1@5 F1@5 Fr2@5 F2@5",
       wait_cycle,
       0,
       5,
       1,
       6},
  });
}();

}  // namespace heddle_test
