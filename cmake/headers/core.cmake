# Headers of core/. One a line, sorted, relative to include/heddle.
set(HEDDLE_HEADERS_core
  core/diagnostic.hpp
  core/error.hpp
  core/order.hpp
  core/placement.hpp
  core/shape.hpp
  core/step.hpp
  core/step_names.hpp
  core/timeline.hpp
  core/version.hpp
)
