# Each target has an export file of its own, so that find_package(heddle) never looks for what only
# a component needs.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(HEDDLE_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/heddle")

get_property(heddle_targets GLOBAL PROPERTY HEDDLE_TARGETS)
foreach(name IN LISTS heddle_targets)
  get_target_property(target heddle::${name} ALIASED_TARGET)
  install(
    TARGETS ${target}
    EXPORT heddle-${name}
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  )
  install(
    EXPORT heddle-${name}
    NAMESPACE heddle::
    FILE heddle-${name}-targets.cmake
    DESTINATION "${HEDDLE_PACKAGE_DIR}"
  )
endforeach()

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/heddle-config.cmake.in" "${PROJECT_BINARY_DIR}/heddle-config.cmake"
  INSTALL_DESTINATION "${HEDDLE_PACKAGE_DIR}"
)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/heddle-config-version.cmake"
  COMPATIBILITY SameMinorVersion
  ARCH_INDEPENDENT
)
install(
  FILES "${PROJECT_BINARY_DIR}/heddle-config.cmake"
        "${PROJECT_BINARY_DIR}/heddle-config-version.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/HeddleNccl.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/HeddleTorch.cmake"
  DESTINATION "${HEDDLE_PACKAGE_DIR}"
)
