#include <doctest/doctest.h>

#include <heddle/schedule/exec_order.hpp>
#include <heddle/schedule/gpipe.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/one_f_one_b.hpp>
#include <heddle/verify/memory.hpp>
#include <heddle/verify/verify.hpp>

using namespace heddle;

namespace {

/// How many orders of `policy` are at fault: all shapes of a grid, frozen prefixes of every length,
/// with and without data steps.
template <schedule Schedule>
int faults_of(const Schedule& policy, int most_stages_per_rank) {
  int faults = 0;
  for (int ranks = 1; ranks <= 5; ++ranks) {
    for (int stages_per_rank = 1; stages_per_rank <= most_stages_per_rank; ++stages_per_rank) {
      for (int micro_batches = 1; micro_batches <= 9; ++micro_batches) {
        for (int first = 0; first <= ranks * stages_per_rank; ++first) {
          const PipelineShape shape{ranks, stages_per_rank, micro_batches, first};
          for (const DataSteps data : {DataSteps::none, DataSteps::chain}) {
            const Order order = exec_order(policy, shape, data);
            faults += verify(order).has_value() ? 1 : 0;
            for (int rank = 0; rank < ranks; ++rank) {
              faults +=
                  peak_memory(order, rank).activations == peak_live(policy, shape, rank) ? 0 : 1;
            }
          }
        }
      }
    }
  }
  return faults;
}

}  // namespace

TEST_CASE("every built-in schedule obeys the laws on every small shape, frozen prefixes included") {
  CHECK(faults_of(GPipe{}, 1) == 0);
  CHECK(faults_of(OneFOneB{}, 1) == 0);
  CHECK(faults_of(Interleaved1F1B{}, 3) == 0);
  CHECK(faults_of(BasicInterleaved1F1B<InterleavedOptions{.warmup = Warmup::shallow}>{}, 3) == 0);
  CHECK(faults_of(BasicInterleaved1F1B<InterleavedOptions{.rounds = Rounds::short_rounds}>{}, 3) ==
        0);
  CHECK(faults_of(BasicInterleaved1F1B<InterleavedOptions{.warmup = Warmup::shallow,
                                                          .rounds = Rounds::short_rounds}>{},
                  3) == 0);
}
