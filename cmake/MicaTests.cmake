# Unit tests stand beside what they test (`*.test.cc`) and make one program per library.
if(CMAKE_CROSSCOMPILING)
  # The distribution has the library for its own processor only; its sources build for any.
  find_path(MICA_GTEST_SOURCE googletest/CMakeLists.txt PATHS /usr/src/googletest NO_CMAKE_FIND_ROOT_PATH REQUIRED)
  add_subdirectory(${MICA_GTEST_SOURCE} ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL SYSTEM)
else()
  find_package(GTest REQUIRED)
endif()
# Half of a test's compile time is the optimizer, even its first level, and nothing waits for what tests compute. But
# kernels and operators are compared with loops that would take longer than that, and so would programs that run all
# their time.
add_library(mica_test_flags INTERFACE)
if(NOT MICA_SANITIZE)  # those trees have -O1 throughout
  target_compile_options(mica_test_flags INTERFACE $<$<CONFIG:Release>:-O1>)
endif()
# A third is GoogleTest's headers: once for all programs of the same flags, by programs that nobody runs. Libraries
# would not do: their code may lie anywhere (-fPIC), and a compiler takes no headers of other flags.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/tests/headers.cc CONTENT "int main() {}\n")
foreach(name test_headers test_headers_optimized)
  add_executable(${name} EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/generated/tests/headers.cc)
  target_link_libraries(${name} PRIVATE mica_flags GTest::gtest GTest::gmock)
  target_precompile_headers(${name} PRIVATE <gtest/gtest.h> <gmock/gmock.h>)
endforeach()
target_compile_options(test_headers PRIVATE -O0)
target_link_libraries(test_headers_optimized PRIVATE mica_test_flags)
function(mica_unit_tests name library)
  set(found "")
  foreach(pattern IN LISTS ARGN)
    file(GLOB some CONFIGURE_DEPENDS ${pattern})
    list(APPEND found ${some})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY mica_unit_tests_found ${found})
  if(found AND TARGET ${library})
    add_executable(${name} ${found})
    target_link_libraries(${name} PRIVATE ${library} mica_flags GTest::gtest GTest::gmock GTest::gtest_main)
    target_include_directories(${name} PRIVATE ${CMAKE_BINARY_DIR}/generated)
    if(name MATCHES "^test_(kernels|ops)$")
      target_link_libraries(${name} PRIVATE mica_test_flags)
      target_precompile_headers(${name} REUSE_FROM test_headers_optimized)
    else()
      target_compile_options(${name} PRIVATE -O0)
      target_precompile_headers(${name} REUSE_FROM test_headers)
    endif()
    add_test(NAME ${name} COMMAND ${name})
  endif()
endfunction()
mica_unit_tests(test_base mica_runtime src/base/*.test.cc src/types/*.test.cc src/device/*/*.test.cc)
mica_unit_tests(test_kernels mica_runtime src/simd/*.test.cc src/kernels/*.test.cc src/kernels/*/*.test.cc)
mica_unit_tests(test_runtime mica_runtime src/plan/*.test.cc src/step/*.test.cc src/runtime/*.test.cc src/api/*.test.cc)
mica_unit_tests(test_compiler mica_compiler src/ir/*.test.cc src/passes/*.test.cc src/passes/*/*.test.cc
  tests/support/canonical.cc tests/support/near_miss.cc tests/support/rule_cases.cc tests/support/run_graph.cc
  tests/support/same_answers.cc)
mica_unit_tests(test_importers mica_importers src/import/*.test.cc src/import/*/*.test.cc)
mica_unit_tests(test_tools mica_tools src/convert/*.test.cc src/measure/*.test.cc src/export/*.test.cc
  src/tools_api/*.test.cc tests/support/canonical.cc tests/support/run_graph.cc)
# Whole graphs in IR text, run: what compiler and runtime do together.
mica_unit_tests(test_graphs mica_compiler tests/graphs/*.test.cc
  tests/support/canonical.cc tests/support/run_graph.cc)
foreach(name test_compiler test_graphs test_tools)
  if(TARGET ${name})
    target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/tests)
  endif()
endforeach()
# The traits' own units are for the tests alone.
file(GLOB mica_simd_units CONFIGURE_DEPENDS src/simd/*.isa.cc)
mica_isa_library(mica_simd_objects mica_simd_probe ${mica_simd_units})
if(TARGET test_kernels)
  target_sources(test_kernels PRIVATE ${mica_simd_objects})
endif()
# Operators: problems beside the operators, run by the suite on the reference and on every kernel.
set(op_test_patterns ${op_folders})
list(TRANSFORM op_test_patterns APPEND "/*.test.cc")
mica_unit_tests(test_ops mica_importers tests/suite/*.cc ${op_test_patterns})
if(TARGET test_ops)
  target_include_directories(test_ops PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/tests/suite)
  set_tests_properties(test_ops PROPERTIES ENVIRONMENT MICA_KERNEL_TABLE=${CMAKE_BINARY_DIR}/kernels.json)
endif()
# A test that no program has would never fail.
file(GLOB_RECURSE mica_unit_tests_written CONFIGURE_DEPENDS src/*.test.cc)
get_property(mica_unit_tests_found GLOBAL PROPERTY mica_unit_tests_found)
list(REMOVE_ITEM mica_unit_tests_written ${mica_unit_tests_found})
if(mica_unit_tests_written)
  message(FATAL_ERROR "no program has the tests in ${mica_unit_tests_written}")
endif()
# Programs and scripts that test from outside, each ending with the line `N passed, N failed`.
find_package(Python3 COMPONENTS Interpreter)
set(tests ${CMAKE_CURRENT_SOURCE_DIR}/tests)
if(TARGET mica AND Python3_FOUND)
  add_test(NAME digits COMMAND ${Python3_EXECUTABLE} ${tests}/digits/digits.py $<TARGET_FILE:mica>)
endif()

if(TARGET mica AND TARGET mica_shared AND Python3_FOUND AND NOT MICA_SANITIZE)
  add_test(NAME install COMMAND ${Python3_EXECUTABLE} ${tests}/install/install.py ${CMAKE_BINARY_DIR})
  # Operators of a stranger's: at run time against the install tree, and built in as the document says, in a build tree
  # of their own.
  add_executable(stranger_convert tests/stranger/convert.cc tests/stranger/operators.c)
  target_link_libraries(stranger_convert PRIVATE mica_tools)
  set_target_properties(stranger_convert PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME operator_at_run_time COMMAND ${Python3_EXECUTABLE} ${tests}/stranger/run_time.py ${CMAKE_BINARY_DIR})
  if(NOT MICA_EXTRA_OPS AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT MICA_KERNEL_ISAS)
    add_test(NAME operator_built_in COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/stranger/document.py
      ${CMAKE_BINARY_DIR}/stranger)
    set_tests_properties(operator_built_in PROPERTIES TIMEOUT 1800 RUN_SERIAL ON)
  endif()
endif()
# A C program and a library of operators that know mica.h alone; the command line from outside.
add_executable(c_api tests/c_api/main.c tests/c_api/operator.c)
target_link_libraries(c_api PRIVATE mica_runtime m)
target_compile_options(c_api PRIVATE -Wall -Wextra -pedantic)
set_target_properties(c_api PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests LINKER_LANGUAGE CXX
  C_STANDARD 99)
if(TARGET mica AND Python3_FOUND)
  add_library(c_api_operators MODULE tests/c_api/operator.c)
  target_include_directories(c_api_operators PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/include)
  set_target_properties(c_api_operators PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME cli COMMAND ${Python3_EXECUTABLE} ${tests}/cli/cli.py $<TARGET_FILE:mica> $<TARGET_FILE:c_api>
    $<TARGET_FILE:c_api_operators>)
endif()

# onnx_suite FOLDER: operator cases in the ONNX project's layout.
if(TARGET mica_tools)
  file(GLOB onnx_suite_sources CONFIGURE_DEPENDS tests/onnx_suite/*.cc)
  add_executable(onnx_suite ${onnx_suite_sources})
  protobuf_generate(TARGET onnx_suite LANGUAGE cpp PROTOS ${CMAKE_CURRENT_SOURCE_DIR}/tests/onnx_suite/data.proto
    IMPORT_DIRS ${tests} ${CMAKE_CURRENT_SOURCE_DIR}/src PROTOC_OUT_DIR ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(onnx_suite PRIVATE mica_tools mica_modules
    mica_protos mica_flags mica_test_flags CLI11::CLI11 nlohmann_json::nlohmann_json)
  target_include_directories(onnx_suite PRIVATE ${CMAKE_BINARY_DIR}/generated/tests ${CMAKE_BINARY_DIR}/generated/src)
  set_target_properties(onnx_suite PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME onnx_suite COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/onnx_suite/suite.sh $<TARGET_FILE:onnx_suite>)
endif()
# A test in the environment of tests/with_python: NAME, what it runs, and its arguments.
function(mica_python_test name script)
  add_test(NAME ${name} COMMAND ${tests}/with_python ${CMAKE_BINARY_DIR} ${script} ${ARGN})
endfunction()
if(TARGET mica)
  # Graphs as tf2onnx and PaddlePaddle's exporter leave them, beside ONNX Runtime's answers.
  mica_python_test(exporters ${tests}/exporters --mica $<TARGET_FILE:mica>)
  # The models of OpenCV's own tests.
  mica_python_test(opencv_suite ${tests}/opencv_suite --mica $<TARGET_FILE:mica>)
  # Real models against their reference outputs.
  mica_python_test(model_suite ${tests}/model_suite --mica $<TARGET_FILE:mica>)
  # Random models of operators beyond the standard's, beside ONNX Runtime's answers.
  mica_python_test(contrib ${tests}/contrib --mica $<TARGET_FILE:mica>)
  # Random networks in several ways of running them, beside ONNX Runtime's answers.
  mica_python_test(random_nets ${tests}/random_nets --mica $<TARGET_FILE:mica>)
  # Small exports of torch's that are kept as files.
  mica_python_test(arch_kept ${tests}/arch/kept.py --mica $<TARGET_FILE:mica>)
endif()
# The statistics and the protocol of bench/peers.
mica_python_test(peer_table ${tests}/peer_table)
# kernel_gates: single layers against the machine's ceilings. For a machine without other work: the label keeps it out
# of ./test.
if(TARGET mica AND NOT MICA_SANITIZE)
  mica_python_test(kernel_gates ${CMAKE_CURRENT_SOURCE_DIR}/bench/kernels/gates.py --mica $<TARGET_FILE:mica>)
  set_tests_properties(kernel_gates PROPERTIES LABELS perf RUN_SERIAL ON TIMEOUT 1800)
  # perf_gate_self_test: this build beside itself, and beside itself with a planted slowdown.
  mica_python_test(perf_gate_self_test ${tests}/perf_gate/self_test.py ${CMAKE_BINARY_DIR})
  set_tests_properties(perf_gate_self_test PROPERTIES LABELS perf RUN_SERIAL ON TIMEOUT 600)
endif()
# perf_gate: what tools/perf_gate tells from noise.
if(Python3_FOUND)
  add_test(NAME perf_gate COMMAND ${Python3_EXECUTABLE} ${tests}/perf_gate)
endif()
# threads: every thread count gives the same bits.
if(TARGET mica AND Python3_FOUND)
  add_test(NAME threads COMMAND ${Python3_EXECUTABLE} ${tests}/threads --mica $<TARGET_FILE:mica>)
endif()
# exact: one answer on every instruction set with fused multiply-add; the program runs on emulated processors too.
add_executable(answers tests/exact/answers.cc)
target_link_libraries(answers PRIVATE mica_runtime mica_flags)
set_target_properties(answers PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
if(TARGET mica)
  mica_python_test(exact ${tests}/exact/exact.py --mica $<TARGET_FILE:mica> --answers $<TARGET_FILE:answers>)
endif()
# accuracy: right answers over labelled data, beside ONNX Runtime's.
if(TARGET mica_tools)
  add_executable(run_samples tests/samples/main.cc)
  target_link_libraries(run_samples PRIVATE mica_tools mica_flags mica_test_flags)
  set_target_properties(run_samples PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  mica_python_test(accuracy ${tests}/accuracy --runner $<TARGET_FILE:run_samples>)
endif()
# Tests that hold a document against the code.
set_source_files_properties(src/plan/format.test.cc src/convert/write.test.cc PROPERTIES
  COMPILE_DEFINITIONS MICA_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}")

# Allocation functions that count, fail and cap, for the programs below.
add_library(mica_heap OBJECT EXCLUDE_FROM_ALL ${tests}/support/heap.cc)
target_link_libraries(mica_heap PRIVATE mica_flags)
target_include_directories(mica_heap PUBLIC ${tests})
if(MICA_SANITIZE)
  target_compile_definitions(mica_heap PRIVATE MICA_SANITIZED)
endif()

# soak [--full]: what must not grow with time; the short form runs with the other tests.
if(TARGET mica_tools)
  add_executable(soak tests/soak/main.cc)
  target_link_libraries(soak PRIVATE mica_heap mica_tools mica_flags mica_test_flags)
  set_target_properties(soak PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(NOT MICA_SANITIZE)  # sanitizers bring an allocator of their own
    add_test(NAME soak COMMAND soak --model ${CMAKE_CURRENT_SOURCE_DIR}/examples/digits/digits.onnx)
    set_tests_properties(soak PROPERTIES LABELS soak RUN_SERIAL ON)
  endif()
endif()

# dynamic: shapes that change from run to run, beside ONNX Runtime; nothing is bound anew and no memory grows.
if(TARGET mica_tools)
  add_executable(steps tests/dynamic/steps.cc)
  target_link_libraries(steps PRIVATE mica_heap mica_tools mica_flags mica_test_flags)
  set_target_properties(steps PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(NOT MICA_SANITIZE)  # sanitizers bring an allocator of their own
    mica_python_test(dynamic ${tests}/dynamic/dynamic.py --steps $<TARGET_FILE:steps>)
  endif()
endif()

# mutate: damaged model files; the whole count is for sanitizers. The libFuzzer targets need a build whose libraries
# are instrumented for them (the preset `asan-ubsan`).
if(TARGET mica_tools)
  set(fuzz ${CMAKE_CURRENT_SOURCE_DIR}/tests/fuzz)
  add_library(fuzz_engine STATIC EXCLUDE_FROM_ALL ${fuzz}/attempt.cc ${fuzz}/change.cc ${fuzz}/change_onnx.cc
    ${fuzz}/rare_seeds.cc ${fuzz}/seeds.cc ${fuzz}/stock.cc)
  target_link_libraries(fuzz_engine PUBLIC mica_tools mica_protos mica_flags mica_test_flags)
  target_include_directories(fuzz_engine PUBLIC ${tests})
  add_executable(mutate ${fuzz}/mutate.cc)
  target_link_libraries(mutate PRIVATE mica_heap)
  add_executable(corpora ${fuzz}/corpora.cc)
  set(fuzz_programs mutate corpora)
  if(MICA_SANITIZE MATCHES "fuzzer")
    foreach(kind Onnx Text Mica)
      string(TOLOWER fuzz_${kind} target)
      add_executable(${target} ${fuzz}/target.cc ${fuzz}/counts.cc)
      target_compile_definitions(${target} PRIVATE MICA_FUZZ_KIND=k${kind})
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
      list(APPEND fuzz_programs ${target})
    endforeach()
  endif()
  foreach(program IN LISTS fuzz_programs)
    target_link_libraries(${program} PRIVATE fuzz_engine)
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  endforeach()
  add_test(NAME mutate COMMAND mutate --files 2000 --seconds 60 ${CMAKE_CURRENT_SOURCE_DIR}/examples/digits/digits.onnx
    ${fuzz}/found)
endif()

# near_misses: graphs that are almost those of models.
if(TARGET mica_tools)
  set(support ${tests}/support)
  add_executable(near_misses tests/near_misses/main.cc ${support}/near_miss.cc ${support}/run_graph.cc
    ${support}/same_answers.cc)
  target_link_libraries(near_misses PRIVATE fuzz_engine GTest::gtest)
  set_target_properties(near_misses PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME near_misses COMMAND near_misses --count 4000 ${CMAKE_CURRENT_SOURCE_DIR}/examples/digits/digits.onnx)
endif()

# faults: failing memory and files; sanitizers bring an allocator of their own.
if(TARGET mica_tools AND NOT MICA_SANITIZE)
  file(GLOB faults_sources CONFIGURE_DEPENDS tests/faults/*.cc)
  add_executable(faults ${faults_sources})
  target_link_libraries(faults PRIVATE mica_heap fuzz_engine)
  set_target_properties(faults PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME faults COMMAND faults ${CMAKE_CURRENT_SOURCE_DIR}/examples/digits/digits.onnx)
endif()

# The table of operators and their versions in the documents is what the code says.
if(TARGET mica AND NOT MICA_EXTRA_OPS)
  add_test(NAME operators_document COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/documents/operators.sh $<TARGET_FILE:mica>
    ${CMAKE_CURRENT_SOURCE_DIR}/docs/operators.md)
  # The element types that it lists beside those that the standard's definitions allow.
  mica_python_test(element_types ${tests}/documents/element_types.py $<TARGET_FILE:mica>)
endif()
