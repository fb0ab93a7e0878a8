// The spellings that are promised to users.
#include <heddle/heddle.hpp>

#include <cstdio>

// docs: begin
using Schedule = heddle::Interleaved1F1B;
constexpr heddle::PipelineShape shape{.ranks = 4, .stages_per_rank = 2, .micro_batches = 16};
static_assert(heddle::valid<Schedule, shape>);
constexpr const auto& table = heddle::exec_order<Schedule, shape>();
// docs: end

int main() try {
  const heddle::Order order = heddle::exec_order(Schedule{}, shape);
  if (auto fault = heddle::verify(order)) throw heddle::ScheduleError(*fault);
  const auto steps = heddle::with_schedule("interleaved_1f1b", [](auto schedule) {
    return heddle::exec_order(schedule, shape).steps.size();
  });
  return steps == order.steps.size() && steps == table.steps.size() ? 0 : 1;
} catch (const heddle::Error& error) {
  std::puts(error.what());
  return 1;
}
