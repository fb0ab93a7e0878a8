# Headers of torch/ that also need graph/ (recorder and runner): target heddle::torch_graph. One a line, sorted, relative to include/heddle.
set(HEDDLE_HEADERS_torch_graph
)
