# Headers of exec/. One a line, sorted, relative to include/heddle.
set(HEDDLE_HEADERS_exec
  exec/bundle.hpp
  exec/communicator.hpp
  exec/failure.hpp
  exec/loss.hpp
  exec/micro_batch.hpp
  exec/stage.hpp
)
