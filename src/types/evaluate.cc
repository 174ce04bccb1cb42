#include "types/evaluate.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace mica {
namespace {

// Room for n elements: few stand here, so that binding a shape again asks for no memory.
template <class T>
class Room {
 public:
  Result<std::span<T>> take(size_t n) {
    if (n <= kFew) return std::span<T>(few_, n);
    MICA_TRY_STATUS(many_.resize(n));
    return std::span<T>(many_.data(), n);
  }

 private:
  static constexpr size_t kFew = 8;
  T few_[kFew];
  Vector<T> many_;
};

// Runs a reference on known operands. Results live in the inference's memory, scratch until the run is over.
class KnownRun final : public RunScope {
 public:
  KnownRun(InferScope& scope, int64_t max_elements) : scope_(scope), room_(max_elements) {}
  ~KnownRun() {
    for (void* block : scratch_) deallocate(block);
  }

  // Operands and results; `as`: the element type of every output, or kNone for those inferred.
  Status prepare(DType as) {
    const size_t in = scope_.inputs.size(), out = scope_.outputs.size();
    MICA_TRY(in_, in_room_.take(in));
    MICA_TRY(out_, out_room_.take(out));
    inputs = in_;
    outputs = out_;
    attributes_blob = scope_.attributes_blob;
    definition = scope_.definition;
    for (size_t i = 0; i < in; ++i) {
      in_[i].present = scope_.inputs[i].present;
      if (in_[i].present && scope_.inputs[i].constant) in_[i].tensor = *scope_.inputs[i].constant;
    }
    for (size_t i = 0; i < out; ++i) {
      const Type& type = scope_.outputs[i].type;
      out_[i].present = scope_.outputs[i].present;
      out_[i].tensor.dtype = as == DType::kNone ? type.dtype : as;
      if (!out_[i].present || !type.shape.fixed()) continue;
      std::array<int64_t, kMaxRank> dims;
      for (int d = 0; d < type.shape.rank; ++d) dims[static_cast<size_t>(d)] = type.shape[d].value();
      MICA_TRY_STATUS(make_output(i, std::span(dims.data(), static_cast<size_t>(type.shape.rank))));
    }
    return {};
  }
  void set_input(size_t i, const TensorView& view) { in_[i].tensor = view; }

  Status allocate_output(int i, std::span<const int64_t> dims) override {
    if (!wants(i)) return {};
    const RunValue& value = out_[static_cast<size_t>(i)];
    if (!value.tensor.data) return make_output(static_cast<size_t>(i), dims);
    MICA_CHECK(std::ranges::equal(value.tensor.shape(), dims), kBadShape, "output {} has another shape than inferred",
               i);
    return {};
  }
  Status adopt_output(int i, OwnedTensor tensor) override {
    MICA_TRY_STATUS(allocate_output(i, tensor.view().shape()));
    if (!wants(i)) return {};
    const TensorView& to = out(i);
    MICA_CHECK(tensor.view().dtype == to.dtype, kBadType, "output {} has another type than inferred", i);
    copy_elements(tensor.view(), to);
    for (int64_t e = 0, n = to.dtype == DType::kString ? to.count() : 0; e < n; ++e) {
      MICA_TRY(to.as<StringRef>()[e], keep(to.as<StringRef>()[e].view()));
    }
    return {};
  }
  Result<void*> allocate(size_t bytes) override {
    void* block = mica::allocate(bytes, kCacheLine);
    if (!block) return out_of_memory();
    if (Status s = scratch_.push_back(block); !s.ok()) {
      deallocate(block);
      return s.take_error();
    }
    return block;
  }
  Result<StringRef> keep(std::string_view text) override {
    auto* bytes = static_cast<char*>(scope_.allocate(text.size() + 1));
    if (!bytes) return out_of_memory();
    std::copy(text.begin(), text.end(), bytes);
    return StringRef{bytes, static_cast<int64_t>(text.size())};
  }
  Status call(int, std::span<const RunValue>, std::span<CallResult>) override {
    return error(Code::kInternal, "regions are not run during inference");
  }
  Status check_stop() override { return {}; }

 private:
  Status make_output(size_t i, std::span<const int64_t> dims) {
    int64_t count = 1;
    for (int64_t d : dims) {
      MICA_CHECK(d >= 0 && !__builtin_mul_overflow(count, d, &count), kBadShape, "output {} has a dimension of {}", i,
                 d);
    }
    MICA_CHECK(dims.size() <= kMaxRank && count <= room_, kLimit, "a result is too large to be computed ahead");
    room_ -= count;
    const DType dtype = out_[i].tensor.dtype;
    const auto bytes = static_cast<size_t>(dense_bytes(dtype, dims));
    void* data = scope_.allocate(std::max<size_t>(bytes, 1));
    if (!data) return out_of_memory();
    std::memset(data, 0, bytes);
    out_[i].tensor = dense_view(data, dtype, dims);
    return {};
  }

  InferScope& scope_;
  int64_t room_;
  Room<RunValue> in_room_, out_room_;
  std::span<RunValue> in_, out_;
  Vector<void*> scratch_;
};

bool is_whole(DType dtype) { return is_integer(dtype) || dtype == DType::kBool; }

// Gives small integer constants their elements as dimensions. Those that are no dimension (u64 beyond 2^63, or the few
// numbers that mark expressions) stay unknown.
Status known_values(InferValue& value, InferScope& scope) {
  const TensorView* constant = value.constant;
  if (!value.present || value.has_values || !constant || !is_whole(constant->dtype)) return {};
  const int64_t count = constant->count();
  if (count > kMaxKnownElements) return {};
  const Elements elements(*constant);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t v = elements.integer(i);
    if (!Dim::from_raw(v).is_fixed() || (constant->dtype == DType::kU64 && v < 0)) return {};
  }
  const bool in_place = constant->dtype == DType::kI64 && constant->contiguous() && count > 0 &&
                        reinterpret_cast<uintptr_t>(constant->data) % alignof(Dim) == 0;
  value.has_values = true;
  if (in_place) {
    value.values = {constant->as<const Dim>(), static_cast<size_t>(count)};
    return {};
  }
  auto* dims = static_cast<Dim*>(scope.allocate(std::max<size_t>(1, static_cast<size_t>(count)) * sizeof(Dim)));
  if (!dims) return out_of_memory();
  for (int64_t i = 0; i < count; ++i) new (dims + i) Dim(elements.integer(i));
  value.values = {dims, static_cast<size_t>(count)};
  return {};
}

Status check_outputs(const OpDef& op, const InferScope& scope) {
  MICA_TRY_STATUS(scope.table->status().copy());
  for (size_t i = 0; i < scope.outputs.size(); ++i) {
    const InferValue& out = scope.outputs[i];
    if (!out.present) continue;
    MICA_CHECK(out.type.dtype != DType::kNone, kInternal, "`{}` gives output {} no type", op.name, i);
    for (Dim d : out.type.shape.span()) {
      if (!d.is_fixed() || d.value() >= 0) continue;
      String text;
      MICA_TRY_STATUS(print(out.type.shape, *scope.table, text));
      return error(Code::kBadShape, "output {} of `{}` would have the shape {}", i, op.name, text);
    }
  }
  return {};
}

bool any_output(const InferScope& scope) {
  return std::ranges::any_of(scope.outputs, [](const InferValue& out) { return out.present; });
}

bool can_run(const OpDef& op, const InferScope& scope, int64_t max_elements) {
  if (op.random || op.regions || !op.reference || !any_output(scope)) return false;
  for (const InferValue& in : scope.inputs)
    if (in.present && !in.constant) return false;
  int64_t total = 0;
  for (const InferValue& out : scope.outputs) {
    if (!out.present) continue;
    if (!out.type.is_tensor()) return false;
    if (!out.type.shape.fixed()) continue;  // known once the reference allocates it, which is limited too
    const auto count = element_count(out.type.shape);
    if (!count.ok() || *count > max_elements - total) return false;
    total += *count;
  }
  return true;
}

// Contents that cannot be computed stay unknown; where memory ran out, another try would know them, and one model must
// not give two plans.
Status only_memory(Status status) { return status.error().code() == Code::kOutOfMemory ? std::move(status) : Status(); }

Status run_constants(const OpDef& op, InferScope& scope, int64_t max_elements) {
  KnownRun run(scope, max_elements);
  MICA_TRY_STATUS(run.prepare(DType::kNone));
  if (Status status = op.reference(run); !status.ok()) return only_memory(std::move(status));
  for (size_t i = 0; i < scope.outputs.size(); ++i)
    if (run.outputs[i].present && !run.outputs[i].tensor.data) return {};
  for (size_t i = 0; i < scope.outputs.size(); ++i) {
    InferValue& out = scope.outputs[i];
    if (!out.present) continue;
    void* place = scope.allocate(sizeof(TensorView));
    if (!place) return out_of_memory();
    const TensorView& view = run.outputs[i].tensor;
    out.constant = new (place) TensorView(view);
    out.type.shape = view.to_shape();
    out.has_values = false;
    MICA_TRY_STATUS(known_values(out, scope));
  }
  return {};
}

// Values are kept for outputs of these types, of at most kMaxKnownElements.
bool can_have_values(const InferValue& out) {
  if (!out.type.is_tensor() || (out.type.dtype != DType::kI64 && out.type.dtype != DType::kI32)) return false;
  const auto count = element_count(out.type.shape);
  return count.ok() && *count <= kMaxKnownElements;
}

// The values of an input as an i64 tensor of its shape; false when the shape is not known.
bool view_of_values(const InferValue& value, TensorView& view) {
  const auto count = element_count(value.type.shape);
  if (!value.has_values || !count.ok() || *count != static_cast<int64_t>(value.values.size())) return false;
  std::array<int64_t, kMaxRank> dims;
  for (int i = 0; i < value.type.shape.rank; ++i) dims[static_cast<size_t>(i)] = value.type.shape[i].value();
  view = dense_view(const_cast<Dim*>(value.values.data()), DType::kI64,
                    std::span(dims.data(), static_cast<size_t>(value.type.shape.rank)));
  return true;
}

// Data movement: the reference runs on the bits of dimensions. Operands of the data's type are shown as i64 too, so
// that the types of all still agree; other operands (positions, permutations) must be constant.
Status move_values(const OpDef& op, InferScope& scope) {
  if (scope.inputs.empty() || !op.reference) return {};
  for (const InferValue& out : scope.outputs)
    if (out.present && !can_have_values(out)) return {};
  KnownRun run(scope, kMaxKnownElements * static_cast<int64_t>(scope.outputs.size()));
  MICA_TRY_STATUS(run.prepare(DType::kI64));
  for (size_t i = 0; i < scope.inputs.size(); ++i) {
    const InferValue& in = scope.inputs[i];
    if (!in.present) continue;
    const bool data = i == 0 || op.inputs.max == kAnyNumber;
    TensorView view;
    if (data || (in.type.dtype == scope.dtype(0) && in.constant && in.has_values)) {
      if (!view_of_values(in, view)) return {};
      run.set_input(i, view);
    } else if (!in.constant) {
      return {};
    }
  }
  if (Status status = op.reference(run); !status.ok()) return only_memory(std::move(status));
  for (size_t i = 0; i < scope.outputs.size(); ++i) {
    if (!scope.outputs[i].present) continue;
    const TensorView& view = run.outputs[i].tensor;
    scope.outputs[i].values = {view.as<const Dim>(), static_cast<size_t>(view.count())};
    scope.outputs[i].has_values = true;
  }
  return {};
}

// One element of the arithmetic rules; false when it is not known.
bool combine(DimRule rule, Dim a, Dim b, DimTable& dims, Dim& out) {
  switch (rule) {
    case DimRule::kAdd: out = dims.add(a, b); return true;
    case DimRule::kSub: out = dims.sub(a, b); return true;
    case DimRule::kMul: out = dims.mul(a, b); return true;
    case DimRule::kMin: out = dims.min(a, b); return true;
    case DimRule::kMax: out = dims.max(a, b); return true;
    case DimRule::kNeg: out = dims.mul(a, -1); return true;
    case DimRule::kCopy: out = a; return true;
    case DimRule::kDiv:
      // Integer division rounds towards zero: the floor only of numbers that are not negative.
      if (b.is(0) || dims.interval(a).low < 0 || dims.interval(b).low < 0) return false;
      out = dims.floor_div(a, b);
      return true;
    default: return false;
  }
}

// A number that does not fit the output's type is not known: the operator would wrap around.
bool fits(Dim d, DType dtype) {
  return !d.is_fixed() || dtype == DType::kI64 || (d.value() >= INT32_MIN && d.value() <= INT32_MAX);
}

// Element-wise arithmetic of one or two operands, broadcast to the output's shape.
Status combine_values(const OpDef& op, InferScope& scope) {
  const size_t operands = op.dim_rule == DimRule::kNeg || op.dim_rule == DimRule::kCopy ? 1 : 2;
  if (scope.inputs.size() < operands || scope.outputs.empty() || !can_have_values(scope.outputs[0])) return {};
  if (operands == 2 && scope.inputs.size() != 2) return {};
  TensorView views[2];
  for (size_t i = 0; i < operands; ++i)
    if (!scope.inputs[i].present || !view_of_values(scope.inputs[i], views[i])) return {};
  if (operands == 1) views[1] = views[0];
  InferValue& out = scope.outputs[0];
  const auto count = static_cast<size_t>(*element_count(out.type.shape));
  auto* results = static_cast<Dim*>(scope.allocate(std::max<size_t>(count, 1) * sizeof(Dim)));
  if (!results) return out_of_memory();
  int64_t dims[kMaxRank], index[kMaxRank] = {};
  const int rank = out.type.shape.rank;
  for (int i = 0; i < rank; ++i) dims[i] = out.type.shape[i].value();
  const auto element = [&](const TensorView& view) {
    int64_t at = 0;
    for (int i = 0; i < view.rank; ++i) at += view.dim(i) == 1 ? 0 : index[rank - view.rank + i] * view.stride(i);
    return view.as<const Dim>()[at / static_cast<int64_t>(sizeof(Dim))];
  };
  for (size_t i = 0; i < count; ++i, next_index(index, std::span(dims, static_cast<size_t>(rank)))) {
    Dim value;
    const bool known = combine(op.dim_rule, element(views[0]), element(views[1]), scope.dims(), value);
    // Contents are a help, not a condition: what is too large for the table stays unknown.
    if (!scope.dims().take_status().ok() || !known || !fits(value, out.type.dtype)) return {};
    new (results + i) Dim(value);
  }
  out.values = {results, count};
  out.has_values = true;
  return {};
}

// Contents of which every element turned out to be a number are constants as well.
Status settle(InferValue& out, InferScope& scope) {
  if (!out.present || !out.has_values || out.constant || !out.type.is_tensor() || !is_whole(out.type.dtype)) return {};
  const auto count = element_count(out.type.shape);
  if (!count.ok() || *count != static_cast<int64_t>(out.values.size())) return {};
  for (Dim d : out.values)
    if (!d.is_fixed()) return {};
  std::array<int64_t, kMaxRank> dims;
  for (int i = 0; i < out.type.shape.rank; ++i) dims[static_cast<size_t>(i)] = out.type.shape[i].value();
  const std::span<const int64_t> shape(dims.data(), static_cast<size_t>(out.type.shape.rank));
  const size_t bytes = std::max<size_t>(1, static_cast<size_t>(dense_bytes(out.type.dtype, shape)));
  void* data = scope.allocate(bytes);
  void* place = scope.allocate(sizeof(TensorView));
  if (!data || !place) return out_of_memory();
  std::memset(data, 0, bytes);
  auto* view = new (place) TensorView(dense_view(data, out.type.dtype, shape));
  const Elements elements(*view);
  for (size_t i = 0; i < out.values.size(); ++i) elements.set_integer(static_cast<int64_t>(i), out.values[i].value());
  out.constant = view;
  return {};
}

Status evaluate_with_values(const OpDef& op, InferScope& scope, const EvaluateOptions& options) {
  MICA_TRY_STATUS(check_inputs(op, scope));
  MICA_CHECK(op.infer, kInternal, "`{}` has no type inference", op.name);
  MICA_TRY_STATUS(op.infer(scope));
  MICA_TRY_STATUS(check_outputs(op, scope));
  if (can_run(op, scope, options.max_elements)) MICA_TRY_STATUS(run_constants(op, scope, options.max_elements));
  const bool unknown = !scope.outputs.empty() && !scope.outputs[0].has_values && !scope.outputs[0].constant;
  if (unknown && any_output(scope) && op.dim_rule != DimRule::kNone && !op.random && !op.regions)
    MICA_TRY_STATUS(op.dim_rule == DimRule::kMove ? move_values(op, scope) : combine_values(op, scope));
  for (InferValue& out : scope.outputs) MICA_TRY_STATUS(settle(out, scope));
  return {};
}

}  // namespace

Status check_inputs(const OpDef& op, const InferScope& scope) {
  for (int i = 0; i < op.inputs.min; ++i) MICA_CHECK(scope.has(i), kBadModel, "`{}` needs input {}", op.name, i);
  for (int i = 0; i < static_cast<int>(scope.inputs.size()) && !op.takes_objects; ++i)
    MICA_CHECK(!scope.has(i) || scope.type(i).is_tensor(), kBadType, "input {} of `{}` must be a tensor", i, op.name);
  return {};
}

Status evaluate(const OpDef& op, InferScope& scope, const EvaluateOptions& options) {
  Room<InferValue> room;
  MICA_TRY(const std::span<InferValue> inputs, room.take(scope.inputs.size()));
  std::ranges::copy(scope.inputs, inputs.begin());
  for (InferValue& value : inputs) MICA_TRY_STATUS(known_values(value, scope));
  const std::span<const InferValue> given = std::exchange(scope.inputs, std::span<const InferValue>(inputs));
  scope.definition = &op;
  Status status = evaluate_with_values(op, scope, options);
  scope.inputs = given;
  return status;
}

}  // namespace mica
