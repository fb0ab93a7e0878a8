# Headers of schedule/. One a line, sorted, relative to include/heddle.
set(HEDDLE_HEADERS_schedule
  schedule/alignment.hpp
  schedule/catalogue.hpp
  schedule/exec_order.hpp
  schedule/gpipe.hpp
  schedule/interleaved_1f1b.hpp
  schedule/lower.hpp
  schedule/lowering.hpp
  schedule/mpipe_lowering.hpp
  schedule/mpipe_options.hpp
  schedule/mpipe_transpose.hpp
  schedule/one_f_one_b.hpp
  schedule/order_tables.hpp
  schedule/ownership.hpp
  schedule/schedule.hpp
  schedule/stage_steps.hpp
)
