# Headers of core/. One a line, sorted, relative to include/heddle.
set(HEDDLE_HEADERS_core
)
