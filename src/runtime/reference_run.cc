#include "runtime/reference_run.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace mica {

Status ReferenceRun::begin() {
  attributes_blob = arguments_.attributes;
  definition = arguments_.op;
  MICA_TRY(void* place, allocate(sizeof(RunValue) * (arguments_.input_count + arguments_.output_count)));
  auto* values = static_cast<RunValue*>(place);
  for (uint32_t i = 0; i < arguments_.input_count; ++i) new (values + i) RunValue(value_of(arguments_.inputs[i]));
  inputs = {values, arguments_.input_count};
  RunValue* results = values + arguments_.input_count;
  for (uint32_t i = 0; i < arguments_.output_count; ++i) new (results + i) RunValue(value_of(arguments_.outputs[i]));
  outputs = {results, arguments_.output_count};
  return {};
}

RunValue ReferenceRun::value_of(uint32_t v) const {
  RunValue value;
  if (v == kNoIndex) return value;
  value.present = true;
  const BoundValue& bound = segment_.values[v];
  if (bound.object) {
    if (!frame_.object_at[v]) frame_.object_at[v] = &frame_.objects[v];
    value.object = frame_.object_at[v];
    value.tensor.dtype = bound.type.dtype;  // an operator that takes it for a tensor finds no elements
    value.tensor.rank = 1;
    return value;
  }
  if (bound.dynamic) {
    value.tensor.dtype = bound.type.dtype;
    value.tensor.rank = std::max<int>(bound.type.shape.rank, 0);
    for (int d = 0; d < value.tensor.rank; ++d) {  // an unknown size is none: an output never allocated is not empty
      const Dim dim = bound.type.shape[d];
      value.tensor.dims[static_cast<size_t>(d)] = dim.is_fixed() ? dim.value() : -1;
    }
    return value;  // no data before allocate_output
  }
  value.tensor = bound.view;
  if (!bound.constant || !value.tensor.data) value.tensor.data = frame_.address(bound.place);
  return value;
}

Status ReferenceRun::allocate_output(int i, std::span<const int64_t> dims) {
  if (!wants(i)) return {};
  RunValue& output = outputs[static_cast<size_t>(i)];
  const uint32_t v = arguments_.outputs[static_cast<size_t>(i)];
  if (!segment_.values[v].dynamic) {
    MICA_CHECK(std::ranges::equal(output.tensor.shape(), dims), kBadShape,
               "output {} has another shape than was inferred", i);
    return {};
  }
  MICA_CHECK(dims.size() <= kMaxRank, kBadRank, "output {} has rank {}, more than {}", i, dims.size(), kMaxRank);
  int64_t count = 1;
  for (int64_t d : dims)
    MICA_CHECK(d >= 0 && !__builtin_mul_overflow(count, d, &count) && count < (int64_t{1} << 56), kBadShape,
               "output {} would be too large", i);
  const auto bytes = static_cast<size_t>(dense_bytes(output.tensor.dtype, dims));
  Buffer& slot = frame_.slots[v];
  if (bytes > slot.size() || !slot.data()) {
    MICA_TRY_STATUS(runner_.charge(std::max<size_t>(bytes, 1) - slot.size()));
    MICA_TRY_STATUS(slot.ensure(std::max<size_t>(bytes, 1)));
  }
  output.tensor = dense_view(slot.data(), output.tensor.dtype, dims);
  frame_.bases[kBaseFirstSlot + v] = slot.data();
  frame_.views[v] = output.tensor;
  return {};
}

Status ReferenceRun::adopt_output(int i, OwnedTensor tensor) {
  if (!wants(i)) return {};
  MICA_TRY_STATUS(allocate_output(i, tensor.view().shape()));
  const TensorView& to = outputs[static_cast<size_t>(i)].tensor;
  if (to.empty()) return {};
  copy_elements(tensor.view(), to);
  if (to.dtype != DType::kString) return {};
  const Elements elements(to);
  for (int64_t k = 0, n = to.count(); k < n; ++k) {
    MICA_TRY(elements.text(k), keep(elements.text(k).view()));
  }
  return {};
}

Result<void*> ReferenceRun::allocate(size_t bytes) {
  MICA_TRY_STATUS(runner_.charge(runner_.temporary_.growth(bytes)));
  void* place = runner_.temporary_.take(bytes);
  if (!place) return out_of_memory();
  return place;
}

Result<StringRef> ReferenceRun::keep(std::string_view text) {
  MICA_TRY_STATUS(runner_.charge(runner_.text_.growth(text.size())));
  auto* bytes = static_cast<char*>(runner_.text_.take(text.size()));
  if (!bytes) return out_of_memory();
  std::copy(text.begin(), text.end(), bytes);  // an empty text may be at no address
  return StringRef{bytes, static_cast<int64_t>(text.size())};
}

Status ReferenceRun::call(int region, std::span<const RunValue> in, std::span<CallResult> out) {
  MICA_CHECK(region < static_cast<int>(arguments_.function_count), kInternal, "the operator has no region {}", region);
  const uint32_t index = arguments_.functions[region];
  const PlanFunction& function = runner_.model_.plan().functions[index];
  MICA_CHECK(in.size() == function.inputs.size() && out.size() <= function.outputs.size(), kInternal,
             "a region takes {} operands, got {}", function.inputs.size(), in.size());
  MICA_CHECK(where_.depth + 1 < kMaxCallDepth, kDepth, "functions call each other deeper than {}", kMaxCallDepth);
  MICA_TRY(Frame * frame, runner_.frame_for(index, where_.depth + 1));
  for (size_t i = 0; i < in.size(); ++i) {
    const uint32_t v = function.inputs[i];
    frame->object_at[v] = in[i].object;
    if (in[i].object) continue;
    TensorView view = in[i].tensor;
    if (!view.contiguous()) {
      MICA_TRY_STATUS(frame->slots[v].ensure(static_cast<size_t>(dense_bytes(view.dtype, view.shape()))));
      const TensorView dense = dense_view(frame->slots[v].data(), view.dtype, view.shape());
      if (!view.empty()) copy_elements(view, dense);
      view = dense;
    }
    frame->views[v] = view;
    frame->bases[kBaseFirstSlot + v] = view.data;
  }
  MICA_TRY_STATUS(runner_.run(*frame, where_.depth + 1, where_.control));
  for (size_t i = 0; i < out.size(); ++i) {
    const uint32_t v = function.outputs[i];
    if (!function.values[v].type.is_tensor()) {
      MICA_TRY(out[i].object, frame->object_at[v]->copy());
    } else if (function.values[v].kind == ValueKind::kConstant) {
      Pool pool;
      MICA_TRY(const TensorView* view,
               constant_view(runner_.model_.plan().constants[function.values[v].constant], pool));
      MICA_TRY_STATUS(out[i].tensor.assign(*view));
    } else {
      MICA_TRY_STATUS(out[i].tensor.assign(frame->views[v]));
    }
  }
  return {};
}

}  // namespace mica
