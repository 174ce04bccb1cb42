#include "step/chain.h"

#include <cstring>

namespace mica {
namespace {

bool chain_type(DType dtype, ChainType& type) {
  switch (dtype) {
    case DType::kF32: type = ChainType::kF32; return true;
    case DType::kF16: type = ChainType::kF16; return kWithHalfChains;
    case DType::kBf16: type = ChainType::kBf16; return kWithHalfChains;
    default: return false;
  }
}

// A binary link whose second argument may be read on its own.
bool add_link(const BindScope& scope, const ChainLink& link, ChainArgs& chain) {
  if (chain.count == kMaxChainSteps || !in_build(link.function)) return false;
  ChainStep& step = chain.steps[chain.count];
  step.function = link.function;
  step.swapped = link.swapped;
  step.a = link.a;
  step.b = link.b;
  if (info_of(link.function).inputs == 2) {
    if (!scope.has(link.operand)) return false;
    if (!chain_operand(scope.input(link.operand).view, scope.output(0).view, link.operand, step.operand)) return false;
  }
  ++chain.count;
  return true;
}

}  // namespace

bool chain_operand(const TensorView& view, const TensorView& full, int slot, ChainOperand& out) {
  if (!chain_type(view.dtype, out.type) || view.rank > full.rank || full.rank > kMaxChainLoops) return false;
  out.slot = static_cast<int16_t>(slot);
  for (int64_t& stride : out.strides) stride = 0;
  const int64_t bytes = element_bytes(view.dtype);
  for (int i = 0; i < view.rank; ++i) {
    const int at = full.rank - view.rank + i;
    if (view.dim(i) != 1 && view.dim(i) != full.dim(at)) return false;
    if (view.stride(i) % bytes) return false;
    if (view.dim(i) != 1) out.strides[at] = view.stride(i) / bytes;
  }
  return true;
}

void run_chain(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& args = *static_cast<const ChainArguments*>(arguments);
  args.kernels->run(args.chain, operands, range.begin, range.end);
}

StepSpec chain_step(const ChainArguments& arguments, std::string_view name) {
  double elements = 1;
  for (int i = 0; i < arguments.chain.loops; ++i) elements *= static_cast<double>(arguments.chain.dims[i]);
  return {.kernel = run_chain,
          .arguments = &arguments,
          .tasks = arguments.chain.tasks,
          .work = elements * (2 + 4 * arguments.chain.count),
          .name = name};
}

Result<std::string_view> kernel_name(BindScope& scope, std::string_view stem, DType dtype) {
  const std::string_view isa = name_of(scope.machine->isa), type = name_of(dtype);
  const size_t size = stem.size() + type.size() + isa.size() + 3;
  MICA_TRY(void* place, scope.memory(size + 1));
  auto* text = static_cast<char*>(place);
  format_to(text, size + 1, "{}_{}__{}", stem, type, isa);
  return std::string_view(text, size);
}

namespace {

// What a chain may begin and end with, though its other operands may not.
bool end_operand(const TensorView& end, const TensorView& out, int slot, bool casts, ChainOperand& operand) {
  if (!kWithByteChains || !casts || !is_byte(end.dtype)) return chain_operand(end, out, slot, operand);
  TensorView bytes = end;
  bytes.dtype = DType::kF32;
  for (int i = 0; i < end.rank; ++i) bytes.strides[static_cast<size_t>(i)] *= element_bytes(DType::kF32);
  if (!chain_operand(bytes, out, slot, operand)) return false;
  operand.type = end.dtype == DType::kU8 ? ChainType::kU8 : ChainType::kI8;
  return true;
}

// A chain over output 0 that starts with `in`, without links; false when a type is not covered.
bool begin_chain(const BindScope& scope, const TensorView& in, int slot, bool casts, ChainArgs& chain) {
  const TensorView& out = scope.output(0).view;
  chain.loops = out.rank;
  for (int i = 0; i < out.rank; ++i) chain.dims[i] = out.dim(i);
  const int out_slot = static_cast<int>(scope.inputs.size());
  return end_operand(in, out, slot, casts, chain.in) && end_operand(out, out, out_slot, casts, chain.out);
}

// How many of the post-operations from `done` on fit.
int add_epilogue(const BindScope& scope, int done, ChainArgs& chain) {
  int i = done;
  for (; i < scope.epilogue.count; ++i) {
    const PostOp& op = scope.epilogue.ops[i];
    if (!add_link(scope, {op.function, op.operand, op.swapped, op.a, op.b}, chain)) break;
  }
  return i - done;
}

Status add_chain(BindScope& scope, const ChainArgs& chain, std::string_view name) {
  MICA_TRY(ChainArguments * args, scope.arguments<ChainArguments>());
  args->kernels = &eltwise_kernels(scope.machine->isa);
  args->chain = chain;
  prepare_chain(args->chain);
  MICA_TRY(const std::string_view kernel, kernel_name(scope, name, scope.output(0).view.dtype));
  return scope.add(chain_step(*args, kernel));
}

}  // namespace

Result<bool> bind_chain(BindScope& scope, int source, std::span<const ChainLink> links, std::string_view name,
                        bool casts) {
  ChainArgs chain;
  if (!begin_chain(scope, scope.input(source).view, source, casts, chain)) return false;
  for (const ChainLink& link : links)
    if (!add_link(scope, link, chain)) return false;
  const int done = add_epilogue(scope, 0, chain);
  MICA_TRY_STATUS(add_chain(scope, chain, name));
  scope.epilogue_done = done;
  return true;
}

Result<int> bind_epilogue(BindScope& scope, int done) {
  ChainArgs chain;
  if (done >= scope.epilogue.count) return 0;
  if (!begin_chain(scope, scope.output(0).view, static_cast<int>(scope.inputs.size()), false, chain)) return 0;
  const int added = add_epilogue(scope, done, chain);
  if (added) MICA_TRY_STATUS(add_chain(scope, chain, "epilogue"));
  return added;
}

}  // namespace mica
