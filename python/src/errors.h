// Errors of the library as the exception mica.Error.
#pragma once
#include <nanobind/nanobind.h>

#include "mica/mica.h"

namespace mica::python {

namespace nb = nanobind;

// Takes the error over and throws it as mica.Error; null is no error.
void check(mica_error* error);

// Throws mica.Error made here.
[[noreturn]] void fail(int code, const char* what, const char* hint = "");

}  // namespace mica::python
