# Finds LibTorch and gives it one name, heddle::libtorch. Used by the build and, installed, by
# find_package(heddle COMPONENTS torch).
#
# Two kinds are told apart by the layout of the folder and never mixed:
#  - a Python wheel (<site-packages>/torch with lib/, include/ and version.py). Its own package file
#    does not configure without a CUDA toolkit, so the target is made here: headers, torch_cpu, c10.
#  - anything else, through find_package(Torch); only its CPU library and c10 are linked, because
#    TORCH_LIBRARIES pulls in every accelerator library that the package was built with.

# heddle_torch_wheel(<out>): the wheel that Torch_DIR or CMAKE_PREFIX_PATH names, or "".
function(heddle_torch_wheel out)
  set(places "")
  foreach(directory IN ITEMS "${Torch_DIR}" "$ENV{Torch_DIR}")
    if(directory)
      string(REGEX REPLACE "/share/cmake/Torch/?$" "" place "${directory}")
      list(APPEND places "${place}")
    endif()
  endforeach()
  set(prefixes ${CMAKE_PREFIX_PATH})
  if(DEFINED ENV{CMAKE_PREFIX_PATH})
    cmake_path(CONVERT "$ENV{CMAKE_PREFIX_PATH}" TO_CMAKE_PATH_LIST from_environment)
    list(APPEND prefixes ${from_environment})
  endif()
  foreach(prefix IN LISTS prefixes)
    cmake_path(NORMAL_PATH prefix)
    # torch.utils.cmake_prefix_path is <torch>/share/cmake
    string(REGEX REPLACE "/share/cmake/?$" "" prefix "${prefix}")
    list(APPEND places "${prefix}")
  endforeach()
  set(wheel "")
  foreach(place IN LISTS places)
    if(EXISTS "${place}/version.py" AND EXISTS "${place}/include/ATen/core/Tensor.h"
       AND EXISTS "${place}/lib/libtorch_cpu.so")
      file(REAL_PATH "${place}" wheel)
      break()
    endif()
  endforeach()
  set(${out} "${wheel}" PARENT_SCOPE)
endfunction()

# heddle_find_torch(<found> <reason>): creates heddle::libtorch, or says in <reason> why it cannot.
function(heddle_find_torch found reason)
  set(${found} TRUE PARENT_SCOPE)
  if(TARGET heddle::libtorch)
    set(${reason} "heddle::libtorch is there already" PARENT_SCOPE)
    return()
  endif()

  heddle_torch_wheel(wheel)
  if(wheel)
    file(STRINGS "${wheel}/version.py" version REGEX "^__version__")
    string(REGEX REPLACE "^__version__[^0-9]*([^'\"]+).*$" "\\1" version "${version}")
    add_library(heddle::libtorch INTERFACE IMPORTED GLOBAL)
    target_include_directories(
      heddle::libtorch INTERFACE "${wheel}/include" "${wheel}/include/torch/csrc/api/include"
    )
    # --no-as-needed: operators register themselves in static initializers of libraries that nothing
    # refers to by name.
    target_link_options(heddle::libtorch INTERFACE "LINKER:-rpath,${wheel}/lib")
    target_link_libraries(
      heddle::libtorch
      INTERFACE "-Wl,--no-as-needed" "${wheel}/lib/libtorch_cpu.so" "${wheel}/lib/libc10.so"
                "-Wl,--as-needed"
    )
    set_target_properties(
      heddle::libtorch PROPERTIES HEDDLE_TORCH_VERSION "${version}" HEDDLE_TORCH_KIND wheel
    )
    set(${reason} "LibTorch ${version}, the wheel in ${wheel}" PARENT_SCOPE)
    return()
  endif()

  find_package(Torch QUIET GLOBAL)
  if(NOT Torch_FOUND OR NOT TARGET torch_cpu_library)
    set(${found} FALSE PARENT_SCOPE)
    set(${reason} "LibTorch was not found (Debian: libtorch-dev; a wheel: set CMAKE_PREFIX_PATH to its torch folder)" PARENT_SCOPE)
    return()
  endif()
  set(version "${Torch_VERSION}")
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND version VERSION_LESS 2.0)
    set(${found} FALSE PARENT_SCOPE)
    set(${reason} "LibTorch ${version} does not compile as C++20 with ${CMAKE_CXX_COMPILER_ID}; use g++, or LibTorch 2" PARENT_SCOPE)
    return()
  endif()
  add_library(heddle::libtorch INTERFACE IMPORTED GLOBAL)
  target_include_directories(heddle::libtorch INTERFACE ${TORCH_INCLUDE_DIRS})
  target_link_libraries(heddle::libtorch INTERFACE torch_cpu_library c10)
  set_target_properties(
    heddle::libtorch PROPERTIES HEDDLE_TORCH_VERSION "${version}" HEDDLE_TORCH_KIND package
  )
  set(${reason} "LibTorch ${version} from ${Torch_DIR}" PARENT_SCOPE)
endfunction()
