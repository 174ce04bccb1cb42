#include "errors.h"

#include <memory>

namespace mica::python {
namespace {

struct Free {
  void operator()(mica_error* error) const { mica_error_free(error); }
};

nb::object exception_class() { return nb::module_::import_("mica._error").attr("Error"); }

nb::str text(const char* bytes) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(bytes, static_cast<Py_ssize_t>(std::strlen(bytes)), "replace"));
}

nb::object exception_of(const mica_error* error) {
  nb::object made = exception_class()(mica_error_code(error), text(mica_error_what(error)),
                                      text(mica_error_where(error)), text(mica_error_hint(error)));
  if (const mica_error* cause = mica_error_cause(error)) made.attr("__cause__") = exception_of(cause);
  return made;
}

[[noreturn]] void raise(const nb::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

}  // namespace

void check(mica_error* error) {
  if (!error) return;
  const std::unique_ptr<mica_error, Free> owner(error);
  raise(exception_of(error));
}

void fail(int code, const char* what, const char* hint) {
  raise(exception_class()(code, text(what), nb::str(""), text(hint)));
}

}  // namespace mica::python
