# Headers of render/. One a line, sorted, relative to include/heddle.
set(HEDDLE_HEADERS_render
)
