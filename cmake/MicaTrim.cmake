# A runtime for some models. MICA_TRIM names the lists that `mica convert --trim` wrote beside them; what none of them
# names is left out of the tables, and the linker drops what the tables no longer reach:
#
#   operator conv                  an operator of the plan
#   kernel conv_f32_winograd6      a kernel that ran on the machine that wrote the list: algorithms of convolutions that
#                                  no list names are left out too. Implicit products stay: they serve every convolution,
#                                  where another machine or shape would have taken another algorithm
#
# Without MICA_TRIM everything is there. The compiler needs all operators, so that a trimmed tree has no tools.
set(MICA_TRIM "" CACHE STRING "Lists of `mica convert --trim`; the runtime then has what these models need and no more")
set(mica_trim_operators "")
set(mica_trim_kernels "")
foreach(list IN LISTS MICA_TRIM)
  file(STRINGS ${list} operators REGEX "^operator ")
  if(NOT operators)
    message(FATAL_ERROR "${list} names no operator: MICA_TRIM wants lists that `mica convert --trim` wrote")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  list(APPEND mica_trim_operators ${operators})
  file(STRINGS ${list} kernels REGEX "^kernel ")
  list(APPEND mica_trim_kernels ${kernels})
endforeach()
list(TRANSFORM mica_trim_operators REPLACE "^operator " "")
if(MICA_TRIM AND MICA_BUILD_TOOLS)
  message(FATAL_ERROR "MICA_TRIM is for the runtime: the compiler needs all operators (-DMICA_BUILD_TOOLS=OFF)")
endif()

# mica_trimmed(OUT SOURCES...): the sources whose operator the lists name.
function(mica_trimmed out)
  set(kept ${ARGN})
  if(MICA_TRIM)
    set(kept "")
    foreach(source IN LISTS ARGN)
      get_filename_component(stem ${source} NAME_WE)
      if(stem IN_LIST mica_trim_operators)
        list(APPEND kept ${source})
        if(source MATCHES "/pointwise/[a-z0-9_]+\\.cc$")
          set(pointwise TRUE)
        endif()
      endif()
    endforeach()
    # What no table names, and the hook that all element-wise operators share.
    set(others ${ARGN})
    list(FILTER others INCLUDE REGEX "\\.shared\\.cc$")
    list(APPEND kept ${others})
    if(pointwise)
      set(others ${ARGN})
      list(FILTER others INCLUDE REGEX "/pointwise\\.run\\.cc$")
      list(APPEND kept ${others})
    endif()
    list(REMOVE_DUPLICATES kept)
  endif()
  set(${out} "${kept}" PARENT_SCOPE)
endfunction()

# Algorithms of convolutions that no list names.
if(MICA_TRIM)
  foreach(algorithm winograd depthwise grouped spread)
    if(NOT mica_trim_kernels MATCHES "conv_f32_${algorithm}")
      string(TOUPPER ${algorithm} name)
      foreach(unit choose.cc conv.isa.cc)
        set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/src/kernels/conv/${unit} APPEND PROPERTY COMPILE_DEFINITIONS
          MICA_WITHOUT_${name})
      endforeach()
    endif()
  endforeach()
endif()
