// expect-error: has_abort
#include <heddle/exec/communicator.hpp>

#include "archetypes.hpp"

struct Communicator : heddle_test::archetype::Communicator {
#ifndef HEDDLE_FIXED
  void abort() = delete;
#endif
};

template <heddle::communicator Model>
struct Use;

using Used = Use<Communicator>;
