# Headers of plan/. One a line, sorted, relative to include/heddle.
set(HEDDLE_HEADERS_plan
  plan/comparison.hpp
  plan/costs.hpp
  plan/message_table.hpp
  plan/plan.hpp
  plan/simulation.hpp
  plan/transposition.hpp
)
