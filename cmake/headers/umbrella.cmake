# Headers of the top of include/heddle. One a line, sorted, relative to include/heddle.
set(HEDDLE_HEADERS_umbrella
  heddle.hpp
)
