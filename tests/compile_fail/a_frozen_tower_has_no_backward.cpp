// expect-error: the owners can only run a trainable tower backward
#include <heddle/schedule/mpipe_transpose.hpp>

#ifdef HEDDLE_FIXED
constexpr heddle::MPipeTraits traits{.tower = heddle::Tower::trainable,
                                     .backward = heddle::TowerBackward::owner};
#else
constexpr heddle::MPipeTraits traits{.tower = heddle::Tower::frozen,
                                     .backward = heddle::TowerBackward::owner};
#endif
static_assert(heddle::schedule<heddle::MPipeTranspose<heddle::OverflowMode::min, traits>>);
static_assert(heddle::MPipeTranspose<heddle::OverflowMode::min, traits>::options.traits == traits);
