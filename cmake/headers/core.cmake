# Headers of core/. One a line, sorted, relative to include/heddle.
set(HEDDLE_HEADERS_core
  core/csv.hpp
  core/csv_scanner.hpp
  core/diagnostic.hpp
  core/error.hpp
  core/import.hpp
  core/number.hpp
  core/order.hpp
  core/placement.hpp
  core/shape.hpp
  core/step.hpp
  core/step_names.hpp
  core/text.hpp
  core/text_scanner.hpp
  core/timeline.hpp
  core/version.hpp
)
