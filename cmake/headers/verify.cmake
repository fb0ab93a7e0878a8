# Headers of verify/. One a line, sorted, relative to include/heddle.
set(HEDDLE_HEADERS_verify
)
