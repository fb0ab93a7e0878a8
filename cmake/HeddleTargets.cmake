# The five targets. Each lists its headers (cmake/headers/<folder>.cmake), so a header that is not
# listed is neither installed nor checked; a test compares the lists with the disk.

# heddle_add_library(<name> FOLDERS <header list>... LIBRARIES <target>...)
#
# Creates the INTERFACE target heddle::<name>, unless all of its lists are empty. Its name in the
# global list HEDDLE_TARGETS says that it exists.
function(heddle_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "FOLDERS;LIBRARIES")
  set(headers "")
  foreach(folder IN LISTS ARG_FOLDERS)
    include("${PROJECT_SOURCE_DIR}/cmake/headers/${folder}.cmake")
    list(APPEND headers ${HEDDLE_HEADERS_${folder}})
  endforeach()
  if(NOT headers AND NOT name STREQUAL "heddle")
    message(STATUS "heddle::${name}: skipped, it has no headers yet")
    return()
  endif()
  list(TRANSFORM headers PREPEND "${PROJECT_SOURCE_DIR}/include/heddle/")

  set(target heddle_${name})
  if(name STREQUAL "heddle")
    set(target heddle)
  endif()
  add_library(${target} INTERFACE)
  add_library(heddle::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_sources(
    ${target}
    INTERFACE FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${headers}
  )
  target_link_libraries(${target} INTERFACE ${ARG_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY HEDDLE_TARGETS ${name})
endfunction()

# heddle_decide(<ADAPTER> <found> <reason>): sets HEDDLE_HAS_<ADAPTER> in the caller from the option,
# says so, and stops where the option is ON and nothing was found.
function(heddle_decide adapter found reason)
  set(has OFF)
  if(found)
    set(has ON)
    message(STATUS "heddle: ${adapter} adapter on: ${reason}")
  elseif(HEDDLE_WITH_${adapter} STREQUAL "AUTO")
    message(STATUS "heddle: ${adapter} adapter skipped: ${reason}")
  else()
    message(FATAL_ERROR "heddle: HEDDLE_WITH_${adapter} is ON, but ${reason}. "
                        "Install it, or set HEDDLE_WITH_${adapter} to AUTO or OFF.")
  endif()
  set(HEDDLE_HAS_${adapter} ${has} PARENT_SCOPE)
endfunction()

foreach(adapter IN ITEMS GRAPH TORCH NCCL)
  set(HEDDLE_HAS_${adapter} OFF)
  if(HEDDLE_WITH_${adapter} STREQUAL "OFF")
    message(STATUS "heddle: ${adapter} adapter skipped: HEDDLE_WITH_${adapter} is OFF")
  elseif(NOT HEDDLE_WITH_${adapter} MATCHES "^(AUTO|ON)$")
    message(FATAL_ERROR "heddle: HEDDLE_WITH_${adapter} is \"${HEDDLE_WITH_${adapter}}\"; "
                        "it must be AUTO, ON or OFF")
  endif()
endforeach()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
heddle_add_library(
  heddle
  FOLDERS core schedule verify exec plan render detail umbrella
  LIBRARIES Threads::Threads
)

if(NOT HEDDLE_WITH_GRAPH STREQUAL "OFF")
  # Without a version: range-v3 0.12's package file refuses even its own.
  find_package(range-v3 QUIET GLOBAL)
  if(range-v3_FOUND)
    heddle_decide(GRAPH TRUE "range-v3 in ${range-v3_DIR}")
  else()
    heddle_decide(GRAPH FALSE "range-v3 was not found (Debian: librange-v3-dev)")
  endif()
  if(HEDDLE_HAS_GRAPH)
    heddle_add_library(graph FOLDERS graph LIBRARIES heddle::heddle range-v3::range-v3)
  endif()
endif()

if(NOT HEDDLE_WITH_TORCH STREQUAL "OFF")
  include(HeddleTorch)
  heddle_find_torch(torch_found torch_reason)
  heddle_decide(TORCH ${torch_found} "${torch_reason}")
  if(HEDDLE_HAS_TORCH)
    heddle_add_library(torch FOLDERS torch LIBRARIES heddle::heddle heddle::libtorch)
    if(TARGET heddle::torch AND TARGET heddle::graph)
      heddle_add_library(torch_graph FOLDERS torch_graph LIBRARIES heddle::torch heddle::graph)
    endif()
  endif()
endif()

if(NOT HEDDLE_WITH_NCCL STREQUAL "OFF")
  include(HeddleNccl)
  heddle_find_nccl(nccl_found nccl_reason)
  heddle_decide(NCCL ${nccl_found} "${nccl_reason}")
  if(HEDDLE_HAS_NCCL)
    heddle_add_library(nccl FOLDERS nccl LIBRARIES heddle::heddle heddle::libnccl)
  endif()
endif()
