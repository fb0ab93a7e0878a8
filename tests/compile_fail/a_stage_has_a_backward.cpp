// expect-error: has_backward
#include <heddle/exec/stage.hpp>

#include "archetypes.hpp"

struct Stage : heddle_test::archetype::Stage {
#ifndef HEDDLE_FIXED
  void backward() = delete;
#endif
};

template <heddle::stage_for<heddle_test::archetype::Bundle> Model>
struct Use;

using Used = Use<Stage>;
