# Headers of nccl/. One a line, sorted, relative to include/heddle.
set(HEDDLE_HEADERS_nccl
)
