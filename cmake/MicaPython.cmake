# The Python module `mica._mica`. `pip install .` comes here through scikit-build-core; for work on it, configure with
# -DMICA_BUILD_PYTHON=ON and a Python that has nanobind: the package is then complete in <build>/python.
find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE
  OUTPUT_VARIABLE nanobind_ROOT RESULT_VARIABLE nanobind_missing)
if(nanobind_missing)
  message(FATAL_ERROR
    "${Python_EXECUTABLE} has no nanobind: pip install nanobind, or choose another with -DPython_EXECUTABLE=")
endif()
find_package(nanobind CONFIG REQUIRED)

file(GLOB python_sources CONFIGURE_DEPENDS python/src/*.cc)
nanobind_add_module(_mica NB_STATIC FREE_THREADED STABLE_ABI NB_SUPPRESS_WARNINGS ${python_sources})
target_link_libraries(_mica PRIVATE mica_tools mica_modules mica_flags)
# Nothing of the libraries inside is visible: another module of the process may bring its own copies.
target_link_options(_mica PRIVATE -Wl,--exclude-libs,ALL)
if(SKBUILD)
  install(TARGETS _mica LIBRARY DESTINATION mica COMPONENT python)
else()
  set(package ${CMAKE_BINARY_DIR}/python/mica)
  file(MAKE_DIRECTORY ${package})
  file(GLOB_RECURSE package_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/python/mica
    python/mica/*.py python/mica/*.pyi)
  foreach(name IN LISTS package_files)
    get_filename_component(folder ${package}/${name} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/python/mica/${name} ${package}/${name} SYMBOLIC)
  endforeach()
  set_target_properties(_mica PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${package})
endif()
