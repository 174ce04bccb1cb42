# A runtime for some models. MICA_TRIM names the lists that `mica convert --trim` wrote beside them; what none of them
# names is left out of the tables, and the linker drops what the tables no longer reach:
#
#   operator conv                  an operator of the plan
#   function clip                  an element-wise function that stages of the plan apply to their results
#   depthwise 3x1                  depthwise convolutions of this kernel width and stride, with code of their own;
#                                  `depthwise 3x1 rest`: whose channels do not fill vectors; `depthwise windows`:
#                                  of any width, with stride 1; `depthwise other rows`: three wide, with other than
#                                  three rows. All others run too
#   planes 2                       convolutions of this stride along rows (0: beyond 2) that may read planes;
#                                  `planes 0` also serves bytes whose channels are side by side;
#                                  `planes halves`: whose columns end in half of a panel
#   taps apart                     convolutions with dilation in a row, whose taps may be multiplied one by one
#   groups wide                    convolutions in groups of several channels, from a band of rows
#   bytes 4                        sizes of elements that have code of their own for transposition
#   custom operators               operators of the caller's
#   means rows                     averages that may start from the means of rows that a convolution tells
#   measured choices               what `mica tune` measured: the model had such a file
#   kernel conv_f32_winograd6      a kernel that ran on the machine that wrote the list: algorithms of convolutions that
#                                  no list names are left out too. Implicit products stay: they serve every convolution,
#                                  where another machine or shape would have taken another algorithm. Strassen's
#                                  (gemm_f32_strassen, conv_f32_strassen) is left out
#
# The lines become `mica_parts.inc`, which base/parts.h reads. Without MICA_TRIM everything is there. The compiler needs
# all operators, so that a trimmed tree has no tools.
set(MICA_TRIM "" CACHE STRING "Lists of `mica convert --trim`; the runtime then has what these models need and no more")
set(mica_trim_operators "")
set(mica_trim_parts "")
foreach(list IN LISTS MICA_TRIM)
  file(STRINGS ${list} operators REGEX "^operator ")
  if(NOT operators)
    message(FATAL_ERROR "${list} names no operator: MICA_TRIM wants lists that `mica convert --trim` wrote")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  list(APPEND mica_trim_operators ${operators})
  file(STRINGS ${list} parts REGEX "^[a-z]+ [a-z0-9_ ]+$")
  list(APPEND mica_trim_parts ${parts})
endforeach()
list(TRANSFORM mica_trim_operators REPLACE "^operator " "")
if(MICA_TRIM AND MICA_BUILD_TOOLS)
  message(FATAL_ERROR "MICA_TRIM is for the runtime: the compiler needs all operators (-DMICA_BUILD_TOOLS=OFF)")
endif()

# What base/parts.h reads: the lines of all lists, each once.
if(MICA_TRIM)
  list(REMOVE_DUPLICATES mica_trim_parts)
  list(SORT mica_trim_parts)
  set(mica_part_rows "")
  foreach(part IN LISTS mica_trim_parts)
    string(APPEND mica_part_rows "  \"${part}\", \\\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/mica_parts.inc CONTENT
    "#define MICA_PARTS \\\n${mica_part_rows}  \"\"\n")
  add_compile_definitions(MICA_TRIMMED)
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
