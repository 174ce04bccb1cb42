#include <cmath>

#include "kernels/attention/attention.h"
#include "ops/attention/attention.h"
#include "step/chain.h"
#include "step/copy_step.h"

namespace mica {
namespace {

enum Input { kQ, kK, kV, kMask, kPastKey, kPastValue, kLengths, kInputs };

struct AttentionStep {
  AttentionArgs attention;
  const AttentionKernels* kernels;
  int q, k, v, mask, lengths, y, packed;  // operands; -1: none
};

template <class T>
T* at(void* const* operands, int i) {
  return i < 0 ? nullptr : static_cast<T*>(operands[i]);
}

AttentionOperands operands_of(const AttentionStep& step, void* const* operands) {
  return {at<const float>(operands, step.q),         at<const float>(operands, step.k),
          at<const float>(operands, step.v),         at<const void>(operands, step.mask),
          at<const int64_t>(operands, step.lengths), at<float>(operands, step.y),
          at<float>(operands, step.packed)};
}

void pack(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& step = *static_cast<const AttentionStep*>(arguments);
  step.kernels->pack(step.attention, operands_of(step, operands), range.begin, range.end);
}

void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& step = *static_cast<const AttentionStep*>(arguments);
  step.kernels->run(step.attention, operands_of(step, operands), range.begin, range.end,
                    static_cast<float*>(range.scratch));
}

Status check_lengths(const void* arguments, void* const* operands) {
  const auto& step = *static_cast<const AttentionStep*>(arguments);
  const auto* lengths = at<const int64_t>(operands, step.lengths);
  for (int64_t n = 0; n < step.attention.shape.batch; ++n)
    MICA_CHECK(lengths[n] >= 0 && lengths[n] <= step.attention.shape.keys, kBadValue, "a length of {} in a cache of {}",
               lengths[n], step.attention.shape.keys);
  return {};
}

// An operand of the stage seen as [batch, heads, length, size].
move::Side by_heads(move::Side side, int64_t heads) {
  TensorView& view = side.view;
  if (view.rank == 4 || heads < 1 || view.dim(2) % heads) return side;
  const int64_t size = view.dim(2) / heads, row = view.stride(1), element = view.stride(2);
  view.dims[3] = size, view.strides[3] = element;
  view.dims[2] = view.dim(1), view.strides[2] = row;
  view.dims[1] = heads, view.strides[1] = size * element;
  view.rank = 4;
  return side;
}

// Rows of neighbouring floats.
bool steps_of(const TensorView& view, AttentionSteps& steps) {
  constexpr int64_t kFloat = sizeof(float);
  if (view.rank != 4 || view.dtype != DType::kF32 || (view.dim(3) > 1 && view.stride(3) != kFloat)) return false;
  for (int i = 0; i < 3; ++i)
    if (view.stride(i) % kFloat) return false;
  steps = {view.stride(0) / kFloat, view.stride(1) / kFloat, view.stride(2) / kFloat};
  return true;
}

class Binder {
 public:
  explicit Binder(BindScope& scope) : scope_(scope), attributes_(scope.attributes<Attention>()) {
    own_ = static_cast<int>(scope.inputs.size());
    for (int i = 0; i < scope.epilogue.count; ++i) own_ -= scope.epilogue.ops[i].operand >= 0;
  }
  Result<bool> bind();

 private:
  bool has(int i) const { return i < own_ && scope_.has(i); }
  bool find_shape();
  bool find_mask();
  bool find_lengths();
  Status add_steps();
  Result<move::Side> whole(const move::Side& fresh, int past_input, int output);

  BindScope& scope_;
  const Attention& attributes_;
  int own_;
  move::Side q_, k_, v_, y_;
  AttentionStep step_{};
};

bool Binder::find_shape() {
  AttentionShape& s = step_.attention.shape;
  const TensorView &q = q_.view, &k = k_.view, &v = v_.view;
  if (q.rank != 4 || k.rank != 4 || v.rank != 4 || y_.view.rank != 4) return false;
  s = {q.dim(0), q.dim(1), k.dim(1), q.dim(2), k.dim(2), q.dim(3), v.dim(3)};
  if (k.dim(0) != s.batch || v.dim(0) != s.batch || v.dim(1) != s.kv_heads || k.dim(3) != s.size) return false;
  if (v.dim(2) != s.keys || q.empty() || k.empty() || v.empty() || s.heads % s.kv_heads) return false;
  AttentionArgs& args = step_.attention;
  return steps_of(q, args.q) && steps_of(y_.view, args.y);
}

bool Binder::find_mask() {
  AttentionArgs& args = step_.attention;
  step_.mask = -1;
  if (!has(kMask)) return true;
  const TensorView& mask = scope_.input(kMask).view;
  const int64_t element = element_bytes(mask.dtype);
  if ((mask.dtype != DType::kF32 && mask.dtype != DType::kBool) || mask.rank < 1 || mask.rank > 4) return false;
  const int last = mask.rank - 1;
  if (mask.dim(last) > 1 && mask.stride(last) != element) return false;
  const int64_t full[] = {args.shape.batch, args.shape.heads, args.shape.queries};
  int64_t* const steps[] = {&args.mask.batch, &args.mask.head, &args.mask.row};
  for (int i = 0; i < last; ++i) {
    const int axis = 3 - last + i;
    if (mask.dim(i) == 1) continue;
    if (mask.dim(i) != full[axis] || mask.stride(i) % element) return false;
    *steps[axis] = mask.stride(i) / element;
  }
  args.has_mask = true;
  args.truth_mask = mask.dtype == DType::kBool;
  args.mask_keys = mask.dim(last);
  step_.mask = kMask;
  return true;
}

bool Binder::find_lengths() {
  step_.lengths = -1;
  if (!has(kLengths)) return true;
  const TensorView& lengths = scope_.input(kLengths).view;
  if (has(kPastKey) || lengths.dtype != DType::kI64 || lengths.rank != 1 ||
      lengths.dim(0) != step_.attention.shape.batch)
    return false;
  if (lengths.dim(0) > 1 && lengths.stride(0) != sizeof(int64_t)) return false;
  step_.attention.has_lengths = true;
  step_.lengths = kLengths;
  return true;
}

// All keys or values: the past and then the fresh ones, in the output that is to hold them or in memory of the stage.
Result<move::Side> Binder::whole(const move::Side& fresh, int past_input, int output) {
  const bool wanted = static_cast<size_t>(output) < scope_.outputs.size() && scope_.output(output).present;
  const bool past = has(past_input);
  if (!past && !wanted) return fresh;
  const int64_t before = past ? scope_.input(past_input).view.dim(2) : 0;
  move::Side all;
  if (wanted) {
    all = move::output_side(scope_, output);
  } else {
    all.view = fresh.view;
    all.view.dims[2] += before;
    set_dense_strides(all.view);
    MICA_TRY(all.operand, scope_.temporary(static_cast<size_t>(dense_bytes(fresh.view.dtype, all.view.shape()))));
  }
  if (past)
    MICA_TRY_STATUS(
        move::add_copy_step(scope_, move::input_side(scope_, past_input), move::part_of(all, 2, 0, before)));
  MICA_TRY_STATUS(move::add_copy_step(scope_, fresh, move::part_of(all, 2, before, fresh.view.dim(2))));
  return all;
}

Result<bool> Binder::bind() {
  if (scope_.outputs.size() > 3 && scope_.output(3).present) return false;
  if (!scope_.output(0).present || (attributes_.mask_first && attributes_.softcap > 0)) return false;
  AttentionArgs& args = step_.attention;
  q_ = by_heads(move::input_side(scope_, kQ), attributes_.q_heads);
  k_ = by_heads(move::input_side(scope_, kK), attributes_.kv_heads);
  v_ = by_heads(move::input_side(scope_, kV), attributes_.kv_heads);
  y_ = by_heads(move::output_side(scope_, 0), attributes_.q_heads);
  if (!find_shape()) return false;
  AttentionSteps ignored;  // what is copied must still be floats
  if (!steps_of(k_.view, ignored) || !steps_of(v_.view, ignored)) return false;
  const int64_t fresh = k_.view.dim(2);
  MICA_TRY(k_, whole(k_, kPastKey, 1));
  MICA_TRY(v_, whole(v_, kPastValue, 2));
  if (!find_shape() || !find_mask() || !find_lengths()) return false;
  if (!steps_of(k_.view, args.k) || !steps_of(v_.view, args.v)) return false;
  args.past = args.shape.keys - fresh;
  args.scale = attributes_.scale != 0 ? attributes_.scale : 1 / std::sqrt(static_cast<float>(args.shape.size));
  args.softcap = attributes_.softcap;
  args.zero_nan = attributes_.zero_nan;
  args.left = attributes_.left_window;
  args.right = attributes_.causal ? 0 : attributes_.right_window;
  args.half_units = scope_.machine->half_units;
  prepare_attention(args);
  step_.kernels = &attention_kernels(scope_.machine->isa);
  step_.q = q_.operand, step_.k = k_.operand, step_.v = v_.operand, step_.y = y_.operand, step_.packed = -1;
  MICA_TRY_STATUS(add_steps());
  return true;
}

Status Binder::add_steps() {
  const AttentionArgs& args = step_.attention;
  if (args.pack_tasks > 0) {
    MICA_TRY(step_.packed, scope_.temporary(static_cast<size_t>(args.packed_floats) * sizeof(float)));
  }
  MICA_TRY(AttentionStep * place, scope_.arguments<AttentionStep>());
  *place = step_;
  const auto check = args.has_lengths ? check_lengths : nullptr;
  if (args.pack_tasks > 0)
    MICA_TRY_STATUS(scope_.add({.kernel = pack,
                                .arguments = place,
                                .tasks = args.pack_tasks,
                                .work = static_cast<double>(args.packed_floats),
                                .check = check,
                                .name = "attention_pack"}));
  MICA_TRY(const std::string_view name, kernel_name(scope_, "attention", DType::kF32));
  const auto scores = static_cast<double>(args.shape.batch * args.shape.heads) *
                      static_cast<double>(args.shape.queries) * static_cast<double>(args.shape.keys);
  constexpr double kPower = 8;  // multiply-adds that a score costs on its way through softmax
  return scope_.add({.kernel = run,
                     .arguments = place,
                     .tasks = args.tasks,
                     .work = scores * (static_cast<double>(args.shape.size + args.shape.value_size) + kPower),
                     .scratch_bytes = static_cast<size_t>(args.scratch_floats) * sizeof(float),
                     .check = check,
                     .name = name});
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) { return Binder(scope).bind(); }

}  // namespace

MICA_RUN(attention) = {.bind = bind};

}  // namespace mica
