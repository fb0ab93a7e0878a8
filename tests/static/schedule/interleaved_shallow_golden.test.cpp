#include <string_view>

#include <heddle/core/text.hpp>
#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>

// Rows of tests/data/golden/orders_interleaved.tsv, which the unit tests read whole.
namespace {

using namespace heddle;

template <PipelineShape shape>
constexpr bool makes(std::string_view golden) {
  return reads(exec_order<BasicInterleaved1F1B<InterleavedOptions{.warmup = Warmup::shallow}>,
                          shape, DataSteps::chain>(),
               golden, Bubbles::left_out);
}

static_assert(makes<PipelineShape{.ranks = 2, .stages_per_rank = 2, .micro_batches = 2}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dr0@2 Fr0@2 Dl0@2 F0@2 Ds0@2 Fs0@2 Dr1@2 Fr1@2 "
    "-1 Dl1@2 F1@2 Ds1@2 Fs1@2 Br0@2 B0@2 Bs0@2 -1 Br1@2 B1@2 Bs1@2 -1 Br0@0 B0@0 -1 Br1@0 B1@0 / "
    "-1 Dr0@1 Fr0@1 Dl0@1 F0@1 Dr1@1 Fr1@1 Ds0@1 Fs0@1 Dl1@1 F1@1 Dr0@3 Fr0@3 Ds1@1 Fs1@1 Dl0@3 "
    "F0@3 B0@3 Dr1@3 Fr1@3 Bs0@3 Dl1@3 F1@3 Br0@1 B1@3 Bs1@3 -1 Br1@1 B0@1 Bs0@1 -1 B1@1 Bs1@1"));

static_assert(makes<PipelineShape{.ranks = 2, .stages_per_rank = 2, .micro_batches = 3}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dr0@2 Fr0@2 Dl2@0 F2@0 Ds2@0 Fs2@0 Dr1@2 Fr1@2 "
    "Dl0@2 F0@2 Ds0@2 Fs0@2 Dr2@2 Fr2@2 -1 Dl1@2 F1@2 Ds1@2 Fs1@2 Br0@2 B0@2 Bs0@2 Dl2@2 F2@2 "
    "Ds2@2 Fs2@2 Br1@2 B1@2 Bs1@2 -1 Br2@2 B2@2 Bs2@2 -1 Br0@0 B0@0 -1 Br1@0 B1@0 -1 Br2@0 B2@0 / "
    "-1 Dr0@1 Fr0@1 Dl0@1 F0@1 Dr1@1 Fr1@1 Ds0@1 Fs0@1 Dl1@1 F1@1 Dr2@1 Fr2@1 Ds1@1 Fs1@1 Dl2@1 "
    "F2@1 Dr0@3 Fr0@3 Ds2@1 Fs2@1 Dl0@3 F0@3 B0@3 Dr1@3 Fr1@3 Bs0@3 Dl1@3 F1@3 Br0@1 B1@3 Dr2@3 "
    "Fr2@3 Bs1@3 Dl2@3 F2@3 Br1@1 B2@3 Bs2@3 -1 Br2@1 B0@1 Bs0@1 -1 B1@1 Bs1@1 -1 B2@1 Bs2@1"));

static_assert(makes<PipelineShape{.ranks = 2, .stages_per_rank = 2, .micro_batches = 4}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dr0@2 Fr0@2 Dl0@2 F0@2 Ds0@2 Fs0@2 Dr1@2 Fr1@2 "
    "-1 Dl1@2 F1@2 Ds1@2 Fs1@2 Br0@2 B0@2 Bs0@2 Dl2@0 F2@0 Ds2@0 Fs2@0 Br1@2 B1@2 Bs1@2 Dr2@2 "
    "Fr2@2 Dl3@0 F3@0 Ds3@0 Fs3@0 Br0@0 B0@0 Dr3@2 Fr3@2 Dl2@2 F2@2 Ds2@2 Fs2@2 Br1@0 B1@0 Dl3@2 "
    "F3@2 Ds3@2 Fs3@2 Br2@2 B2@2 Bs2@2 -1 Br3@2 B3@2 Bs3@2 -1 Br2@0 B2@0 -1 Br3@0 B3@0 / "
    "-1 Dr0@1 Fr0@1 Dl0@1 F0@1 Dr1@1 Fr1@1 Ds0@1 Fs0@1 Dl1@1 F1@1 Dr0@3 Fr0@3 Ds1@1 Fs1@1 Dl0@3 "
    "F0@3 B0@3 Dr1@3 Fr1@3 Bs0@3 Dl1@3 F1@3 Br0@1 B1@3 Dr2@1 Fr2@1 Bs1@3 Dl2@1 F2@1 Br1@1 Ds2@1 "
    "Fs2@1 B0@1 Dr3@1 Fr3@1 Bs0@1 Dl3@1 F3@1 Ds3@1 Fs3@1 B1@1 Dr2@3 Fr2@3 Bs1@1 Dl2@3 F2@3 B2@3 "
    "Dr3@3 Fr3@3 Bs2@3 Dl3@3 F3@3 Br2@1 B3@3 Bs3@3 -1 Br3@1 B2@1 Bs2@1 -1 B3@1 Bs3@1"));

static_assert(makes<PipelineShape{.ranks = 2, .stages_per_rank = 2, .micro_batches = 5}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dr0@2 Fr0@2 Dl2@0 F2@0 Ds2@0 Fs2@0 Dr1@2 Fr1@2 "
    "Dl0@2 F0@2 Ds0@2 Fs0@2 Dr2@2 Fr2@2 -1 Dl1@2 F1@2 Ds1@2 Fs1@2 Br0@2 B0@2 Bs0@2 Dl2@2 F2@2 "
    "Ds2@2 Fs2@2 Br1@2 B1@2 Bs1@2 Dl3@0 F3@0 Ds3@0 Fs3@0 Br2@2 B2@2 Bs2@2 Dr3@2 Fr3@2 Dl4@0 F4@0 "
    "Ds4@0 Fs4@0 Br0@0 B0@0 Dr4@2 Fr4@2 Dl3@2 F3@2 Ds3@2 Fs3@2 Br1@0 B1@0 Dl4@2 F4@2 Ds4@2 Fs4@2 "
    "Br2@0 B2@0 -1 Br3@2 B3@2 Bs3@2 -1 Br4@2 B4@2 Bs4@2 -1 Br3@0 B3@0 -1 Br4@0 B4@0 / "
    "-1 Dr0@1 Fr0@1 Dl0@1 F0@1 Dr1@1 Fr1@1 Ds0@1 Fs0@1 Dl1@1 F1@1 Dr2@1 Fr2@1 Ds1@1 Fs1@1 Dl2@1 "
    "F2@1 Dr0@3 Fr0@3 Ds2@1 Fs2@1 Dl0@3 F0@3 B0@3 Dr1@3 Fr1@3 Bs0@3 Dl1@3 F1@3 Br0@1 B1@3 Dr2@3 "
    "Fr2@3 Bs1@3 Dl2@3 F2@3 Br1@1 B2@3 Dr3@1 Fr3@1 Bs2@3 Dl3@1 F3@1 Br2@1 Ds3@1 Fs3@1 B0@1 Dr4@1 "
    "Fr4@1 Bs0@1 Dl4@1 F4@1 Ds4@1 Fs4@1 B1@1 Dr3@3 Fr3@3 Bs1@1 Dl3@3 F3@3 B2@1 Dr4@3 Fr4@3 Bs2@1 "
    "Dl4@3 F4@3 B3@3 Bs3@3 -1 Br3@1 B4@3 Bs4@3 -1 Br4@1 B3@1 Bs3@1 -1 B4@1 Bs4@1"));

static_assert(makes<PipelineShape{.ranks = 2, .stages_per_rank = 3, .micro_batches = 2}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dr0@2 Fr0@2 Dl0@2 F0@2 Ds0@2 Fs0@2 Dr1@2 Fr1@2 "
    "Dl1@2 F1@2 Ds1@2 Fs1@2 Dr0@4 Fr0@4 Dl0@4 F0@4 Ds0@4 Fs0@4 Dr1@4 Fr1@4 -1 Dl1@4 F1@4 Ds1@4 "
    "Fs1@4 Br0@4 B0@4 Bs0@4 -1 Br1@4 B1@4 Bs1@4 -1 Br0@2 B0@2 Bs0@2 -1 Br1@2 B1@2 Bs1@2 -1 Br0@0 "
    "B0@0 -1 Br1@0 B1@0 / "
    "-1 Dr0@1 Fr0@1 Dl0@1 F0@1 Dr1@1 Fr1@1 Ds0@1 Fs0@1 Dl1@1 F1@1 Dr0@3 Fr0@3 Ds1@1 Fs1@1 Dl0@3 "
    "F0@3 Dr1@3 Fr1@3 Ds0@3 Fs0@3 Dl1@3 F1@3 Dr0@5 Fr0@5 Ds1@3 Fs1@3 Dl0@5 F0@5 B0@5 Dr1@5 Fr1@5 "
    "Bs0@5 Dl1@5 F1@5 Br0@3 B1@5 Bs1@5 -1 Br1@3 B0@3 Bs0@3 -1 Br0@1 B1@3 Bs1@3 -1 Br1@1 B0@1 Bs0@1 "
    "-1 B1@1 Bs1@1"));

static_assert(makes<PipelineShape{.ranks = 2, .stages_per_rank = 4, .micro_batches = 2}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dr0@2 Fr0@2 Dl0@2 F0@2 Ds0@2 Fs0@2 Dr1@2 Fr1@2 "
    "Dl1@2 F1@2 Ds1@2 Fs1@2 Dr0@4 Fr0@4 Dl0@4 F0@4 Ds0@4 Fs0@4 Dr1@4 Fr1@4 Dl1@4 F1@4 Ds1@4 Fs1@4 "
    "Dr0@6 Fr0@6 Dl0@6 F0@6 Ds0@6 Fs0@6 Dr1@6 Fr1@6 -1 Dl1@6 F1@6 Ds1@6 Fs1@6 Br0@6 B0@6 Bs0@6 -1 "
    "Br1@6 B1@6 Bs1@6 -1 Br0@4 B0@4 Bs0@4 -1 Br1@4 B1@4 Bs1@4 -1 Br0@2 B0@2 Bs0@2 -1 Br1@2 B1@2 "
    "Bs1@2 -1 Br0@0 B0@0 -1 Br1@0 B1@0 / "
    "-1 Dr0@1 Fr0@1 Dl0@1 F0@1 Dr1@1 Fr1@1 Ds0@1 Fs0@1 Dl1@1 F1@1 Dr0@3 Fr0@3 Ds1@1 Fs1@1 Dl0@3 "
    "F0@3 Dr1@3 Fr1@3 Ds0@3 Fs0@3 Dl1@3 F1@3 Dr0@5 Fr0@5 Ds1@3 Fs1@3 Dl0@5 F0@5 Dr1@5 Fr1@5 Ds0@5 "
    "Fs0@5 Dl1@5 F1@5 Dr0@7 Fr0@7 Ds1@5 Fs1@5 Dl0@7 F0@7 B0@7 Dr1@7 Fr1@7 Bs0@7 Dl1@7 F1@7 Br0@5 "
    "B1@7 Bs1@7 -1 Br1@5 B0@5 Bs0@5 -1 Br0@3 B1@5 Bs1@5 -1 Br1@3 B0@3 Bs0@3 -1 Br0@1 B1@3 Bs1@3 -1 "
    "Br1@1 B0@1 Bs0@1 -1 B1@1 Bs1@1"));

static_assert(makes<PipelineShape{.ranks = 3, .stages_per_rank = 2, .micro_batches = 2}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 -1 Dr0@3 Fr0@3 Dl0@3 F0@3 Ds0@3 Fs0@3 Dr1@3 "
    "Fr1@3 Dl1@3 F1@3 Ds1@3 Fs1@3 -3 Br0@3 B0@3 Bs0@3 -1 Br1@3 B1@3 Bs1@3 -3 Br0@0 B0@0 -1 Br1@0 "
    "B1@0 -2 / "
    "-1 Dr0@1 Fr0@1 Dl0@1 F0@1 Dr1@1 Fr1@1 Ds0@1 Fs0@1 Dl1@1 F1@1 Ds1@1 Fs1@1 -1 Dr0@4 Fr0@4 Dl0@4 "
    "F0@4 Dr1@4 Fr1@4 Ds0@4 Fs0@4 -1 Dl1@4 F1@4 Br0@4 Ds1@4 Fs1@4 B0@4 Bs0@4 -1 Br1@4 B1@4 Bs1@4 "
    "-3 Br0@1 B0@1 Bs0@1 -1 Br1@1 B1@1 Bs1@1 -2 / "
    "-2 Dr0@2 Fr0@2 Dl0@2 F0@2 Ds0@2 Fs0@2 Dr1@2 Fr1@2 Dl1@2 F1@2 Ds1@2 Fs1@2 -1 Dr0@5 Fr0@5 Dl0@5 "
    "F0@5 B0@5 Bs0@5 Dr1@5 Fr1@5 Dl1@5 F1@5 B1@5 Br0@2 Bs1@5 -2 Br1@2 -1 B0@2 Bs0@2 -1 B1@2 Bs1@2 "
    "-2"));

static_assert(makes<PipelineShape{.ranks = 3, .stages_per_rank = 2, .micro_batches = 3}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dl2@0 F2@0 Ds2@0 Fs2@0 Dr0@3 Fr0@3 Dl0@3 F0@3 "
    "Ds0@3 Fs0@3 Dr1@3 Fr1@3 Dl1@3 F1@3 Ds1@3 Fs1@3 Dr2@3 Fr2@3 -2 Dl2@3 F2@3 Ds2@3 Fs2@3 Br0@3 "
    "B0@3 Bs0@3 -1 Br1@3 B1@3 Bs1@3 -1 Br2@3 B2@3 Bs2@3 -1 Br0@0 B0@0 -1 Br1@0 B1@0 -1 Br2@0 B2@0 "
    "/ "
    "-1 Dr0@1 Fr0@1 Dl0@1 F0@1 Dr1@1 Fr1@1 Ds0@1 Fs0@1 Dl1@1 F1@1 Dr2@1 Fr2@1 Ds1@1 Fs1@1 Dl2@1 "
    "F2@1 Dr0@4 Fr0@4 Ds2@1 Fs2@1 Dl0@4 F0@4 Dr1@4 Fr1@4 Ds0@4 Fs0@4 -1 Dl1@4 F1@4 Br0@4 Ds1@4 "
    "Fs1@4 B0@4 Dr2@4 Fr2@4 Bs0@4 Dl2@4 F2@4 Br1@4 Ds2@4 Fs2@4 B1@4 Bs1@4 -1 Br2@4 B2@4 Bs2@4 -1 "
    "Br0@1 B0@1 Bs0@1 -1 Br1@1 B1@1 Bs1@1 -1 Br2@1 B2@1 Bs2@1 / "
    "-2 Dr0@2 Fr0@2 Dl0@2 F0@2 Ds0@2 Fs0@2 Dr1@2 Fr1@2 Dl1@2 F1@2 Ds1@2 Fs1@2 Dr2@2 Fr2@2 Dl2@2 "
    "F2@2 Ds2@2 Fs2@2 Dr0@5 Fr0@5 Dl0@5 F0@5 B0@5 Bs0@5 Dr1@5 Fr1@5 Dl1@5 F1@5 B1@5 Br0@2 Bs1@5 "
    "Dr2@5 Fr2@5 Dl2@5 F2@5 B2@5 Br1@2 Bs2@5 -1 B0@2 Br2@2 Bs0@2 -1 B1@2 Bs1@2 -1 B2@2 Bs2@2"));

static_assert(makes<PipelineShape{.ranks = 3, .stages_per_rank = 3, .micro_batches = 1}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 -2 Dr0@3 Fr0@3 Dl0@3 F0@3 Ds0@3 Fs0@3 -2 Dr0@6 Fr0@6 Dl0@6 F0@6 Ds0@6 "
    "Fs0@6 -4 Br0@6 B0@6 Bs0@6 -5 Br0@3 B0@3 Bs0@3 -5 Br0@0 B0@0 -4 / "
    "-1 Dr0@1 Fr0@1 Dl0@1 F0@1 Ds0@1 Fs0@1 -2 Dr0@4 Fr0@4 Dl0@4 F0@4 Ds0@4 Fs0@4 -2 Dr0@7 Fr0@7 "
    "Dl0@7 F0@7 Ds0@7 Fs0@7 -2 Br0@7 B0@7 Bs0@7 -5 Br0@4 B0@4 Bs0@4 -5 Br0@1 B0@1 Bs0@1 -4 / "
    "-2 Dr0@2 Fr0@2 Dl0@2 F0@2 Ds0@2 Fs0@2 -2 Dr0@5 Fr0@5 Dl0@5 F0@5 Ds0@5 Fs0@5 -2 Dr0@8 Fr0@8 "
    "Dl0@8 F0@8 B0@8 Bs0@8 -2 Br0@5 -3 B0@5 Bs0@5 -2 Br0@2 -3 B0@2 Bs0@2 -4"));

static_assert(makes<PipelineShape{.ranks = 3, .stages_per_rank = 3, .micro_batches = 2}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 -1 Dr0@3 Fr0@3 Dl0@3 F0@3 Ds0@3 Fs0@3 Dr1@3 "
    "Fr1@3 Dl1@3 F1@3 Ds1@3 Fs1@3 -1 Dr0@6 Fr0@6 Dl0@6 F0@6 Ds0@6 Fs0@6 Dr1@6 Fr1@6 Dl1@6 F1@6 "
    "Ds1@6 Fs1@6 -3 Br0@6 B0@6 Bs0@6 -1 Br1@6 B1@6 Bs1@6 -3 Br0@3 B0@3 Bs0@3 -1 Br1@3 B1@3 Bs1@3 "
    "-3 Br0@0 B0@0 -1 Br1@0 B1@0 -2 / "
    "-1 Dr0@1 Fr0@1 Dl0@1 F0@1 Dr1@1 Fr1@1 Ds0@1 Fs0@1 Dl1@1 F1@1 Ds1@1 Fs1@1 -1 Dr0@4 Fr0@4 Dl0@4 "
    "F0@4 Dr1@4 Fr1@4 Ds0@4 Fs0@4 Dl1@4 F1@4 Ds1@4 Fs1@4 -1 Dr0@7 Fr0@7 Dl0@7 F0@7 Dr1@7 Fr1@7 "
    "Ds0@7 Fs0@7 -1 Dl1@7 F1@7 Br0@7 Ds1@7 Fs1@7 B0@7 Bs0@7 -1 Br1@7 B1@7 Bs1@7 -3 Br0@4 B0@4 "
    "Bs0@4 -1 Br1@4 B1@4 Bs1@4 -3 Br0@1 B0@1 Bs0@1 -1 Br1@1 B1@1 Bs1@1 -2 / "
    "-2 Dr0@2 Fr0@2 Dl0@2 F0@2 Ds0@2 Fs0@2 Dr1@2 Fr1@2 Dl1@2 F1@2 Ds1@2 Fs1@2 -1 Dr0@5 Fr0@5 Dl0@5 "
    "F0@5 Ds0@5 Fs0@5 Dr1@5 Fr1@5 Dl1@5 F1@5 Ds1@5 Fs1@5 -1 Dr0@8 Fr0@8 Dl0@8 F0@8 B0@8 Bs0@8 "
    "Dr1@8 Fr1@8 Dl1@8 F1@8 B1@8 Br0@5 Bs1@8 -2 Br1@5 -1 B0@5 Bs0@5 -1 B1@5 Br0@2 Bs1@5 -2 Br1@2 "
    "-1 B0@2 Bs0@2 -1 B1@2 Bs1@2 -2"));

static_assert(makes<PipelineShape{.ranks = 3, .stages_per_rank = 4, .micro_batches = 1}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 -2 Dr0@3 Fr0@3 Dl0@3 F0@3 Ds0@3 Fs0@3 -2 Dr0@6 Fr0@6 Dl0@6 F0@6 Ds0@6 "
    "Fs0@6 -2 Dr0@9 Fr0@9 Dl0@9 F0@9 Ds0@9 Fs0@9 -4 Br0@9 B0@9 Bs0@9 -5 Br0@6 B0@6 Bs0@6 -5 Br0@3 "
    "B0@3 Bs0@3 -5 Br0@0 B0@0 -4 / "
    "-1 Dr0@1 Fr0@1 Dl0@1 F0@1 Ds0@1 Fs0@1 -2 Dr0@4 Fr0@4 Dl0@4 F0@4 Ds0@4 Fs0@4 -2 Dr0@7 Fr0@7 "
    "Dl0@7 F0@7 Ds0@7 Fs0@7 -2 Dr0@10 Fr0@10 Dl0@10 F0@10 Ds0@10 Fs0@10 -2 Br0@10 B0@10 Bs0@10 -5 "
    "Br0@7 B0@7 Bs0@7 -5 Br0@4 B0@4 Bs0@4 -5 Br0@1 B0@1 Bs0@1 -4 / "
    "-2 Dr0@2 Fr0@2 Dl0@2 F0@2 Ds0@2 Fs0@2 -2 Dr0@5 Fr0@5 Dl0@5 F0@5 Ds0@5 Fs0@5 -2 Dr0@8 Fr0@8 "
    "Dl0@8 F0@8 Ds0@8 Fs0@8 -2 Dr0@11 Fr0@11 Dl0@11 F0@11 B0@11 Bs0@11 -2 Br0@8 -3 B0@8 Bs0@8 -2 "
    "Br0@5 -3 B0@5 Bs0@5 -2 Br0@2 -3 B0@2 Bs0@2 -4"));

static_assert(makes<PipelineShape{.ranks = 4, .stages_per_rank = 2, .micro_batches = 1}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 -3 Dr0@4 Fr0@4 Dl0@4 F0@4 Ds0@4 Fs0@4 -6 Br0@4 B0@4 Bs0@4 -7 Br0@0 "
    "B0@0 -6 / "
    "-1 Dr0@1 Fr0@1 Dl0@1 F0@1 Ds0@1 Fs0@1 -3 Dr0@5 Fr0@5 Dl0@5 F0@5 Ds0@5 Fs0@5 -4 Br0@5 B0@5 "
    "Bs0@5 -7 Br0@1 B0@1 Bs0@1 -6 / "
    "-2 Dr0@2 Fr0@2 Dl0@2 F0@2 Ds0@2 Fs0@2 -3 Dr0@6 Fr0@6 Dl0@6 F0@6 Ds0@6 Fs0@6 -2 Br0@6 B0@6 "
    "Bs0@6 -7 Br0@2 B0@2 Bs0@2 -6 / "
    "-3 Dr0@3 Fr0@3 Dl0@3 F0@3 Ds0@3 Fs0@3 -3 Dr0@7 Fr0@7 Dl0@7 F0@7 B0@7 Bs0@7 -3 Br0@3 -4 B0@3 "
    "Bs0@3 -6"));

static_assert(makes<PipelineShape{.ranks = 4, .stages_per_rank = 2, .micro_batches = 2}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 -2 Dr0@4 Fr0@4 Dl0@4 F0@4 Ds0@4 Fs0@4 Dr1@4 "
    "Fr1@4 Dl1@4 F1@4 Ds1@4 Fs1@4 -5 Br0@4 B0@4 Bs0@4 -1 Br1@4 B1@4 Bs1@4 -5 Br0@0 B0@0 -1 Br1@0 "
    "B1@0 -4 / "
    "-1 Dr0@1 Fr0@1 Dl0@1 F0@1 Dr1@1 Fr1@1 Ds0@1 Fs0@1 Dl1@1 F1@1 Ds1@1 Fs1@1 -2 Dr0@5 Fr0@5 Dl0@5 "
    "F0@5 Dr1@5 Fr1@5 Ds0@5 Fs0@5 Dl1@5 F1@5 Ds1@5 Fs1@5 -3 Br0@5 B0@5 Bs0@5 -1 Br1@5 B1@5 Bs1@5 "
    "-5 Br0@1 B0@1 Bs0@1 -1 Br1@1 B1@1 Bs1@1 -4 / "
    "-2 Dr0@2 Fr0@2 Dl0@2 F0@2 Ds0@2 Fs0@2 Dr1@2 Fr1@2 Dl1@2 F1@2 Ds1@2 Fs1@2 -2 Dr0@6 Fr0@6 Dl0@6 "
    "F0@6 Ds0@6 Fs0@6 Dr1@6 Fr1@6 -1 Dl1@6 F1@6 Ds1@6 Fs1@6 Br0@6 B0@6 Bs0@6 -1 Br1@6 B1@6 Bs1@6 "
    "-5 Br0@2 B0@2 Bs0@2 -1 Br1@2 B1@2 Bs1@2 -4 / "
    "-3 Dr0@3 Fr0@3 Dl0@3 F0@3 Dr1@3 Fr1@3 Ds0@3 Fs0@3 Dl1@3 F1@3 Ds1@3 Fs1@3 -2 Dr0@7 Fr0@7 Dl0@7 "
    "F0@7 B0@7 Dr1@7 Fr1@7 Bs0@7 Dl1@7 F1@7 B1@7 Bs1@7 -1 Br0@3 -2 Br1@3 -2 B0@3 Bs0@3 -1 B1@3 "
    "Bs1@3 -4"));

static_assert(makes<PipelineShape{.ranks = 8, .stages_per_rank = 2, .micro_batches = 1}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 -7 Dr0@8 Fr0@8 Dl0@8 F0@8 Ds0@8 Fs0@8 -14 Br0@8 B0@8 Bs0@8 -15 Br0@0 "
    "B0@0 -14 / "
    "-1 Dr0@1 Fr0@1 Dl0@1 F0@1 Ds0@1 Fs0@1 -7 Dr0@9 Fr0@9 Dl0@9 F0@9 Ds0@9 Fs0@9 -12 Br0@9 B0@9 "
    "Bs0@9 -15 Br0@1 B0@1 Bs0@1 -14 / "
    "-2 Dr0@2 Fr0@2 Dl0@2 F0@2 Ds0@2 Fs0@2 -7 Dr0@10 Fr0@10 Dl0@10 F0@10 Ds0@10 Fs0@10 -10 Br0@10 "
    "B0@10 Bs0@10 -15 Br0@2 B0@2 Bs0@2 -14 / "
    "-3 Dr0@3 Fr0@3 Dl0@3 F0@3 Ds0@3 Fs0@3 -7 Dr0@11 Fr0@11 Dl0@11 F0@11 Ds0@11 Fs0@11 -8 Br0@11 "
    "B0@11 Bs0@11 -15 Br0@3 B0@3 Bs0@3 -14 / "
    "-4 Dr0@4 Fr0@4 Dl0@4 F0@4 Ds0@4 Fs0@4 -7 Dr0@12 Fr0@12 Dl0@12 F0@12 Ds0@12 Fs0@12 -6 Br0@12 "
    "B0@12 Bs0@12 -15 Br0@4 B0@4 Bs0@4 -14 / "
    "-5 Dr0@5 Fr0@5 Dl0@5 F0@5 Ds0@5 Fs0@5 -7 Dr0@13 Fr0@13 Dl0@13 F0@13 Ds0@13 Fs0@13 -4 Br0@13 "
    "B0@13 Bs0@13 -15 Br0@5 B0@5 Bs0@5 -14 / "
    "-6 Dr0@6 Fr0@6 Dl0@6 F0@6 Ds0@6 Fs0@6 -7 Dr0@14 Fr0@14 Dl0@14 F0@14 Ds0@14 Fs0@14 -2 Br0@14 "
    "B0@14 Bs0@14 -15 Br0@6 B0@6 Bs0@6 -14 / "
    "-7 Dr0@7 Fr0@7 Dl0@7 F0@7 Ds0@7 Fs0@7 -7 Dr0@15 Fr0@15 Dl0@15 F0@15 B0@15 Bs0@15 -7 Br0@7 -8 "
    "B0@7 Bs0@7 -14"));

}  // namespace
