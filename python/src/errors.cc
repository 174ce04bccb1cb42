#include "errors.h"

#include <chrono>
#include <memory>

namespace mica::python {
namespace {

constexpr int64_t kSignalInterval = 100'000'000;

struct Free {
  void operator()(mica_error* error) const { mica_error_free(error); }
};

nb::object exception_class() { return nb::module_::import_("mica._error").attr("Error"); }

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

nb::str text(std::string_view bytes) {
  const auto size = static_cast<Py_ssize_t>(bytes.size());
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(bytes.data(), size, "backslashreplace"));
}

int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

void check(mica_error* error) {
  if (!error) return;
  const std::unique_ptr<mica_error, Free> owner(error);
  raise(exception_of(error));
}

Signals::Signals() {
  const nb::object main = nb::module_::import_("threading").attr("main_thread")();
  const nb::object ident = main.attr("ident");
  is_main_ = !ident.is_none() && nb::cast<unsigned long>(ident) == PyThread_get_thread_ident();
  next_ns_ = now_ns() + kSignalInterval;
}

bool Signals::raised() {
  if (raised_) return true;
  const int64_t now = now_ns();
  if (now < next_ns_) return false;
  const nb::gil_scoped_acquire acquire;
  raised_ = PyErr_CheckSignals() != 0;  // what was raised stays with this thread
  next_ns_ = now_ns() + kSignalInterval;
  return raised_;
}

void Signals::rethrow(mica_error* error) {
  if (!raised_) return;
  mica_error_free(error);
  throw nb::python_error();
}

void fail(int code, const char* what, const char* hint) {
  raise(exception_class()(code, text(what), nb::str(""), text(hint)));
}

}  // namespace mica::python
