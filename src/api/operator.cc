// Operators of the caller's: an OpDef whose functions find the caller's through the definition they belong to.
#include <algorithm>
#include <cstring>
#include <new>

#include "api/handles.h"

namespace mica {

struct Operator {
  CustomOperator custom;
  mica_operator given{};
  Arena texts;
};

namespace {

constexpr size_t kMessageBytes = 1024;
// How a dimension that is an expression shows in `infer`: -2, -3, …
constexpr int64_t kFirstUnknown = -2;

const Operator& operator_of(const OpDef* definition) { return *static_cast<const Operator*>(definition->user); }

Error failure(const Operator& op, int code, const char* message) {
  const std::string_view text(message, strnlen(message, kMessageBytes - 1));
  if (text.empty()) return error(Code::kBadValue, "operator `{}` failed with code {}", op.given.name, code);
  return error(Code::kBadValue, "operator `{}`: {}", op.given.name, text);
}

template <class Scope>
struct ScopeMemory final : CustomMemory {
  explicit ScopeMemory(Scope& owner) : scope(owner) {}
  void* take(size_t bytes) override {
    if constexpr (std::is_same_v<Scope, InferScope>) {
      return scope.allocate(bytes);
    } else {
      auto place = scope.allocate(bytes);
      return place.ok() ? *place : nullptr;
    }
  }
  template <class T>
  Result<T*> array(size_t count) {
    void* place = take(std::max<size_t>(count, 1) * sizeof(T));
    if (!place) return out_of_memory();
    std::memset(place, 0, count * sizeof(T));
    return static_cast<T*>(place);
  }
  Scope& scope;
};

template <class Scope>
Result<mica_op_call> make_call(Scope& scope, ScopeMemory<Scope>& memory) {
  MICA_TRY(const auto attributes, read_custom(scope.template attributes<CustomAttributes>(), memory));
  MICA_TRY(auto* list, memory.template array<mica_attribute>(attributes.size()));
  for (size_t i = 0; i < attributes.size(); ++i) {
    const CustomAttribute& a = attributes[i];
    const auto texts = static_cast<size_t>(std::ranges::count(a.text, '\0'));
    const size_t count = a.kind == 'i'   ? a.integers.size()
                         : a.kind == 'f' ? a.floats.size()
                         : a.kind == 's' ? a.text.size()
                                         : texts;
    list[i] = {a.name.data(), a.kind, count, a.integers.data(), a.floats.data(), a.text.empty() ? "" : a.text.data()};
  }
  mica_op_call call = MICA_INIT(mica_op_call);
  call.attributes = list;
  call.attribute_count = attributes.size();
  call.input_count = scope.inputs.size();
  call.output_count = scope.outputs.size();
  MICA_TRY(auto* inputs, memory.template array<mica_tensor>(call.input_count));
  MICA_TRY(call.outputs, memory.template array<mica_tensor>(call.output_count));
  call.inputs = inputs;
  return call;
}

// --- Inference ---

// Expressions in the order in which they appear in the inputs.
struct Unknowns {
  Vector<Dim> dims;
  Result<int64_t> code(Dim d) {
    if (d.is_fixed()) return d.value();
    const auto found = std::ranges::find(dims, d);
    const auto index = static_cast<int64_t>(found - dims.begin());
    if (found == dims.end()) MICA_TRY_STATUS(dims.push_back(d));
    return kFirstUnknown - index;
  }
  Dim dim(int64_t code, DimTable& table) const {
    if (code >= 0) return code;
    const auto index = static_cast<uint64_t>(kFirstUnknown - code);
    return code <= kFirstUnknown && index < dims.size() ? dims[index] : table.fresh("custom");
  }
};

Status show_input(const InferValue& in, mica_tensor& to, Unknowns& unknowns, InferScope& scope) {
  if (!in.present) return {};
  MICA_CHECK(in.type.is_tensor(), kBadType, "operators of an application take tensors only");
  to.dtype = static_cast<mica_dtype>(in.type.dtype);
  to.rank = in.type.shape.rank;
  for (int d = 0; d < to.rank; ++d) {
    MICA_TRY(to.dims[d], unknowns.code(in.type.shape[d]));
  }
  if (!in.constant) return {};
  if (in.constant->contiguous()) {
    to.data = in.constant->data;
    return {};
  }
  to.data = scope.allocate(static_cast<size_t>(dense_bytes(in.constant->dtype, in.constant->shape())) + 1);
  if (!to.data) return out_of_memory();
  copy_elements(*in.constant, dense_view(to.data, in.constant->dtype, in.constant->shape()));
  return {};
}

Status infer(InferScope& scope) {
  const Operator& op = operator_of(scope.definition);
  ScopeMemory<InferScope> memory(scope);
  Unknowns unknowns;
  MICA_TRY(mica_op_call call, make_call(scope, memory));
  for (size_t i = 0; i < call.input_count; ++i)
    MICA_TRY_STATUS(show_input(scope.inputs[i], const_cast<mica_tensor&>(call.inputs[i]), unknowns, scope));
  for (size_t i = 0; i < call.output_count; ++i) call.outputs[i].rank = -1;
  char message[kMessageBytes] = {};
  if (const int code = op.given.infer(op.given.user, &call, message, sizeof message); code != 0)
    return failure(op, code, message);
  for (size_t i = 0; i < call.output_count; ++i) {
    const mica_tensor& out = call.outputs[i];
    MICA_CHECK(out.dtype > MICA_NONE && out.dtype <= MICA_C128, kBadType, "operator `{}` gives output {} no type",
               op.given.name, i);
    MICA_CHECK(out.rank >= -1 && out.rank <= MICA_MAX_RANK, kBadRank, "operator `{}` gives output {} the rank {}",
               op.given.name, i, out.rank);
    Shape shape;
    if (out.rank >= 0) shape = Shape::of_rank(out.rank);
    for (int d = 0; d < out.rank; ++d) shape[d] = unknowns.dim(out.dims[d], scope.dims());
    scope.out(static_cast<int>(i), static_cast<DType>(out.dtype), shape);
  }
  return {};
}

// --- Computing ---

// What mica_op_call::scope points to.
struct Computation {
  RunScope& scope;
  ScopeMemory<RunScope> memory;
  bool failed = false;
  Error error{Code::kOutOfMemory, {}};
};

Result<mica_tensor> dense_input(const RunValue& value, ScopeMemory<RunScope>& memory) {
  if (!value.present) return mica_tensor{};
  mica_tensor made = tensor_of(value.tensor);
  if (value.tensor.contiguous() || value.tensor.empty()) return made;
  MICA_TRY(made.data,
           memory.scope.allocate(static_cast<size_t>(dense_bytes(value.tensor.dtype, value.tensor.shape()))));
  copy_elements(value.tensor, dense_view(made.data, value.tensor.dtype, value.tensor.shape()));
  return made;
}

Result<mica_tensor> dense_output(const RunValue& value, ScopeMemory<RunScope>& memory) {
  if (!value.present) return mica_tensor{};
  mica_tensor made = tensor_of(value.tensor);
  if (value.tensor.data && !value.tensor.contiguous() && !value.tensor.empty()) {
    const auto bytes = static_cast<size_t>(dense_bytes(value.tensor.dtype, value.tensor.shape()));
    MICA_TRY(made.data, memory.scope.allocate(bytes));
  }
  return made;
}

// Strings that a caller wrote are its own: the run keeps copies.
Status keep_strings(RunScope& scope, const TensorView& view) {
  const Elements elements(view);
  for (int64_t i = 0, n = view.count(); i < n; ++i) {
    const StringRef text = elements.text(i);
    MICA_TRY(elements.text(i), scope.keep(text.size > 0 ? text.view() : std::string_view()));
  }
  return {};
}

Status finish_output(RunScope& scope, size_t i, void* stand_in) {
  const RunValue& value = scope.outputs[i];
  const TensorView& to = value.tensor;
  if (!value.present) return {};
  const bool known = std::ranges::none_of(to.shape(), [](int64_t d) { return d < 0; });
  MICA_CHECK(to.data || (known && to.empty()), kState, "operator `{}` has not allocated output {}",
             operator_of(scope.definition).given.name, i);
  if (to.empty()) return scope.allocate_output(static_cast<int>(i), to.shape());
  if (stand_in) copy_elements(dense_view(stand_in, to.dtype, to.shape()), to);
  return to.dtype == DType::kString ? keep_strings(scope, to) : Status();
}

Status compute(RunScope& scope) {
  const Operator& op = operator_of(scope.definition);
  Computation computation{scope, ScopeMemory<RunScope>(scope)};
  MICA_TRY(mica_op_call call, make_call(scope, computation.memory));
  call.scope = &computation;
  for (size_t i = 0; i < call.input_count; ++i) {
    MICA_TRY(const_cast<mica_tensor&>(call.inputs[i]), dense_input(scope.inputs[i], computation.memory));
  }
  MICA_TRY(auto** stand_in, computation.memory.array<void*>(call.output_count));
  for (size_t i = 0; i < call.output_count; ++i) {
    MICA_TRY(call.outputs[i], dense_output(scope.outputs[i], computation.memory));
    if (call.outputs[i].data != scope.outputs[i].tensor.data) stand_in[i] = call.outputs[i].data;
  }
  char message[kMessageBytes] = {};
  const int code = op.given.compute(op.given.user, &call, message, sizeof message);
  if (computation.failed) return std::move(computation.error);
  if (code != 0) return failure(op, code, message);
  for (size_t i = 0; i < call.output_count; ++i) MICA_TRY_STATUS(finish_output(scope, i, stand_in[i]));
  return {};
}

}  // namespace

Result<Operator*> make_operator(const mica_operator& given) {
  MICA_CHECK(given.input_least >= 0 && (given.input_most == -1 || given.input_most >= given.input_least) &&
                 given.output_count >= 1,
             kUsage, "operator `{}` has {} to {} inputs and {} outputs", given.name, given.input_least,
             given.input_most, given.output_count);
  void* place = allocate(sizeof(Operator));
  if (!place) return out_of_memory();
  auto* made = new (place) Operator();
  made->given = given;
  String id;
  Status status = id.print("app/{}{}{}", given.domain, *given.domain ? "/" : "", given.name);
  auto domain = made->texts.copy_text(given.domain), name = made->texts.copy_text(given.name),
       full = made->texts.copy_text(id);
  if (!status.ok() || !domain.ok() || !name.ok() || !full.ok()) {
    destroy_operator(made);
    return out_of_memory();
  }
  made->given.domain = domain->data();
  made->given.name = name->data();
  made->custom.domain = *domain;
  made->custom.name = *name;
  OpDef& def = made->custom.def;
  def.name = *full;
  def.doc = "an operator of the application";
  def.inputs = {given.input_least, given.input_most};
  def.outputs = {1, given.output_count};
  def.attributes = attr_class<CustomAttributes>();
  def.infer = infer;
  def.reference = compute;
  def.user = made;
  return made;
}

void destroy_operator(Operator* op) {
  op->~Operator();
  deallocate(op);
}

const CustomOperator& custom_of(const Operator& op) { return op.custom; }

}  // namespace mica

extern "C" {

void* mica_op_allocate(mica_op_call* call, size_t output, int32_t rank, const int64_t* dims) {
  if (!call || !call->scope || output >= call->output_count || rank < 0 || rank > MICA_MAX_RANK || (rank && !dims))
    return nullptr;
  auto& computation = *static_cast<mica::Computation*>(call->scope);
  const mica::RunValue& value = computation.scope.outputs[output];
  if (!value.present) return nullptr;
  const bool known = value.tensor.data != nullptr;
  mica::Status status = computation.scope.allocate_output(static_cast<int>(output), {dims, static_cast<size_t>(rank)});
  if (!status.ok()) {
    computation.failed = true;
    computation.error = status.take_error();
    return nullptr;
  }
  if (!known) call->outputs[output] = mica::tensor_of(value.tensor);
  return call->outputs[output].data;
}

const mica_attribute* mica_op_attribute(const mica_op_call* call, const char* name) {
  if (!call || !name) return nullptr;
  for (size_t i = 0; i < call->attribute_count; ++i)
    if (std::strcmp(call->attributes[i].name, name) == 0) return &call->attributes[i];
  return nullptr;
}

}  // extern "C"
