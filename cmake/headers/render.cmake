# Headers of render/. One a line, sorted, relative to include/heddle.
set(HEDDLE_HEADERS_render
  render/chrome_trace.hpp
  render/format.hpp
  render/span_csv.hpp
  render/svg.hpp
  render/text.hpp
)
