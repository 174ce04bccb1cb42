// Models of the C interface: what goes in and out, as C texts.
#include <new>

#include "api/handles.h"
#include "base/nearest.h"

namespace mica {
namespace {

Result<const char*> keep(std::string_view text, Arena& arena) {
  MICA_TRY(const std::string_view copy, arena.copy_text(text));
  return copy.data();
}

Result<mica_port_info> describe(const Type& type, std::string_view name, const DimTable& dims, Arena& arena) {
  mica_port_info info = MICA_INIT(mica_port_info);
  MICA_TRY(info.name, keep(name, arena));
  String text;
  MICA_TRY_STATUS(print(type, dims, text));
  MICA_TRY(info.type, keep(text, arena));
  info.dtype = static_cast<mica_dtype>(type.dtype);
  info.rank = type.shape.rank;
  info.is_tensor = type.is_tensor();
  for (int i = 0; i < info.rank; ++i) {
    const Dim dim = type.shape[i];
    info.dims[i] = dim.is_fixed() ? dim.value() : -1;
    if (dim.is_fixed()) continue;
    String expression;
    MICA_TRY_STATUS(dims.print(dim, expression));
    MICA_TRY(info.dim_names[i], keep(expression, arena));
  }
  return info;
}

Status describe_ports(mica_model& model, const Plan& plan) {
  const PlanFunction& main = plan.functions[0];
  const auto fill = [&](mica_port port, const Vector<PlanPort>& names, const Vector<uint32_t>& values) -> Status {
    MICA_TRY(model.ports[port], model.texts.make_array<mica_port_info>(names.size()));
    for (size_t i = 0; i < names.size(); ++i) {
      MICA_TRY(model.ports[port][i],
               describe(main.values[values[i]].type, plan.name(names[i].name), plan.dims, model.texts));
    }
    return {};
  };
  MICA_TRY_STATUS(fill(MICA_INPUT, plan.inputs, main.inputs));
  MICA_TRY_STATUS(fill(MICA_OUTPUT, plan.outputs, main.outputs));
  MICA_TRY(model.ports[MICA_STATE], model.texts.make_array<mica_port_info>(plan.states.size()));
  for (size_t i = 0; i < plan.states.size(); ++i) {
    mica_port_info& state = model.ports[MICA_STATE][i];
    state = model.ports[MICA_INPUT][plan.states[i].input];
    state.state_input = plan.states[i].input;
    state.state_output = plan.states[i].output;
  }
  MICA_TRY(model.metadata, model.texts.make_array<const char*>(2 * plan.metadata.size()));
  for (size_t i = 0; i < plan.metadata.size(); ++i) {
    MICA_TRY(model.metadata[2 * i], keep(plan.name(plan.metadata[i].key), model.texts));
    MICA_TRY(model.metadata[2 * i + 1], keep(plan.name(plan.metadata[i].value), model.texts));
  }
  return {};
}

Status info_of_port(const mica_model* model, mica_port port, size_t index, mica_port_info* info) {
  MICA_CHECK(model && info && port >= MICA_INPUT && port <= MICA_STATE, kUsage,
             "a model, a kind of port and a place are needed");
  MICA_CHECK(index < model->ports[port].size(), kNotFound, "there is no port {}: the model has {}", index,
             model->ports[port].size());
  return write_struct(model->ports[port][index], info);
}

Status find_port(const mica_model* model, mica_port port, const char* name, size_t* index) {
  MICA_CHECK(model && name && index && port >= MICA_INPUT && port <= MICA_STATE, kUsage,
             "a model, a kind of port and a name are needed");
  const std::string_view wanted = name;
  Nearest nearest(wanted);
  for (size_t i = 0; i < model->ports[port].size(); ++i) {
    const std::string_view here = model->ports[port][i].name;
    if (here == wanted) return *index = i, Status();
    nearest.offer(here);
  }
  constexpr std::string_view kKinds[] = {"input", "output", "state"};
  Error made = error(Code::kNotFound, "the model has no {} `{}`", kKinds[port], wanted);
  String hint;
  if (!nearest.best().empty()) {
    MICA_TRY_STATUS(hint.print("the nearest name is `{}`", nearest.best()));
  } else {
    for (const mica_port_info& info : model->ports[port])
      if (hint.size() < 200) MICA_TRY_STATUS(hint.print("{}`{}`", hint.empty() ? "it has " : ", ", info.name));
  }
  return std::move(made).hinting(hint);
}

}  // namespace

Result<mica_model*> make_model(mica_context* context, Model* core) {
  void* place = allocate(sizeof(mica_model), alignof(mica_model));
  if (!place) {
    core->drop();
    return out_of_memory();
  }
  auto* model = new (place) mica_model();
  model->core = core;
  if (Status status = describe_ports(*model, core->plan()); !status.ok()) {
    core->drop();
    model->~mica_model();
    deallocate(model);
    return status.take_error();
  }
  model->context = context;
  retain(context);
  return model;
}

void retain(mica_model* model) { model->references.fetch_add(1, std::memory_order_relaxed); }

void drop(mica_model* model) {
  if (!model || model->references.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  mica_context* context = model->context;
  model->core->drop();
  model->~mica_model();
  deallocate(model);
  drop(context);
}

}  // namespace mica

extern "C" {

void mica_model_free(mica_model* model) { mica::drop(model); }

size_t mica_model_count(const mica_model* model, mica_port port) {
  return model && port >= MICA_INPUT && port <= MICA_STATE ? model->ports[port].size() : 0;
}
mica_error* mica_model_info(const mica_model* model, mica_port port, size_t index, mica_port_info* info) {
  return mica::give(mica::info_of_port(model, port, index, info));
}
mica_error* mica_model_find(const mica_model* model, mica_port port, const char* name, size_t* index) {
  return mica::give(mica::find_port(model, port, name, index));
}
size_t mica_model_metadata_count(const mica_model* model) { return model ? model->metadata.size() / 2 : 0; }
const char* mica_model_metadata_key(const mica_model* model, size_t index) {
  return index < mica_model_metadata_count(model) ? model->metadata[2 * index] : nullptr;
}
const char* mica_model_metadata(const mica_model* model, const char* key) {
  for (size_t i = 0; key && i < mica_model_metadata_count(model); ++i)
    if (std::string_view(model->metadata[2 * i]) == key) return model->metadata[2 * i + 1];
  return nullptr;
}

}  // extern "C"
