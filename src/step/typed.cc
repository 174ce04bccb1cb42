#include "step/typed.h"

#include "step/chain.h"

namespace mica {
namespace {

struct Arguments {
  TypedArgs typed;
};
void run(const void* arguments, void* const* operands, const TaskRange& range) {
  run_typed(static_cast<const Arguments*>(arguments)->typed, operands, range.begin, range.end);
}

bool set_operand(const TensorView& view, const TensorView& full, int64_t* strides) {
  if (view.rank > full.rank || is_sub_byte(view.dtype)) return false;
  for (int i = 0; i < view.rank; ++i) {
    const int at = full.rank - view.rank + i;
    if (view.dim(i) != 1 && view.dim(i) != full.dim(at)) return false;
    if (view.dim(i) != 1) strides[at] = view.stride(i);
  }
  return true;
}

// The scale and zero point of a row that is no run of neighbours would have to be gathered: such rows are left to a
// dense copy.
bool rows_fit(const TypedArgs& args, std::span<const TensorView> views, const TensorView& out) {
  const int last = args.loops - 1;
  if (args.dims[last] == 1) return true;
  bool fits = args.out[last] == element_bytes(out.dtype) && args.in[0][last] == element_bytes(views[0].dtype);
  for (int k = 1; k < args.inputs; ++k)
    fits = fits && (args.in[k][last] == 0 || args.in[k][last] == element_bytes(views[static_cast<size_t>(k)].dtype));
  return fits;
}

}  // namespace

bool typed_element(DType dtype, TypedElement& out) {
  switch (dtype) {
    case DType::kF32: out = TypedElement::kF32; return true;
    case DType::kI32: out = TypedElement::kI32; return true;
    case DType::kI64: out = TypedElement::kI64; return true;
    case DType::kU8: out = TypedElement::kU8; return true;
    case DType::kI8: out = TypedElement::kI8; return true;
    case DType::kBool: out = TypedElement::kBool; return true;
    case DType::kF16: out = TypedElement::kF16; return true;
    case DType::kBf16: out = TypedElement::kBF16; return true;
    case DType::kF64: out = TypedElement::kF64; return true;
    case DType::kI16: out = TypedElement::kI16; return true;
    case DType::kU16: out = TypedElement::kU16; return true;
    default: return false;
  }
}

Result<bool> bind_typed(BindScope& scope, const TypedSpec& spec, std::span<const TensorView> views) {
  const TensorView& out = scope.output(0).view;
  TypedElement from, to;
  if (!typed_element(spec.from, from) || !typed_element(spec.to, to) || is_sub_byte(out.dtype)) return false;
  MICA_TRY(Arguments * args, scope.arguments<Arguments>());
  TypedArgs& a = args->typed;
  a.row = typed_kernels(scope.machine->isa).find(spec.function, from, to);
  if (!a.row) return false;
  a.inputs = spec.inputs;
  a.loops = out.rank;
  for (int i = 0; i < out.rank; ++i) a.dims[i] = out.dim(i);
  for (int i = 0; i < out.rank; ++i) a.out[i] = out.stride(i);
  for (int k = 0; k < spec.inputs; ++k) {
    a.slot[k] = k;
    if (!set_operand(views[static_cast<size_t>(k)], out, a.in[k])) return false;
  }
  a.out_slot = static_cast<int>(scope.inputs.size());
  prepare_typed(a, spec.dense_rows);
  if (spec.dense_rows && !rows_fit(a, views, out)) return false;
  MICA_TRY(const std::string_view name, kernel_name(scope, scope.op->name, spec.from));
  MICA_TRY_STATUS(scope.add({.kernel = run,
                             .arguments = args,
                             .tasks = a.tasks,
                             .work = 2.0 * static_cast<double>(out.count()),
                             .name = name}));
  return true;
}

Result<bool> bind_typed(BindScope& scope, const TypedSpec& spec) {
  TensorView views[kMaxTypedInputs];
  for (int k = 0; k < spec.inputs; ++k) {
    if (!scope.has(k)) return false;
    views[k] = scope.input(k).view;
  }
  return bind_typed(scope, spec, std::span<const TensorView>(views, static_cast<size_t>(spec.inputs)));
}

}  // namespace mica
