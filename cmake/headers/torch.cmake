# Headers of torch/. One a line, sorted, relative to include/heddle.
set(HEDDLE_HEADERS_torch
  torch/bundle.hpp
  torch/call.hpp
  torch/stage.hpp
)
