# Headers of detail/. One a line, sorted, relative to include/heddle.
set(HEDDLE_HEADERS_detail
)
