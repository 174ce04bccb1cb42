// Contexts, models and what they say of their ports.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "modules/modules.h"
#include "objects.h"

namespace mica::python {
namespace {

PyContext make_context(int threads, const std::string& isa) {
  mica_context_options options = MICA_INIT(mica_context_options);
  options.threads = threads;
  options.isa = isa.empty() ? nullptr : isa.c_str();
  mica_context* context = nullptr;
  check(mica_context_create(&options, &context));
  PyContext made;
  made.handle.reset(context);
  check(mica_add_modules(context));
  return made;
}

// Compiles without holding the interpreter; `load` fills the model.
template <class Load>
PyModel load_with(const Load& load) {
  mica_model* model = nullptr;
  mica_error* error = nullptr;
  {
    nb::gil_scoped_release release;
    error = load(&model);
  }
  check(error);
  PyModel made;
  made.handle.reset(model);
  return made;
}

PyModel load_file(const PyContext& context, const std::string& path, const tools::LoadOptions& options) {
  return load_with([&](mica_model** model) { return tools::load(context.handle.get(), path, options, model); });
}

PyModel load_memory(const PyContext& context, const nb::bytes& bytes, const std::string& name,
                    const std::string& folder, const tools::LoadOptions& options) {
  const tools::ModelBytes given = {bytes.data(), bytes.size(), name, folder};
  return load_with([&](mica_model** model) { return tools::load_memory(context.handle.get(), given, options, model); });
}

// (name, type, dtype, shape): an axis is a length, the name of one, or None; the shape of unknown rank is None.
nb::tuple port_tuple(const mica_port_info& info) {
  nb::object shape = nb::none();
  if (info.rank >= 0) {
    nb::list dims;
    for (int i = 0; i < info.rank; ++i) {
      if (info.dims[i] >= 0)
        dims.append(info.dims[i]);
      else if (info.dim_names[i])
        dims.append(text(info.dim_names[i]));
      else
        dims.append(nb::none());
    }
    shape = nb::tuple(dims);
  }
  return nb::make_tuple(text(info.name), text(info.type), static_cast<int>(info.dtype), shape);
}

nb::list ports(const PyModel& model, int port) {
  nb::list made;
  const auto kind = static_cast<mica_port>(port);
  for (size_t i = 0; i < mica_model_count(model.handle.get(), kind); ++i)
    made.append(port_tuple(port_info(model.handle.get(), kind, i)));
  return made;
}

// (input, output) of every state.
nb::list state_ports(const PyModel& model) {
  nb::list made;
  for (size_t i = 0; i < mica_model_count(model.handle.get(), MICA_STATE); ++i) {
    const mica_port_info info = port_info(model.handle.get(), MICA_STATE, i);
    made.append(nb::make_tuple(info.state_input, info.state_output));
  }
  return made;
}

size_t find(const PyModel& model, int port, const std::string& name) {
  size_t index = 0;
  check(mica_model_find(model.handle.get(), static_cast<mica_port>(port), name.c_str(), &index));
  return index;
}

nb::dict metadata(const PyModel& model) {
  nb::dict made;
  for (size_t i = 0; i < mica_model_metadata_count(model.handle.get()); ++i) {
    const char* key = mica_model_metadata_key(model.handle.get(), i);
    made[text(key)] = text(mica_model_metadata(model.handle.get(), key));
  }
  return made;
}

}  // namespace

mica_port_info port_info(const mica_model* model, mica_port port, size_t index) {
  mica_port_info info = MICA_INIT(mica_port_info);
  check(mica_model_info(model, port, index, &info));
  return info;
}

void add_models(nb::module_& module) {
  nb::class_<tools::ConvertOptions>(module, "ConvertOptions")
      .def(nb::init<>())
      .def_rw("shapes", &tools::ConvertOptions::shapes)
      .def_rw("bounds", &tools::ConvertOptions::bounds)
      .def_rw("states", &tools::ConvertOptions::states)
      .def_rw("outputs", &tools::ConvertOptions::outputs)
      .def_rw("keep", &tools::ConvertOptions::keep)
      .def_rw("rules_off", &tools::ConvertOptions::rules_off)
      .def_rw("preprocess", &tools::ConvertOptions::preprocess)
      .def_rw("pixels", &tools::ConvertOptions::pixels)
      .def_rw("labels", &tools::ConvertOptions::labels)
      .def_rw("fuse", &tools::ConvertOptions::fuse)
      .def_rw("half_weights", &tools::ConvertOptions::half_weights)
      .def_rw("strict", &tools::ConvertOptions::strict)
      .def_rw("onnx_release", &tools::ConvertOptions::onnx_release);
  nb::class_<tools::LoadOptions, tools::ConvertOptions>(module, "LoadOptions")
      .def(nb::init<>())
      .def_rw("tuning", &tools::LoadOptions::tuning);
  nb::class_<PyContext>(module, "Context")
      .def(
          "__init__",
          [](PyContext* place, int threads, const std::string& isa) {
            new (place) PyContext(make_context(threads, isa));
          },
          nb::arg("threads"), nb::arg("isa"))
      .def_prop_ro("threads", [](const PyContext& self) { return mica_context_threads(self.handle.get()); })
      .def_prop_ro("isa", [](const PyContext& self) { return mica_context_isa(self.handle.get()); })
      .def_prop_ro("processor", [](const PyContext& self) { return mica_context_processor(self.handle.get()); })
      .def("load", &load_file, nb::arg("path"), nb::arg("options"))
      .def("load_memory", &load_memory, nb::arg("bytes"), nb::arg("name"), nb::arg("folder"), nb::arg("options"));
  nb::class_<PyModel>(module, "Model")
      .def("ports", &ports, nb::arg("kind"))
      .def("state_ports", &state_ports)
      .def("find", &find, nb::arg("kind"), nb::arg("name"))
      .def("metadata", &metadata);
}

}  // namespace mica::python
