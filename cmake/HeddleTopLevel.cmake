# What only heddle's own developers want; a project that adds heddle is left as it is.
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(HEDDLE_CCACHE ccache)
  mark_as_advanced(HEDDLE_CCACHE)
  if(HEDDLE_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${HEDDLE_CCACHE}")
  endif()
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
