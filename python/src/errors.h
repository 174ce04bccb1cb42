// Errors of the library as the exception mica.Error.
#pragma once
#include <nanobind/nanobind.h>

#include <string_view>

#include "mica/mica.h"

namespace mica::python {

namespace nb = nanobind;

// Takes the error over and throws it as mica.Error; null is no error.
void check(mica_error* error);

// A name or text of a model, which may hold any bytes: those that are no UTF-8 become escapes, as \xff.
nb::str text(std::string_view bytes);

// Of a clock that never goes back.
int64_t now_ns();

// Python's signals during work that does not hold the interpreter. The main thread alone handles them: it asks now and
// then, so that Ctrl-C ends a run with KeyboardInterrupt, and a handler that raises ends it with what it raised.
class Signals {
 public:
  Signals();                                  // holding the interpreter
  bool are_mine() const { return is_main_; }  // this thread handles signals
  // Without holding the interpreter: true when a handler has raised. Handlers run every tenth of a second at most.
  bool raised();
  void set_raised() { raised_ = true; }  // other code of Python's has raised
  // Holding the interpreter: throws what a handler raised, in place of `error`, which is freed then.
  void rethrow(mica_error* error);

 private:
  bool is_main_ = false, raised_ = false;
  int64_t next_ns_ = 0;
};

// Throws mica.Error made here.
[[noreturn]] void fail(int code, const char* what, const char* hint = "");

}  // namespace mica::python
