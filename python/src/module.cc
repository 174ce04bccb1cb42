// The extension module mica._mica: the C interface and the tools library as Python sees them. The package around it
// turns numpy's types into the forms of values.h.
#include "objects.h"

NB_MODULE(_mica, module) {
  namespace py = mica::python;
  py::add_models(module);
  py::add_sessions(module);
  py::add_tools(module);
  module.def("from_dlpack", &py::from_dlpack, nanobind::arg("object").none(), nanobind::arg("write"));
  module.def("to_dlpack", &py::to_dlpack, nanobind::arg("value"));
  module.def("version", &mica_version);
  module.def(
      "dtype_name", [](int dtype) { return mica_dtype_name(static_cast<mica_dtype>(dtype)); }, nanobind::arg("dtype"));
}
