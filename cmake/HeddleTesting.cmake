# What tests/static/<folder>/CMakeLists.txt and tests/unit/<folder>/CMakeLists.txt are written with.
#
#   heddle_add_static_test(<folder> <name>... [DEFAULT_LIMITS] [LIBRARIES <target>...])
#   heddle_add_unit_tests(<folder> <name>... [NAME <program>] [LIBRARIES <target>...]
#                         [LABELS <label>...] [TIMEOUT <seconds>])
#
# A <name> stands for <name>.test.cpp beside the list.

# Static tests leave a part of the compilers' allowance for constant evaluation to the users.
set(HEDDLE_REDUCED_LIMITS
    $<$<CXX_COMPILER_ID:GNU>:-fconstexpr-ops-limit=8388608>
    $<$<CXX_COMPILER_ID:Clang>:-fconstexpr-steps=786432>
)

# The programs that link LibTorch, for the preset that runs these alone.
add_custom_target(heddle_torch_tests)

function(heddle_test_sources out)
  set(sources "")
  foreach(name IN LISTS ARGN)
    list(APPEND sources "${CMAKE_CURRENT_SOURCE_DIR}/${name}.test.cpp")
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# Compiled is passed: an object library, and a test that asks the build tool for it.
function(heddle_add_static_test folder)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "DEFAULT_LIMITS" "" "LIBRARIES")
  if(NOT HEDDLE_TEST_STATIC)
    return()
  endif()
  set(target heddle_static_${folder})
  if(ARG_DEFAULT_LIMITS)
    string(APPEND target _default_limits)
  endif()
  heddle_test_sources(sources ${ARG_UNPARSED_ARGUMENTS})
  add_library(${target} OBJECT ${sources})
  target_link_libraries(${target} PRIVATE heddle::heddle ${ARG_LIBRARIES})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  if(NOT ARG_DEFAULT_LIMITS)
    target_compile_options(${target} PRIVATE ${HEDDLE_REDUCED_LIMITS})
  endif()
  string(REPLACE heddle_static_ "static: " name ${target})
  add_test(NAME "${name}" COMMAND "${CMAKE_COMMAND}" --build "${PROJECT_BINARY_DIR}" --target ${target})
  set_tests_properties("${name}" PROPERTIES TIMEOUT 300 LABELS static RESOURCE_LOCK build_tree)
endfunction()

# One doctest program, one test a TEST_CASE.
function(heddle_add_unit_tests folder)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "NAME;TIMEOUT" "LIBRARIES;LABELS")
  if(NOT ARG_NAME)
    set(ARG_NAME ${folder})
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  set(labels unit ${folder} ${ARG_LABELS})
  list(REMOVE_DUPLICATES labels)
  set(target heddle_unit_${ARG_NAME})
  heddle_test_sources(sources ${ARG_UNPARSED_ARGUMENTS})
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE heddle_test_main heddle::heddle ${ARG_LIBRARIES})
  if("torch" IN_LIST labels)
    add_dependencies(heddle_torch_tests ${target})
  endif()
  doctest_discover_tests(${target} TEST_PREFIX "${ARG_NAME}/")
  # doctest's PROPERTIES cannot carry a list, and its ADD_LABELS runs the program once a case.
  set(properties "${CMAKE_CURRENT_BINARY_DIR}/${target}_properties.cmake")
  file(
    WRITE "${properties}"
    "foreach(test IN LISTS ${target}_TESTS)\n"
    "  set_tests_properties(\"\${test}\" PROPERTIES TIMEOUT ${ARG_TIMEOUT} SKIP_RETURN_CODE 77"
    " LABELS \"${labels}\")\n"
    "endforeach()\n"
  )
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${properties}")
endfunction()
