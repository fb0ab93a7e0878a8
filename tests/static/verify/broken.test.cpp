// The laws at compile time; tests/unit/verify/broken_orders.test.cpp asks the same at run time.

#include "support/broken_orders.hpp"

#include <cstddef>
#include <utility>

#include "support/draft.hpp"

using namespace heddle;

namespace {

constexpr bool is_found(const heddle_test::BrokenOrder& broken) {
  const heddle_test::Draft draft{broken.shape, broken.text};
  const auto fault = heddle_test::first_fault_of(draft.view());
  return fault && fault->kind == broken.kind && fault->rank == broken.rank &&
         fault->position == broken.position && fault->other_rank == broken.other_rank &&
         fault->other_position == broken.other_position;
}

constexpr bool is_sound(const heddle_test::SoundOrder& sound) {
  return !heddle_test::first_fault_of(heddle_test::Draft{sound.shape, sound.text}.view());
}

// Each order is a constant evaluation of its own: compilers limit the work of one.
template <std::size_t Index>
constexpr bool found = is_found(heddle_test::broken_orders[Index]);

template <std::size_t Index>
constexpr bool sound = is_sound(heddle_test::sound_orders[Index]);

template <std::size_t... Index>
constexpr bool all_found(std::index_sequence<Index...>) {
  static_assert((found<Index> && ...));
  return true;
}

template <std::size_t... Index>
constexpr bool all_sound(std::index_sequence<Index...>) {
  static_assert((sound<Index> && ...));
  return true;
}

}  // namespace

static_assert(all_sound(std::make_index_sequence<heddle_test::sound_orders.size()>{}));
static_assert(all_found(std::make_index_sequence<heddle_test::broken_orders.size()>{}));
