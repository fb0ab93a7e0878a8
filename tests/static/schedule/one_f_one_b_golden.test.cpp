#include <string_view>

#include <heddle/core/text.hpp>
#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/one_f_one_b.hpp>

// Rows of tests/data/golden/orders_1f1b.tsv, which the unit tests read whole.
namespace {

using namespace heddle;

template <PipelineShape shape>
constexpr bool makes(std::string_view golden) {
  return reads(exec_order<OneFOneB, shape, DataSteps::chain>(), golden, Bubbles::left_out);
}

static_assert(makes<PipelineShape{.ranks = 1, .micro_batches = 3}>(
    "Dl0@0 F0@0 B0@0 Dl1@0 F1@0 B1@0 Dl2@0 F2@0 B2@0"));

static_assert(
    makes<PipelineShape{.ranks = 2, .micro_batches = 1}>("Dl0@0 F0@0 Ds0@0 Fs0@0 Br0@0 B0@0 / "
                                                         "Dl0@1 Dr0@1 Fr0@1 F0@1 B0@1 Bs0@1"));

static_assert(makes<PipelineShape{.ranks = 2, .micro_batches = 2}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Br0@0 Ds1@0 Fs1@0 B0@0 Br1@0 B1@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 B0@1 Dl1@1 Bs0@1 Dr1@1 Fr1@1 F1@1 B1@1 Bs1@1"));

static_assert(makes<PipelineShape{.ranks = 2, .micro_batches = 4}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Br0@0 Ds1@0 Fs1@0 B0@0 Dl2@0 F2@0 Br1@0 Ds2@0 Fs2@0 B1@0 "
    "Dl3@0 F3@0 Br2@0 Ds3@0 Fs3@0 B2@0 Br3@0 B3@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 B0@1 Dl1@1 Bs0@1 Dr1@1 Fr1@1 F1@1 B1@1 Dl2@1 Bs1@1 Dr2@1 Fr2@1 F2@1 "
    "B2@1 Dl3@1 Bs2@1 Dr3@1 Fr3@1 F3@1 B3@1 Bs3@1"));

static_assert(makes<PipelineShape{.ranks = 2, .micro_batches = 6}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Br0@0 Ds1@0 Fs1@0 B0@0 Dl2@0 F2@0 Br1@0 Ds2@0 Fs2@0 B1@0 "
    "Dl3@0 F3@0 Br2@0 Ds3@0 Fs3@0 B2@0 Dl4@0 F4@0 Br3@0 Ds4@0 Fs4@0 B3@0 Dl5@0 F5@0 Br4@0 Ds5@0 "
    "Fs5@0 B4@0 Br5@0 B5@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 B0@1 Dl1@1 Bs0@1 Dr1@1 Fr1@1 F1@1 B1@1 Dl2@1 Bs1@1 Dr2@1 Fr2@1 F2@1 "
    "B2@1 Dl3@1 Bs2@1 Dr3@1 Fr3@1 F3@1 B3@1 Dl4@1 Bs3@1 Dr4@1 Fr4@1 F4@1 B4@1 Dl5@1 Bs4@1 Dr5@1 "
    "Fr5@1 F5@1 B5@1 Bs5@1"));

static_assert(makes<PipelineShape{.ranks = 2, .micro_batches = 7}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Br0@0 Ds1@0 Fs1@0 B0@0 Dl2@0 F2@0 Br1@0 Ds2@0 Fs2@0 B1@0 "
    "Dl3@0 F3@0 Br2@0 Ds3@0 Fs3@0 B2@0 Dl4@0 F4@0 Br3@0 Ds4@0 Fs4@0 B3@0 Dl5@0 F5@0 Br4@0 Ds5@0 "
    "Fs5@0 B4@0 Dl6@0 F6@0 Br5@0 Ds6@0 Fs6@0 B5@0 Br6@0 B6@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 B0@1 Dl1@1 Bs0@1 Dr1@1 Fr1@1 F1@1 B1@1 Dl2@1 Bs1@1 Dr2@1 Fr2@1 F2@1 "
    "B2@1 Dl3@1 Bs2@1 Dr3@1 Fr3@1 F3@1 B3@1 Dl4@1 Bs3@1 Dr4@1 Fr4@1 F4@1 B4@1 Dl5@1 Bs4@1 Dr5@1 "
    "Fr5@1 F5@1 B5@1 Dl6@1 Bs5@1 Dr6@1 Fr6@1 F6@1 B6@1 Bs6@1"));

static_assert(makes<PipelineShape{.ranks = 2, .micro_batches = 8}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Br0@0 Ds1@0 Fs1@0 B0@0 Dl2@0 F2@0 Br1@0 Ds2@0 Fs2@0 B1@0 "
    "Dl3@0 F3@0 Br2@0 Ds3@0 Fs3@0 B2@0 Dl4@0 F4@0 Br3@0 Ds4@0 Fs4@0 B3@0 Dl5@0 F5@0 Br4@0 Ds5@0 "
    "Fs5@0 B4@0 Dl6@0 F6@0 Br5@0 Ds6@0 Fs6@0 B5@0 Dl7@0 F7@0 Br6@0 Ds7@0 Fs7@0 B6@0 Br7@0 B7@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 B0@1 Dl1@1 Bs0@1 Dr1@1 Fr1@1 F1@1 B1@1 Dl2@1 Bs1@1 Dr2@1 Fr2@1 F2@1 "
    "B2@1 Dl3@1 Bs2@1 Dr3@1 Fr3@1 F3@1 B3@1 Dl4@1 Bs3@1 Dr4@1 Fr4@1 F4@1 B4@1 Dl5@1 Bs4@1 Dr5@1 "
    "Fr5@1 F5@1 B5@1 Dl6@1 Bs5@1 Dr6@1 Fr6@1 F6@1 B6@1 Dl7@1 Bs6@1 Dr7@1 Fr7@1 F7@1 B7@1 Bs7@1"));

static_assert(makes<PipelineShape{.ranks = 3, .micro_batches = 2}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Br0@0 B0@0 Br1@0 B1@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Dl1@1 Dr1@1 Fr1@1 Ds0@1 Fs0@1 F1@1 Br0@1 Ds1@1 Fs1@1 B0@1 Bs0@1 Br1@1 "
    "B1@1 Bs1@1 / "
    "Dl0@2 Dr0@2 Fr0@2 F0@2 B0@2 Dl1@2 Bs0@2 Dr1@2 Fr1@2 F1@2 B1@2 Bs1@2"));

static_assert(makes<PipelineShape{.ranks = 3, .micro_batches = 3}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dl2@0 F2@0 Br0@0 Ds2@0 Fs2@0 B0@0 Br1@0 B1@0 "
    "Br2@0 B2@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Dl1@1 Dr1@1 Fr1@1 Ds0@1 Fs0@1 F1@1 Br0@1 Ds1@1 Fs1@1 B0@1 Dl2@1 Bs0@1 "
    "Dr2@1 Fr2@1 F2@1 Br1@1 Ds2@1 Fs2@1 B1@1 Bs1@1 Br2@1 B2@1 Bs2@1 / "
    "Dl0@2 Dr0@2 Fr0@2 F0@2 B0@2 Dl1@2 Bs0@2 Dr1@2 Fr1@2 F1@2 B1@2 Dl2@2 Bs1@2 Dr2@2 Fr2@2 F2@2 "
    "B2@2 Bs2@2"));

static_assert(makes<PipelineShape{.ranks = 3, .micro_batches = 6}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dl2@0 F2@0 Br0@0 Ds2@0 Fs2@0 B0@0 Dl3@0 F3@0 "
    "Br1@0 Ds3@0 Fs3@0 B1@0 Dl4@0 F4@0 Br2@0 Ds4@0 Fs4@0 B2@0 Dl5@0 F5@0 Br3@0 Ds5@0 Fs5@0 B3@0 "
    "Br4@0 B4@0 Br5@0 B5@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Dl1@1 Dr1@1 Fr1@1 Ds0@1 Fs0@1 F1@1 Br0@1 Ds1@1 Fs1@1 B0@1 Dl2@1 Bs0@1 "
    "Dr2@1 Fr2@1 F2@1 Br1@1 Ds2@1 Fs2@1 B1@1 Dl3@1 Bs1@1 Dr3@1 Fr3@1 F3@1 Br2@1 Ds3@1 Fs3@1 B2@1 "
    "Dl4@1 Bs2@1 Dr4@1 Fr4@1 F4@1 Br3@1 Ds4@1 Fs4@1 B3@1 Dl5@1 Bs3@1 Dr5@1 Fr5@1 F5@1 Br4@1 Ds5@1 "
    "Fs5@1 B4@1 Bs4@1 Br5@1 B5@1 Bs5@1 / "
    "Dl0@2 Dr0@2 Fr0@2 F0@2 B0@2 Dl1@2 Bs0@2 Dr1@2 Fr1@2 F1@2 B1@2 Dl2@2 Bs1@2 Dr2@2 Fr2@2 F2@2 "
    "B2@2 Dl3@2 Bs2@2 Dr3@2 Fr3@2 F3@2 B3@2 Dl4@2 Bs3@2 Dr4@2 Fr4@2 F4@2 B4@2 Dl5@2 Bs4@2 Dr5@2 "
    "Fr5@2 F5@2 B5@2 Bs5@2"));

static_assert(makes<PipelineShape{.ranks = 4, .micro_batches = 1}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Br0@0 B0@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Ds0@1 Fs0@1 Br0@1 B0@1 Bs0@1 / "
    "Dl0@2 Dr0@2 Fr0@2 F0@2 Ds0@2 Fs0@2 Br0@2 B0@2 Bs0@2 / "
    "Dl0@3 Dr0@3 Fr0@3 F0@3 B0@3 Bs0@3"));

static_assert(makes<PipelineShape{.ranks = 4, .micro_batches = 2}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Br0@0 B0@0 Br1@0 B1@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Dl1@1 Dr1@1 Fr1@1 Ds0@1 Fs0@1 F1@1 Ds1@1 Fs1@1 Br0@1 B0@1 Bs0@1 Br1@1 "
    "B1@1 Bs1@1 / "
    "Dl0@2 Dr0@2 Fr0@2 F0@2 Ds0@2 Fs0@2 Dl1@2 Dr1@2 Fr1@2 F1@2 Br0@2 Ds1@2 Fs1@2 B0@2 Bs0@2 Br1@2 "
    "B1@2 Bs1@2 / "
    "Dl0@3 Dr0@3 Fr0@3 F0@3 B0@3 Dl1@3 Bs0@3 Dr1@3 Fr1@3 F1@3 B1@3 Bs1@3"));

static_assert(makes<PipelineShape{.ranks = 8, .micro_batches = 1}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Br0@0 B0@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Ds0@1 Fs0@1 Br0@1 B0@1 Bs0@1 / "
    "Dl0@2 Dr0@2 Fr0@2 F0@2 Ds0@2 Fs0@2 Br0@2 B0@2 Bs0@2 / "
    "Dl0@3 Dr0@3 Fr0@3 F0@3 Ds0@3 Fs0@3 Br0@3 B0@3 Bs0@3 / "
    "Dl0@4 Dr0@4 Fr0@4 F0@4 Ds0@4 Fs0@4 Br0@4 B0@4 Bs0@4 / "
    "Dl0@5 Dr0@5 Fr0@5 F0@5 Ds0@5 Fs0@5 Br0@5 B0@5 Bs0@5 / "
    "Dl0@6 Dr0@6 Fr0@6 F0@6 Ds0@6 Fs0@6 Br0@6 B0@6 Bs0@6 / "
    "Dl0@7 Dr0@7 Fr0@7 F0@7 B0@7 Bs0@7"));

}  // namespace
