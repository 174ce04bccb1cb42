# mica_op_table(OUT PREFIX TYPE HEADER ASPECT SOURCES...): writes a table of the symbols `<PREFIX>_<stem>` that the
# files `<stem><ASPECT>.cc` among SOURCES define, sorted by stem, as `mica::all_<PREFIX>()`. The file's name is its
# registration.
function(mica_op_table out prefix type header aspect)
  set(stems "")
  foreach(source IN LISTS ARGN)
    get_filename_component(name ${source} NAME)
    string(REPLACE "." "\\." ending "${aspect}.cc")
    string(REGEX MATCH "^([a-z0-9_]+)${ending}$" hit ${name})
    if(hit)
      list(APPEND stems ${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(SORT stems)
  set(declared "")
  set(rows "")
  foreach(stem IN LISTS stems)
    string(APPEND declared "extern const ${type} ${prefix}_${stem};\n")
    string(APPEND rows "    {\"${stem}\", &${prefix}_${stem}},\n")
  endforeach()
  set(row "TableRow<${type}>")
  set(file ${CMAKE_BINARY_DIR}/generated/${prefix}_table.cc)
  string(CONCAT content "#include \"${header}\"\n\nnamespace mica {\n${declared}\n"
    "std::span<const ${row}> all_${prefix}() {\n  static constexpr ${row} kTable[] = {\n${rows}    {\"\", nullptr}};\n"
    "  return std::span(kTable, std::size(kTable) - 1);\n}\n}  // namespace mica\n")
  file(CONFIGURE OUTPUT ${file} CONTENT "${content}")
  set(${out} ${file} PARENT_SCOPE)
endfunction()
