# One object library per instruction set, holding every kernel family's `<family>.isa.cc`. The set's name is the
# namespace (MICA_ISA) and selects the traits header `simd/<isa>.h`; the baseline compiler flags stay for every other
# file.
include(CheckCXXCompilerFlag)
set(MICA_ISA_FLAGS_portable "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(MICA_ISAS portable sse2 avx2 avx512)
  set(MICA_ISA_LEVEL_portable -Os)  # every processor of the family has a better set: this one is for tests
  set(MICA_ISA_FLAGS_sse2 -msse2)
  set(MICA_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c)
  # GCC copies structures of vectors in halves otherwise, and whole vectors that are read right behind wait for the
  # cache.
  check_cxx_compiler_flag(-mmove-max=256 MICA_HAS_MOVE_MAX)
  if(MICA_HAS_MOVE_MAX)
    list(APPEND MICA_ISA_FLAGS_avx2 -mmove-max=256 -mstore-max=256)
  endif()
  set(MICA_ISA_FLAGS_avx512 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512cd -mfma -mf16c -mavx512vnni
    -mprefer-vector-width=512)
  if(MICA_EMULATE_AVX512)
    set(MICA_ISA_HEADER_avx512 avx512_halves)
    set(MICA_ISA_FLAGS_avx512 ${MICA_ISA_FLAGS_avx2})
    set(MICA_ISA_LEVEL_avx512 -O1)  # nobody but tests waits for it
  endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(MICA_ISAS portable neon)
  set(MICA_ISA_FLAGS_neon "")
else()
  set(MICA_ISAS portable)
endif()
# A trimmed build has no use for tests: the set that every processor of the family has is its plainest.
list(LENGTH MICA_ISAS isa_count)
if(MICA_TRIM AND isa_count GREATER 1)
  list(REMOVE_ITEM MICA_ISAS portable)
endif()
if(MICA_KERNEL_ISAS)
  set(MICA_ISAS ${MICA_KERNEL_ISAS})
endif()

# mica_isa_library(OUT NAME UNITS...): compiles the units once per set, as object libraries NAME_<isa>; OUT is their
# objects. GCC 12 takes the deliberately undefined merge operands in its own AVX-512 headers for uninitialised
# variables.
function(mica_isa_library out name)
  set(objects "")
  set(kernel_level -O3)
  set(kernel_options -fno-asynchronous-unwind-tables -fno-unwind-tables)  # kernels call nothing that throws
  if(MICA_SANITIZE)
    set(kernel_level -O1)  # sanitizers look for errors, not for speed, and -O3 under them compiles for minutes
    set(kernel_options "")
    # Half of what convolutions still compile for is one check, of addresses that wrap around. What is read or written
    # through such an address is the address sanitizer's.
    if(MICA_SANITIZE MATCHES "address" AND MICA_SANITIZE MATCHES "undefined")
      set(kernel_options -fno-sanitize=pointer-overflow)
    endif()
  endif()
  if(ARGN)
    foreach(isa IN LISTS MICA_ISAS)
      set(level ${kernel_level})
      set(header ${isa})
      if(DEFINED MICA_ISA_HEADER_${isa})
        set(header ${MICA_ISA_HEADER_${isa}})
      endif()
      if(DEFINED MICA_ISA_LEVEL_${isa} AND NOT MICA_SANITIZE)
        set(level ${MICA_ISA_LEVEL_${isa}})
      endif()
      add_library(${name}_${isa} OBJECT ${ARGN})
      if(level STREQUAL "-O3")
        set_target_properties(${name}_${isa} PROPERTIES MICA_COMPACT_LEVEL -O2)
      endif()
      target_link_libraries(${name}_${isa} PRIVATE mica_runtime_flags)
      target_compile_definitions(${name}_${isa} PRIVATE MICA_ISA=${isa} MICA_ISA_HEADER="simd/${header}.h")
      target_compile_options(${name}_${isa} PRIVATE ${MICA_ISA_FLAGS_${isa}} ${level} ${kernel_options}
        -Wno-uninitialized $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
      list(APPEND objects $<TARGET_OBJECTS:${name}_${isa}>)
    endforeach()
  endif()
  set(${out} "${objects}" PARENT_SCOPE)
endfunction()
file(GLOB mica_isa_units CONFIGURE_DEPENDS src/kernels/*/*.isa.cc)
# Scalars that were just written one by one must not be read back as one vector, which waits for the cache: the tiles of
# products are called so often that it costs 4 %. Loads that GCC moves up on AArch64 take the registers of three sums.
# The tiles are the same instructions at -O2; what is around them is half as long.
set_source_files_properties(src/kernels/gemm/gemm.isa.cc PROPERTIES COMPILE_OPTIONS
  "$<TARGET_PROPERTY:MICA_COMPACT_LEVEL>;-fno-tree-slp-vectorize;$<$<CXX_COMPILER_ID:GNU>:-fno-schedule-insns>")
# Loops that are vectors as written, or blocks of a fixed length: -O3 adds code around them, and no speed.
set_source_files_properties(src/kernels/conv/conv.isa.cc src/kernels/eltwise/eltwise.isa.cc
  src/kernels/move/grid.isa.cc src/kernels/reduce/reduce.isa.cc src/kernels/typed/typed.isa.cc PROPERTIES
  COMPILE_OPTIONS $<TARGET_PROPERTY:MICA_COMPACT_LEVEL>)
# Copies of any step want vectors, but not squares of five sizes of elements unrolled.
set_source_files_properties(src/kernels/move/move.isa.cc PROPERTIES COMPILE_OPTIONS
  "$<TARGET_PROPERTY:MICA_COMPACT_LEVEL>;$<$<CXX_COMPILER_ID:GNU>:-ftree-vectorize;-fvect-cost-model=dynamic>")
mica_isa_library(mica_isa_objects mica_kernels ${mica_isa_units})
list(GET MICA_ISAS 0 plainest_isa)
list(TRANSFORM MICA_ISAS PREPEND "X(" OUTPUT_VARIABLE isa_rows)
list(TRANSFORM isa_rows APPEND ")")
list(JOIN isa_rows " " isa_rows)
set(emulates_avx512 false)
if(MICA_EMULATE_AVX512)
  set(emulates_avx512 true)
endif()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/mica_isas.inc CONTENT
  "#define MICA_FOREACH_ISA(X) ${isa_rows}\n#define MICA_PLAINEST_ISA ${plainest_isa}\n\
#define MICA_EMULATES_AVX512 ${emulates_avx512}\n")
