# Warnings and sanitizers, shared by every target through `mica_flags`; the runtime adds `mica_runtime_flags`.
add_library(mica_flags INTERFACE)
target_compile_options(mica_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers
  -ffp-contract=off -fno-math-errno)
target_include_directories(mica_flags INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR}/include
  ${CMAKE_BINARY_DIR}/generated)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(mica_flags INTERFACE -Wno-restrict)  # GCC bug 105651: false alarms inside std::string
endif()
if(MICA_WERROR)
  target_compile_options(mica_flags INTERFACE -Werror)
endif()
if(MICA_SANITIZE)
  target_compile_options(mica_flags INTERFACE -fsanitize=${MICA_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all -g1)
  # The runtime has no run-time type information, which the vptr check asks for.
  target_compile_options(mica_flags INTERFACE -fno-sanitize=vptr)
  target_link_options(mica_flags INTERFACE -fsanitize=${MICA_SANITIZE})
endif()

# What a phone links: no exceptions and no run-time type information.
add_library(mica_runtime_flags INTERFACE)
target_link_libraries(mica_runtime_flags INTERFACE mica_flags)
target_compile_options(mica_runtime_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>
  -ffunction-sections -fdata-sections)
