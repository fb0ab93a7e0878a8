// expect-error: data_only moves data and runs no tower, so nothing of it can train
#include <heddle/schedule/mpipe_transpose.hpp>

#ifdef HEDDLE_FIXED
constexpr heddle::MPipeTraits traits{.tower = heddle::Tower::none, .data_only = true};
#else
constexpr heddle::MPipeTraits traits{.data_only = true};
#endif
static_assert(heddle::schedule<heddle::MPipeTranspose<heddle::OverflowMode::full, traits>>);
static_assert(heddle::MPipeTranspose<heddle::OverflowMode::full, traits>::options.traits == traits);
