#include <heddle/schedule/catalogue.hpp>

#include <doctest/doctest.h>

#include <string>

#include <heddle/schedule/exec_order.hpp>

namespace {

using namespace heddle;

std::string called(std::string_view name) {
  return with_schedule(name, [](auto schedule) { return std::string{schedule.name}; });
}

}  // namespace

TEST_CASE("Each known name leads to the schedule of that name") {
  CHECK(schedule_names.size() == 4);
  for (const auto name : schedule_names) CHECK(called(name) == name);
}

TEST_CASE("A name leads to the type that makes the order") {
  const PipelineShape shape{.ranks = 4, .micro_batches = 8};
  const auto order_of = [&](auto schedule) { return exec_order(schedule, shape); };
  CHECK(with_schedule("gpipe", order_of) == exec_order(GPipe{}, shape));
  CHECK(with_schedule("1f1b", order_of) == exec_order(OneFOneB{}, shape));
  CHECK(with_schedule("interleaved_1f1b", order_of) == exec_order(Interleaved1F1B{}, shape));
}

TEST_CASE("Options that are known at run time reach the schedule") {
  const PipelineShape shape{.ranks = 4, .stages_per_rank = 2, .micro_batches = 7};
  const auto order_of = [&](auto schedule) { return exec_order(schedule, shape); };
  constexpr InterleavedOptions options{Warmup::shallow, Rounds::short_rounds};
  const auto order = with_schedule("interleaved_1f1b", {.interleaved = options}, order_of);
  CHECK(order == exec_order(BasicInterleaved1F1B<options>{}, shape));
  CHECK(order != exec_order(Interleaved1F1B{}, shape));
}

TEST_CASE("An unknown name is an error with the nearest and all known names") {
  CHECK_THROWS_WITH_AS(called("1f1bb"),
                       "no schedule is named '1f1bb', did you mean '1f1b'? Known are: gpipe, 1f1b, "
                       "interleaved_1f1b, mpipe",
                       Error);
  CHECK_THROWS_WITH_AS(called(""),
                       "no schedule is named '', did you mean '1f1b'? Known are: gpipe, 1f1b, "
                       "interleaved_1f1b, mpipe",
                       Error);
  CHECK_THROWS_AS(called("Interleaved"), Error);
}
