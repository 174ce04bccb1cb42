# What a user's machine gets: headers, the runtime as static and as shared library, find_package and pkg-config, the
# command.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
include(CheckLinkerFlag)
file(GLOB mica_headers CONFIGURE_DEPENDS include/mica/*)

# The shared library is the static one, with nothing visible but the C interface under a version of its own.
if(BUILD_SHARED_LIBS)
  set(version_script ${CMAKE_CURRENT_SOURCE_DIR}/cmake/libmica.map)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/shared.cc CONTENT "// All code comes from the static library.\n")
  add_library(mica_shared SHARED ${CMAKE_BINARY_DIR}/generated/shared.cc)
  add_dependencies(mica_shared mica_runtime)
  target_link_libraries(mica_shared PUBLIC Threads::Threads
    PRIVATE $<BUILD_INTERFACE:mica_runtime_flags> ${CMAKE_DL_LIBS}
    -Wl,--whole-archive $<TARGET_FILE:mica_runtime> -Wl,--no-whole-archive)
  target_link_options(mica_shared PRIVATE -Wl,--version-script=${version_script} -Wl,--gc-sections)
  if(MICA_TRIM)
    # Code and constants of one model's runtime in one segment: a page less between them.
    target_link_options(mica_shared PRIVATE -Wl,-z,noseparate-code)
  endif()
  set(link_scripts ${version_script})
  if(NOT MICA_SANITIZE)
    target_link_options(mica_shared PRIVATE -Wl,--no-undefined)
    set(no_tables -Wl,-T,${CMAKE_CURRENT_SOURCE_DIR}/cmake/libmica.ld -Wl,--no-eh-frame-hdr)
    check_linker_flag(CXX "${no_tables}" MICA_LINKS_WITHOUT_TABLES)
    if(MICA_LINKS_WITHOUT_TABLES AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
      target_link_options(mica_shared PRIVATE ${no_tables})
      list(APPEND link_scripts ${CMAKE_CURRENT_SOURCE_DIR}/cmake/libmica.ld)
    endif()
  endif()
  target_include_directories(mica_shared PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(mica_shared PROPERTIES OUTPUT_NAME mica EXPORT_NAME mica VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    LINK_DEPENDS "${link_scripts};$<TARGET_FILE:mica_runtime>")
  install(TARGETS mica_shared EXPORT micaTargets)
endif()
set_target_properties(mica_runtime PROPERTIES EXPORT_NAME mica_static)
install(TARGETS mica_runtime EXPORT micaTargets)
install(FILES ${mica_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mica)
if(TARGET mica)
  install(TARGETS mica)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mica)
install(EXPORT micaTargets NAMESPACE mica:: DESTINATION ${package_dir})
configure_package_config_file(cmake/micaConfig.cmake.in ${CMAKE_BINARY_DIR}/generated/micaConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/micaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/micaConfig.cmake ${CMAKE_BINARY_DIR}/generated/micaConfigVersion.cmake
  DESTINATION ${package_dir})
file(RELATIVE_PATH mica_prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name mica mica-static)
  configure_file(cmake/${name}.pc.in ${CMAKE_BINARY_DIR}/generated/${name}.pc @ONLY)
  if(BUILD_SHARED_LIBS OR name STREQUAL "mica-static")
    install(FILES ${CMAKE_BINARY_DIR}/generated/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endif()
endforeach()
