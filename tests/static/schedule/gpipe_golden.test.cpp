#include <string_view>

#include <heddle/core/text.hpp>
#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/gpipe.hpp>

// Rows of tests/data/golden/orders_gpipe.tsv, which the unit tests read whole.
namespace {

using namespace heddle;

template <PipelineShape shape>
constexpr bool makes(std::string_view golden) {
  return reads(exec_order<GPipe, shape, DataSteps::chain>(), golden, Bubbles::left_out);
}

static_assert(makes<PipelineShape{.ranks = 1, .micro_batches = 3}>(
    "Dl0@0 F0@0 Dl1@0 F1@0 Dl2@0 F2@0 B0@0 B1@0 B2@0"));

static_assert(
    makes<PipelineShape{.ranks = 2, .micro_batches = 1}>("Dl0@0 F0@0 Ds0@0 Fs0@0 Br0@0 B0@0 / "
                                                         "Dl0@1 Dr0@1 Fr0@1 F0@1 B0@1 Bs0@1"));

static_assert(makes<PipelineShape{.ranks = 2, .micro_batches = 4}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dl2@0 F2@0 Ds2@0 Fs2@0 Dl3@0 F3@0 Ds3@0 Fs3@0 "
    "Br0@0 B0@0 Br1@0 B1@0 Br2@0 B2@0 Br3@0 B3@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Dl1@1 Dr1@1 Fr1@1 F1@1 Dl2@1 Dr2@1 Fr2@1 F2@1 Dl3@1 Dr3@1 Fr3@1 F3@1 "
    "B0@1 Bs0@1 B1@1 Bs1@1 B2@1 Bs2@1 B3@1 Bs3@1"));

static_assert(makes<PipelineShape{.ranks = 2, .micro_batches = 5}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dl2@0 F2@0 Ds2@0 Fs2@0 Dl3@0 F3@0 Ds3@0 Fs3@0 "
    "Dl4@0 F4@0 Ds4@0 Fs4@0 Br0@0 B0@0 Br1@0 B1@0 Br2@0 B2@0 Br3@0 B3@0 Br4@0 B4@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Dl1@1 Dr1@1 Fr1@1 F1@1 Dl2@1 Dr2@1 Fr2@1 F2@1 Dl3@1 Dr3@1 Fr3@1 F3@1 "
    "Dl4@1 Dr4@1 Fr4@1 F4@1 B0@1 Bs0@1 B1@1 Bs1@1 B2@1 Bs2@1 B3@1 Bs3@1 B4@1 Bs4@1"));

static_assert(makes<PipelineShape{.ranks = 2, .micro_batches = 12}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dl2@0 F2@0 Ds2@0 Fs2@0 Dl3@0 F3@0 Ds3@0 Fs3@0 "
    "Dl4@0 F4@0 Ds4@0 Fs4@0 Dl5@0 F5@0 Ds5@0 Fs5@0 Dl6@0 F6@0 Ds6@0 Fs6@0 Dl7@0 F7@0 Ds7@0 Fs7@0 "
    "Dl8@0 F8@0 Ds8@0 Fs8@0 Dl9@0 F9@0 Ds9@0 Fs9@0 Dl10@0 F10@0 Ds10@0 Fs10@0 Dl11@0 F11@0 Ds11@0 "
    "Fs11@0 Br0@0 B0@0 Br1@0 B1@0 Br2@0 B2@0 Br3@0 B3@0 Br4@0 B4@0 Br5@0 B5@0 Br6@0 B6@0 Br7@0 "
    "B7@0 Br8@0 B8@0 Br9@0 B9@0 Br10@0 B10@0 Br11@0 B11@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Dl1@1 Dr1@1 Fr1@1 F1@1 Dl2@1 Dr2@1 Fr2@1 F2@1 Dl3@1 Dr3@1 Fr3@1 F3@1 "
    "Dl4@1 Dr4@1 Fr4@1 F4@1 Dl5@1 Dr5@1 Fr5@1 F5@1 Dl6@1 Dr6@1 Fr6@1 F6@1 Dl7@1 Dr7@1 Fr7@1 F7@1 "
    "Dl8@1 Dr8@1 Fr8@1 F8@1 Dl9@1 Dr9@1 Fr9@1 F9@1 Dl10@1 Dr10@1 Fr10@1 F10@1 Dl11@1 Dr11@1 Fr11@1 "
    "F11@1 B0@1 Bs0@1 B1@1 Bs1@1 B2@1 Bs2@1 B3@1 Bs3@1 B4@1 Bs4@1 B5@1 Bs5@1 B6@1 Bs6@1 B7@1 Bs7@1 "
    "B8@1 Bs8@1 B9@1 Bs9@1 B10@1 Bs10@1 B11@1 Bs11@1"));

static_assert(makes<PipelineShape{.ranks = 3, .micro_batches = 1}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Br0@0 B0@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Ds0@1 Fs0@1 Br0@1 B0@1 Bs0@1 / "
    "Dl0@2 Dr0@2 Fr0@2 F0@2 B0@2 Bs0@2"));

static_assert(makes<PipelineShape{.ranks = 3, .micro_batches = 3}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dl2@0 F2@0 Ds2@0 Fs2@0 Br0@0 B0@0 Br1@0 B1@0 "
    "Br2@0 B2@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Ds0@1 Fs0@1 Dl1@1 Dr1@1 Fr1@1 F1@1 Ds1@1 Fs1@1 Dl2@1 Dr2@1 Fr2@1 F2@1 "
    "Ds2@1 Fs2@1 Br0@1 B0@1 Bs0@1 Br1@1 B1@1 Bs1@1 Br2@1 B2@1 Bs2@1 / "
    "Dl0@2 Dr0@2 Fr0@2 F0@2 Dl1@2 Dr1@2 Fr1@2 F1@2 Dl2@2 Dr2@2 Fr2@2 F2@2 B0@2 Bs0@2 B1@2 Bs1@2 "
    "B2@2 Bs2@2"));

static_assert(makes<PipelineShape{.ranks = 3, .micro_batches = 4}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dl2@0 F2@0 Ds2@0 Fs2@0 Dl3@0 F3@0 Ds3@0 Fs3@0 "
    "Br0@0 B0@0 Br1@0 B1@0 Br2@0 B2@0 Br3@0 B3@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Ds0@1 Fs0@1 Dl1@1 Dr1@1 Fr1@1 F1@1 Ds1@1 Fs1@1 Dl2@1 Dr2@1 Fr2@1 F2@1 "
    "Ds2@1 Fs2@1 Dl3@1 Dr3@1 Fr3@1 F3@1 Ds3@1 Fs3@1 Br0@1 B0@1 Bs0@1 Br1@1 B1@1 Bs1@1 Br2@1 B2@1 "
    "Bs2@1 Br3@1 B3@1 Bs3@1 / "
    "Dl0@2 Dr0@2 Fr0@2 F0@2 Dl1@2 Dr1@2 Fr1@2 F1@2 Dl2@2 Dr2@2 Fr2@2 F2@2 Dl3@2 Dr3@2 Fr3@2 F3@2 "
    "B0@2 Bs0@2 B1@2 Bs1@2 B2@2 Bs2@2 B3@2 Bs3@2"));

static_assert(makes<PipelineShape{.ranks = 3, .micro_batches = 5}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dl2@0 F2@0 Ds2@0 Fs2@0 Dl3@0 F3@0 Ds3@0 Fs3@0 "
    "Dl4@0 F4@0 Ds4@0 Fs4@0 Br0@0 B0@0 Br1@0 B1@0 Br2@0 B2@0 Br3@0 B3@0 Br4@0 B4@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Ds0@1 Fs0@1 Dl1@1 Dr1@1 Fr1@1 F1@1 Ds1@1 Fs1@1 Dl2@1 Dr2@1 Fr2@1 F2@1 "
    "Ds2@1 Fs2@1 Dl3@1 Dr3@1 Fr3@1 F3@1 Ds3@1 Fs3@1 Dl4@1 Dr4@1 Fr4@1 F4@1 Ds4@1 Fs4@1 Br0@1 B0@1 "
    "Bs0@1 Br1@1 B1@1 Bs1@1 Br2@1 B2@1 Bs2@1 Br3@1 B3@1 Bs3@1 Br4@1 B4@1 Bs4@1 / "
    "Dl0@2 Dr0@2 Fr0@2 F0@2 Dl1@2 Dr1@2 Fr1@2 F1@2 Dl2@2 Dr2@2 Fr2@2 F2@2 Dl3@2 Dr3@2 Fr3@2 F3@2 "
    "Dl4@2 Dr4@2 Fr4@2 F4@2 B0@2 Bs0@2 B1@2 Bs1@2 B2@2 Bs2@2 B3@2 Bs3@2 B4@2 Bs4@2"));

static_assert(makes<PipelineShape{.ranks = 3, .micro_batches = 6}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dl2@0 F2@0 Ds2@0 Fs2@0 Dl3@0 F3@0 Ds3@0 Fs3@0 "
    "Dl4@0 F4@0 Ds4@0 Fs4@0 Dl5@0 F5@0 Ds5@0 Fs5@0 Br0@0 B0@0 Br1@0 B1@0 Br2@0 B2@0 Br3@0 B3@0 "
    "Br4@0 B4@0 Br5@0 B5@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Ds0@1 Fs0@1 Dl1@1 Dr1@1 Fr1@1 F1@1 Ds1@1 Fs1@1 Dl2@1 Dr2@1 Fr2@1 F2@1 "
    "Ds2@1 Fs2@1 Dl3@1 Dr3@1 Fr3@1 F3@1 Ds3@1 Fs3@1 Dl4@1 Dr4@1 Fr4@1 F4@1 Ds4@1 Fs4@1 Dl5@1 Dr5@1 "
    "Fr5@1 F5@1 Ds5@1 Fs5@1 Br0@1 B0@1 Bs0@1 Br1@1 B1@1 Bs1@1 Br2@1 B2@1 Bs2@1 Br3@1 B3@1 Bs3@1 "
    "Br4@1 B4@1 Bs4@1 Br5@1 B5@1 Bs5@1 / "
    "Dl0@2 Dr0@2 Fr0@2 F0@2 Dl1@2 Dr1@2 Fr1@2 F1@2 Dl2@2 Dr2@2 Fr2@2 F2@2 Dl3@2 Dr3@2 Fr3@2 F3@2 "
    "Dl4@2 Dr4@2 Fr4@2 F4@2 Dl5@2 Dr5@2 Fr5@2 F5@2 B0@2 Bs0@2 B1@2 Bs1@2 B2@2 Bs2@2 B3@2 Bs3@2 "
    "B4@2 Bs4@2 B5@2 Bs5@2"));

static_assert(makes<PipelineShape{.ranks = 3, .micro_batches = 7}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dl2@0 F2@0 Ds2@0 Fs2@0 Dl3@0 F3@0 Ds3@0 Fs3@0 "
    "Dl4@0 F4@0 Ds4@0 Fs4@0 Dl5@0 F5@0 Ds5@0 Fs5@0 Dl6@0 F6@0 Ds6@0 Fs6@0 Br0@0 B0@0 Br1@0 B1@0 "
    "Br2@0 B2@0 Br3@0 B3@0 Br4@0 B4@0 Br5@0 B5@0 Br6@0 B6@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Ds0@1 Fs0@1 Dl1@1 Dr1@1 Fr1@1 F1@1 Ds1@1 Fs1@1 Dl2@1 Dr2@1 Fr2@1 F2@1 "
    "Ds2@1 Fs2@1 Dl3@1 Dr3@1 Fr3@1 F3@1 Ds3@1 Fs3@1 Dl4@1 Dr4@1 Fr4@1 F4@1 Ds4@1 Fs4@1 Dl5@1 Dr5@1 "
    "Fr5@1 F5@1 Ds5@1 Fs5@1 Dl6@1 Dr6@1 Fr6@1 F6@1 Ds6@1 Fs6@1 Br0@1 B0@1 Bs0@1 Br1@1 B1@1 Bs1@1 "
    "Br2@1 B2@1 Bs2@1 Br3@1 B3@1 Bs3@1 Br4@1 B4@1 Bs4@1 Br5@1 B5@1 Bs5@1 Br6@1 B6@1 Bs6@1 / "
    "Dl0@2 Dr0@2 Fr0@2 F0@2 Dl1@2 Dr1@2 Fr1@2 F1@2 Dl2@2 Dr2@2 Fr2@2 F2@2 Dl3@2 Dr3@2 Fr3@2 F3@2 "
    "Dl4@2 Dr4@2 Fr4@2 F4@2 Dl5@2 Dr5@2 Fr5@2 F5@2 Dl6@2 Dr6@2 Fr6@2 F6@2 B0@2 Bs0@2 B1@2 Bs1@2 "
    "B2@2 Bs2@2 B3@2 Bs3@2 B4@2 Bs4@2 B5@2 Bs5@2 B6@2 Bs6@2"));

static_assert(makes<PipelineShape{.ranks = 4, .micro_batches = 1}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Br0@0 B0@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Ds0@1 Fs0@1 Br0@1 B0@1 Bs0@1 / "
    "Dl0@2 Dr0@2 Fr0@2 F0@2 Ds0@2 Fs0@2 Br0@2 B0@2 Bs0@2 / "
    "Dl0@3 Dr0@3 Fr0@3 F0@3 B0@3 Bs0@3"));

static_assert(makes<PipelineShape{.ranks = 4, .micro_batches = 3}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dl2@0 F2@0 Ds2@0 Fs2@0 Br0@0 B0@0 Br1@0 B1@0 "
    "Br2@0 B2@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Ds0@1 Fs0@1 Dl1@1 Dr1@1 Fr1@1 F1@1 Ds1@1 Fs1@1 Dl2@1 Dr2@1 Fr2@1 F2@1 "
    "Ds2@1 Fs2@1 Br0@1 B0@1 Bs0@1 Br1@1 B1@1 Bs1@1 Br2@1 B2@1 Bs2@1 / "
    "Dl0@2 Dr0@2 Fr0@2 F0@2 Ds0@2 Fs0@2 Dl1@2 Dr1@2 Fr1@2 F1@2 Ds1@2 Fs1@2 Dl2@2 Dr2@2 Fr2@2 F2@2 "
    "Ds2@2 Fs2@2 Br0@2 B0@2 Bs0@2 Br1@2 B1@2 Bs1@2 Br2@2 B2@2 Bs2@2 / "
    "Dl0@3 Dr0@3 Fr0@3 F0@3 Dl1@3 Dr1@3 Fr1@3 F1@3 Dl2@3 Dr2@3 Fr2@3 F2@3 B0@3 Bs0@3 B1@3 Bs1@3 "
    "B2@3 Bs2@3"));

static_assert(makes<PipelineShape{.ranks = 4, .micro_batches = 4}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dl2@0 F2@0 Ds2@0 Fs2@0 Dl3@0 F3@0 Ds3@0 Fs3@0 "
    "Br0@0 B0@0 Br1@0 B1@0 Br2@0 B2@0 Br3@0 B3@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Ds0@1 Fs0@1 Dl1@1 Dr1@1 Fr1@1 F1@1 Ds1@1 Fs1@1 Dl2@1 Dr2@1 Fr2@1 F2@1 "
    "Ds2@1 Fs2@1 Dl3@1 Dr3@1 Fr3@1 F3@1 Ds3@1 Fs3@1 Br0@1 B0@1 Bs0@1 Br1@1 B1@1 Bs1@1 Br2@1 B2@1 "
    "Bs2@1 Br3@1 B3@1 Bs3@1 / "
    "Dl0@2 Dr0@2 Fr0@2 F0@2 Ds0@2 Fs0@2 Dl1@2 Dr1@2 Fr1@2 F1@2 Ds1@2 Fs1@2 Dl2@2 Dr2@2 Fr2@2 F2@2 "
    "Ds2@2 Fs2@2 Dl3@2 Dr3@2 Fr3@2 F3@2 Ds3@2 Fs3@2 Br0@2 B0@2 Bs0@2 Br1@2 B1@2 Bs1@2 Br2@2 B2@2 "
    "Bs2@2 Br3@2 B3@2 Bs3@2 / "
    "Dl0@3 Dr0@3 Fr0@3 F0@3 Dl1@3 Dr1@3 Fr1@3 F1@3 Dl2@3 Dr2@3 Fr2@3 F2@3 Dl3@3 Dr3@3 Fr3@3 F3@3 "
    "B0@3 Bs0@3 B1@3 Bs1@3 B2@3 Bs2@3 B3@3 Bs3@3"));

static_assert(makes<PipelineShape{.ranks = 4, .micro_batches = 6}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dl2@0 F2@0 Ds2@0 Fs2@0 Dl3@0 F3@0 Ds3@0 Fs3@0 "
    "Dl4@0 F4@0 Ds4@0 Fs4@0 Dl5@0 F5@0 Ds5@0 Fs5@0 Br0@0 B0@0 Br1@0 B1@0 Br2@0 B2@0 Br3@0 B3@0 "
    "Br4@0 B4@0 Br5@0 B5@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Ds0@1 Fs0@1 Dl1@1 Dr1@1 Fr1@1 F1@1 Ds1@1 Fs1@1 Dl2@1 Dr2@1 Fr2@1 F2@1 "
    "Ds2@1 Fs2@1 Dl3@1 Dr3@1 Fr3@1 F3@1 Ds3@1 Fs3@1 Dl4@1 Dr4@1 Fr4@1 F4@1 Ds4@1 Fs4@1 Dl5@1 Dr5@1 "
    "Fr5@1 F5@1 Ds5@1 Fs5@1 Br0@1 B0@1 Bs0@1 Br1@1 B1@1 Bs1@1 Br2@1 B2@1 Bs2@1 Br3@1 B3@1 Bs3@1 "
    "Br4@1 B4@1 Bs4@1 Br5@1 B5@1 Bs5@1 / "
    "Dl0@2 Dr0@2 Fr0@2 F0@2 Ds0@2 Fs0@2 Dl1@2 Dr1@2 Fr1@2 F1@2 Ds1@2 Fs1@2 Dl2@2 Dr2@2 Fr2@2 F2@2 "
    "Ds2@2 Fs2@2 Dl3@2 Dr3@2 Fr3@2 F3@2 Ds3@2 Fs3@2 Dl4@2 Dr4@2 Fr4@2 F4@2 Ds4@2 Fs4@2 Dl5@2 Dr5@2 "
    "Fr5@2 F5@2 Ds5@2 Fs5@2 Br0@2 B0@2 Bs0@2 Br1@2 B1@2 Bs1@2 Br2@2 B2@2 Bs2@2 Br3@2 B3@2 Bs3@2 "
    "Br4@2 B4@2 Bs4@2 Br5@2 B5@2 Bs5@2 / "
    "Dl0@3 Dr0@3 Fr0@3 F0@3 Dl1@3 Dr1@3 Fr1@3 F1@3 Dl2@3 Dr2@3 Fr2@3 F2@3 Dl3@3 Dr3@3 Fr3@3 F3@3 "
    "Dl4@3 Dr4@3 Fr4@3 F4@3 Dl5@3 Dr5@3 Fr5@3 F5@3 B0@3 Bs0@3 B1@3 Bs1@3 B2@3 Bs2@3 B3@3 Bs3@3 "
    "B4@3 Bs4@3 B5@3 Bs5@3"));

static_assert(makes<PipelineShape{.ranks = 8, .micro_batches = 3}>(
    "Dl0@0 F0@0 Ds0@0 Fs0@0 Dl1@0 F1@0 Ds1@0 Fs1@0 Dl2@0 F2@0 Ds2@0 Fs2@0 Br0@0 B0@0 Br1@0 B1@0 "
    "Br2@0 B2@0 / "
    "Dl0@1 Dr0@1 Fr0@1 F0@1 Ds0@1 Fs0@1 Dl1@1 Dr1@1 Fr1@1 F1@1 Ds1@1 Fs1@1 Dl2@1 Dr2@1 Fr2@1 F2@1 "
    "Ds2@1 Fs2@1 Br0@1 B0@1 Bs0@1 Br1@1 B1@1 Bs1@1 Br2@1 B2@1 Bs2@1 / "
    "Dl0@2 Dr0@2 Fr0@2 F0@2 Ds0@2 Fs0@2 Dl1@2 Dr1@2 Fr1@2 F1@2 Ds1@2 Fs1@2 Dl2@2 Dr2@2 Fr2@2 F2@2 "
    "Ds2@2 Fs2@2 Br0@2 B0@2 Bs0@2 Br1@2 B1@2 Bs1@2 Br2@2 B2@2 Bs2@2 / "
    "Dl0@3 Dr0@3 Fr0@3 F0@3 Ds0@3 Fs0@3 Dl1@3 Dr1@3 Fr1@3 F1@3 Ds1@3 Fs1@3 Dl2@3 Dr2@3 Fr2@3 F2@3 "
    "Ds2@3 Fs2@3 Br0@3 B0@3 Bs0@3 Br1@3 B1@3 Bs1@3 Br2@3 B2@3 Bs2@3 / "
    "Dl0@4 Dr0@4 Fr0@4 F0@4 Ds0@4 Fs0@4 Dl1@4 Dr1@4 Fr1@4 F1@4 Ds1@4 Fs1@4 Dl2@4 Dr2@4 Fr2@4 F2@4 "
    "Ds2@4 Fs2@4 Br0@4 B0@4 Bs0@4 Br1@4 B1@4 Bs1@4 Br2@4 B2@4 Bs2@4 / "
    "Dl0@5 Dr0@5 Fr0@5 F0@5 Ds0@5 Fs0@5 Dl1@5 Dr1@5 Fr1@5 F1@5 Ds1@5 Fs1@5 Dl2@5 Dr2@5 Fr2@5 F2@5 "
    "Ds2@5 Fs2@5 Br0@5 B0@5 Bs0@5 Br1@5 B1@5 Bs1@5 Br2@5 B2@5 Bs2@5 / "
    "Dl0@6 Dr0@6 Fr0@6 F0@6 Ds0@6 Fs0@6 Dl1@6 Dr1@6 Fr1@6 F1@6 Ds1@6 Fs1@6 Dl2@6 Dr2@6 Fr2@6 F2@6 "
    "Ds2@6 Fs2@6 Br0@6 B0@6 Bs0@6 Br1@6 B1@6 Bs1@6 Br2@6 B2@6 Bs2@6 / "
    "Dl0@7 Dr0@7 Fr0@7 F0@7 Dl1@7 Dr1@7 Fr1@7 F1@7 Dl2@7 Dr2@7 Fr2@7 F2@7 B0@7 Bs0@7 B1@7 Bs1@7 "
    "B2@7 Bs2@7"));

}  // namespace
