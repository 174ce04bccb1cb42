# The four libraries, each without the next: runtime <- compiler <- importers <- tools. Files are found by folder and
# name; nothing lists them. Of an operator `ops/<family>/<op>.*`, `.cc` and `.run.cc` go to the runtime, `.lower.cc`
# and `.grad.cc` to the compiler and `.import.cc` to the importers.
include(MicaTables)

function(mica_glob out)
  set(found "")
  foreach(pattern IN LISTS ARGN)
    file(GLOB some CONFIGURE_DEPENDS ${pattern})
    list(APPEND found ${some})
  endforeach()
  list(FILTER found EXCLUDE REGEX "\\.(test|isa|bench)\\.cc$")
  set(${out} ${found} PARENT_SCOPE)
endfunction()

set(op_folders src/ops/*)
foreach(folder IN LISTS MICA_EXTRA_OPS)
  list(APPEND op_folders ${folder})
endforeach()
set(op_patterns ${op_folders})
list(TRANSFORM op_patterns APPEND "/*.cc")
mica_glob(op_sources ${op_patterns})
set(op_import_sources ${op_sources})
list(FILTER op_import_sources INCLUDE REGEX "\\.import\\.cc$")
set(op_lower_sources ${op_sources})
list(FILTER op_lower_sources INCLUDE REGEX "\\.(lower|grad)\\.cc$")
set(op_runtime_sources ${op_sources})
list(FILTER op_runtime_sources EXCLUDE REGEX "\\.(import|lower|grad)\\.cc$")

mica_glob(runtime_sources src/base/*.cc src/types/*.cc src/simd/*.cc src/device/*/*.cc src/kernels/*/*.cc src/plan/*.cc
  src/step/*.cc src/runtime/*.cc src/api/*.cc)
mica_trimmed(op_runtime_sources ${op_runtime_sources})
mica_op_table(op_table op OpDef types/op.h "" ${op_runtime_sources})
mica_op_table(run_table run RunDef step/run.h ".run" ${op_runtime_sources})

# Everything around the kernels is built for size: binding, inference, the file, the choices that kernels are called
# with, reductions of integers, and the references that run where no kernel fits. Kernels, what their steps do
# themselves (.run.cc), and the worker pool (base/threads) are built for speed, but for hooks whose steps do nothing but
# call kernels. Sanitizers want levels and tables as they are.
if(NOT MICA_SANITIZE)
  set(small_sources ${runtime_sources} ${op_runtime_sources})
  set(choices conv/choose conv/conv conv/cost conv/picture_band conv/transpose eltwise/eltwise gemm/choose gemm/cost
    gemm/algorithm gemm/gemm gemm/paired gemm/strassen
    move/move norm/norm pack/form pool/pool quant/quant recurrent/recurrent reduce/integers
    reduce/reduce
    typed/typed)
  set(calling_hooks conv/conv matmul/gemm matmul/matmul matmul/qlinear_matmul
    pointwise/pointwise pointwise/pointwise_chain)
  list(JOIN choices "|" choices)
  list(JOIN calling_hooks "|" calling_hooks)
  # The walk of recurrent layers through time is in a shared file; nothing but the reference draws random numbers.
  set(fast_sources ${small_sources})
  list(FILTER fast_sources INCLUDE REGEX
    "/(kernels/.*|(base/threads|rnn/recurrent_step\\.shared|random/random_[a-z]+)\\.cc|[a-z0-9_]+\\.run\\.cc)$")
  list(FILTER fast_sources EXCLUDE REGEX "/(kernels/(${choices})\\.cc|(${calling_hooks})\\.run\\.cc)$")
  list(REMOVE_ITEM small_sources ${fast_sources})
  # A compiler's or importer's exception passes through functions of the runtime that call back: visitors of attributes,
  # scopes of inference. Where there are none, nothing unwinds.
  if(NOT MICA_BUILD_TOOLS AND NOT MICA_BUILD_TESTS)
    set(no_tables -fno-asynchronous-unwind-tables -fno-unwind-tables)
    set_property(SOURCE ${runtime_sources} ${op_runtime_sources} APPEND PROPERTY COMPILE_OPTIONS ${no_tables})
  endif()
  set_property(SOURCE ${small_sources} APPEND PROPERTY COMPILE_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-Os>)
  # Copies of any stride: they wait for memory, not for vectors.
  set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/src/kernels/pack/pack.cc APPEND PROPERTY COMPILE_OPTIONS
    $<$<NOT:$<CONFIG:Debug>>:-O2>)
endif()

find_package(Threads REQUIRED)
function(mica_runtime_target name kind)
  add_library(${name} ${kind} ${runtime_sources} ${op_runtime_sources} ${op_table} ${run_table} ${mica_isa_objects})
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:mica_runtime_flags> PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${CMAKE_BINARY_DIR}/generated)
endfunction()
mica_runtime_target(mica_runtime STATIC)
# Sanitizers' trees are made from nothing where time is short. In all others each file shows that it includes what it
# uses.
function(mica_precompile_for_sanitizers name)
  if(MICA_SANITIZE)
    target_precompile_headers(${name} PRIVATE <algorithm> <array> <cmath> <cstring> <limits> <memory> <numbers>
      <span> <string_view> ${ARGN})
  endif()
endfunction()
mica_precompile_for_sanitizers(mica_runtime)
# What runs once for a model need not be fast there.
function(mica_plain_for_sanitizers name)
  if(MICA_SANITIZE)
    target_compile_options(${name} PRIVATE -O0)
  endif()
  mica_precompile_for_sanitizers(${name} <deque> <functional> <map> <string> <vector> ${ARGN})
endfunction()

# Compiler and spellings have no third-party code: without the tools they are built for what asks for them, such as a
# test.
set(unless_tools "")
if(NOT MICA_BUILD_TOOLS)
  set(unless_tools EXCLUDE_FROM_ALL)
endif()
mica_glob(compiler_sources src/ir/*.cc src/passes/*.cc src/passes/*/*.cc)
mica_op_table(lower_table lower LowerDef ir/lower.h ".lower" ${op_lower_sources})
  mica_op_table(rule_table rules_tables RuleSet passes/rewrite.h ".rules" ${compiler_sources})
add_library(mica_compiler STATIC ${unless_tools} ${compiler_sources} ${op_lower_sources} ${lower_table} ${rule_table})
target_link_libraries(mica_compiler PUBLIC mica_runtime PRIVATE mica_flags)
mica_plain_for_sanitizers(mica_compiler)

mica_op_table(spelling_table spellings SpellingTable ir/spelling.h ".import" ${op_import_sources})
add_library(mica_importers STATIC ${unless_tools} ${op_import_sources} ${spelling_table})
target_link_libraries(mica_importers PUBLIC mica_compiler PRIVATE mica_flags)
mica_plain_for_sanitizers(mica_importers)

if(MICA_BUILD_TOOLS)
  find_package(Protobuf REQUIRED)
  find_package(fmt REQUIRED)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)

  mica_glob(import_sources src/import/*.cc src/import/*/*.cc)
  target_sources(mica_importers PRIVATE ${import_sources})
  file(GLOB proto_files CONFIGURE_DEPENDS src/import/*/*.proto)
  if(proto_files)
    add_library(mica_protos STATIC)
    protobuf_generate(TARGET mica_protos LANGUAGE cpp PROTOS ${proto_files} IMPORT_DIRS ${CMAKE_SOURCE_DIR}/src
      PROTOC_OUT_DIR ${CMAKE_BINARY_DIR}/generated)
    target_include_directories(mica_protos SYSTEM PUBLIC ${CMAKE_BINARY_DIR}/generated
      ${CMAKE_BINARY_DIR}/generated/src)
    target_link_libraries(mica_protos PUBLIC protobuf::libprotobuf-lite)
    target_link_libraries(mica_importers PUBLIC mica_protos)
  endif()

  mica_glob(tools_sources src/convert/*.cc src/measure/*.cc src/export/*.cc src/tools_api/*.cc)
  file(GLOB ceiling_units CONFIGURE_DEPENDS src/measure/*.isa.cc)
  mica_isa_library(mica_ceiling_objects mica_ceilings ${ceiling_units})
  if(tools_sources)
    add_library(mica_tools STATIC ${tools_sources} ${mica_ceiling_objects})
    target_link_libraries(mica_tools PUBLIC mica_importers PRIVATE mica_flags fmt::fmt nlohmann_json::nlohmann_json)
    mica_plain_for_sanitizers(mica_tools <nlohmann/json.hpp>)
  endif()

  mica_glob(cli_sources apps/cli/*.cc)
  if(cli_sources)
    add_executable(mica ${cli_sources})
    target_link_libraries(mica PRIVATE mica_tools mica_flags fmt::fmt nlohmann_json::nlohmann_json CLI11::CLI11)
    # A third of its compile time is the optimizer, and nobody waits for what it computes.
    target_compile_options(mica PRIVATE $<$<CONFIG:Release>:-O1>)
    # Libraries with operators of a user's find the C interface in the command.
    set_target_properties(mica PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} ENABLE_EXPORTS ON)
  endif()
endif()
