#include <heddle/core/text.hpp>

#include <array>

namespace {

using heddle::step_of_text;
using heddle::StepKind;

static_assert(step_of_text("F3@2") == heddle::forward(3, 2));
static_assert(step_of_text("Bs0@1") == heddle::Step{StepKind::send_gradient, 0, 1});
static_assert(step_of_text("Rgx@0") ==
              heddle::Step{StepKind::reduce_tower_gradient, heddle::no_micro_batch, 0});
static_assert(step_of_text("Sx2@1") == heddle::Step{StepKind::wait_load, 2, 1});
static_assert(step_of_text("Mf5@-1") == heddle::Step{StepKind::tower_forward, 5, heddle::no_stage});
static_assert(step_of_text("X5.3@2") == heddle::Step{heddle::user_kind(5), 3, 2});
static_assert(step_of_text("X127.x@-1") ==
              heddle::Step{heddle::user_kind(127), heddle::no_micro_batch, heddle::no_stage});

static_assert(!step_of_text(""));
static_assert(!step_of_text("F"));
static_assert(!step_of_text("Fx@0"));
static_assert(!step_of_text("F3"));
static_assert(!step_of_text("F3@"));
static_assert(!step_of_text("F3@-1"));
static_assert(!step_of_text("F3@2 "));
static_assert(!step_of_text("Q3@2"));
static_assert(!step_of_text("X128.3@2"));
static_assert(!step_of_text("F999999999999@2"));

constexpr std::array steps{heddle::forward(0, 0),  heddle::idle,          heddle::idle,
                           heddle::backward(0, 0), heddle::forward(0, 1), heddle::backward(0, 1)};
constexpr std::array offsets{0, 4, 6};
constexpr std::array ranks_of_stages{0, 1};
constexpr heddle::OrderView order{
    {.ranks = 2, .micro_batches = 1}, ranks_of_stages, offsets, steps};

static_assert(reads(order, "F0@0 -2 B0@0 / F0@1 B0@1"));
static_assert(reads(order, "F0@0 B0@0 / F0@1 B0@1", heddle::Bubbles::left_out));
static_assert(reads(order, "F0@0 -2 B0@0 / F0@1 B0@1", heddle::Bubbles::left_out));
static_assert(!reads(order, "F0@0 B0@0 / F0@1 B0@1"));
static_assert(!reads(order, "F0@0 -2 B0@0 / F0@1"));
static_assert(!reads(order, "F0@0 -2 B0@0"));
static_assert(!reads(order, "F0@0 -2 B0@0 / F0@1 B0@1 / F0@2"));
static_assert(!reads(order, "F0@0 -2 B0@0 / [F0@1|B0@1"));
static_assert(reads(order, "F0@0 -2 B0@0 / [F0@1|B0@1]"));

}  // namespace
