# Headers of torch/. One a line, sorted, relative to include/heddle.
set(HEDDLE_HEADERS_torch
  torch/bundle.hpp
  torch/c10d_communicator.hpp
  torch/c10d_description.hpp
  torch/c10d_environment.hpp
  torch/c10d_failure_board.hpp
  torch/c10d_group.hpp
  torch/c10d_link.hpp
  torch/c10d_sum.hpp
  torch/c10d_transport.hpp
  torch/c10d_watch.hpp
  torch/call.hpp
  torch/stage.hpp
)
