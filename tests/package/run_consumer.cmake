# Configures, builds and runs the project in SOURCE: `cmake -DSOURCE=… -DBINARY=… -DCACHE=… -P …`.
file(REMOVE_RECURSE "${BINARY}")
execute_process(
  COMMAND "${CMAKE_COMMAND}" -G "${GENERATOR}" -C "${CACHE}" -S "${SOURCE}" -B "${BINARY}"
  COMMAND_ERROR_IS_FATAL ANY
)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BINARY}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${BINARY}/consumer" COMMAND_ERROR_IS_FATAL ANY)
