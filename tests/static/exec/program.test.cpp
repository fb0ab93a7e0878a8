#include <algorithm>
#include <cstddef>
#include <vector>

#include <heddle/exec/compile.hpp>
#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/gpipe.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/one_f_one_b.hpp>

using namespace heddle;

namespace {

/// The slots and the buffers of a rank.
struct Storage {
  int slots;
  int buffers;
  friend constexpr bool operator==(const Storage&, const Storage&) = default;
};

template <class Schedule, PipelineShape shape, DataSteps Data = DataSteps::none>
consteval Storage storage(int rank) {
  const Program program = compile(exec_order<Schedule, shape, Data>(), rank);
  return {program.slots, program.buffers};
}

/// Whether no two live bundles or saved micro-batches ever share a place, and none is read before
/// it was written.
constexpr bool has_clean_places(const Program& program) {
  std::vector<int> buffers(static_cast<std::size_t>(program.buffers), 0);
  std::vector<int> slots(static_cast<std::size_t>(program.slots), 0);
  const auto turn = [](std::vector<int>& places, int place, int taken) {
    if (place < 0) return true;
    const auto at = static_cast<std::size_t>(place);
    if (at >= places.size() || places[at] == taken) return false;
    places[at] = taken;
    return true;
  };
  for (const Instruction& instruction : program.instructions) {
    using enum Operation;
    const bool starts = instruction.operation == forward || instruction.operation == forward_loss;
    const bool ends = instruction.operation == backward || instruction.operation == backward_weight;
    if (!turn(buffers, instruction.input, 0)) return false;
    if (!turn(buffers, instruction.output, 1)) return false;
    if (starts && !turn(slots, instruction.slot, 1)) return false;
    if (ends && !turn(slots, instruction.slot, 0)) return false;
  }
  return std::ranges::count(buffers, 1) == 0 && std::ranges::count(slots, 1) == 0;
}

template <class Schedule, PipelineShape shape>
consteval bool all_ranks_have_clean_places() {
  for (int rank = 0; rank < shape.ranks; ++rank) {
    if (!has_clean_places(compile(exec_order<Schedule, shape>(), rank))) return false;
  }
  return true;
}

}  // namespace

static_assert(all_ranks_have_clean_places<GPipe, PipelineShape{3, 1, 5}>());
static_assert(all_ranks_have_clean_places<OneFOneB, PipelineShape{4, 1, 8}>());
static_assert(all_ranks_have_clean_places<OneFOneB, PipelineShape{4, 1, 8, 2}>());
static_assert(all_ranks_have_clean_places<Interleaved1F1B, PipelineShape{4, 2, 8}>());
static_assert(all_ranks_have_clean_places<Interleaved1F1B, PipelineShape{2, 3, 5, 4}>());
static_assert(all_ranks_have_clean_places<Interleaved1F1B, PipelineShape{1, 3, 4}>());

// What is saved under 1F1B does not grow with the micro-batches, under GPipe it does.
static_assert(storage<OneFOneB, PipelineShape{4, 1, 8}>(0).slots == 4);
static_assert(storage<OneFOneB, PipelineShape{4, 1, 32}>(0) ==
              storage<OneFOneB, PipelineShape{4, 1, 8}>(0));
static_assert(storage<OneFOneB, PipelineShape{4, 1, 32}>(3).slots == 1);
static_assert(storage<GPipe, PipelineShape{4, 1, 8}>(2).slots == 8);
static_assert(storage<Interleaved1F1B, PipelineShape{4, 2, 8}>(0).slots == 11);
static_assert(storage<OneFOneB, PipelineShape{4, 1, 8, 2}>(1).slots == 0);

// A single rank hands over in memory: one bundle at a time, and no transfer.
static_assert(storage<Interleaved1F1B, PipelineShape{1, 1, 4}>(0) == Storage{1, 0});
static_assert(std::ranges::none_of(
    compile(exec_order<Interleaved1F1B, PipelineShape{1, 3, 4}>(), 0).instructions,
    [](const Instruction& instruction) {
      return instruction.operation == Operation::send ||
             instruction.operation == Operation::receive;
    }));
