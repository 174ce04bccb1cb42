// What the attention operators of com.microsoft share: their masks, and the way to the one neutral operator.
#pragma once
#include "ops/attention/attention.h"
#include "ops/contrib/expand.import.h"

namespace mica {
MICA_DECLARE_OP(attention);
MICA_DECLARE_OP(greater_or_equal);
MICA_DECLARE_OP(less);
MICA_DECLARE_OP(where);
}  // namespace mica

namespace mica::expand {

// Operands of attention: queries, keys and values of three dimensions (heads side by side) or of four. `mask` is added
// to the scores.
struct Attended {
  Value *q = nullptr, *k = nullptr, *v = nullptr, *mask = nullptr, *past_key = nullptr, *past_value = nullptr;
};

// The result, keys, values and scores; those that `wanted` (a bit each) does not name are null.
inline Values attend(Builder& build, const Attention& a, const Attended& x, unsigned wanted) {
  const int outputs = wanted >> 3 ? 4 : wanted >> 2 ? 3 : wanted >> 1 ? 2 : 1;
  Values made = build.add(op_attention, a, {x.q, x.k, x.v, x.mask, x.past_key, x.past_value}, outputs);
  made.resize(4);
  for (size_t i = 0; i < static_cast<size_t>(outputs); ++i)
    if (!(wanted >> i & 1)) made[0]->producer->outputs[i] = nullptr, made[i] = nullptr;
  return made;
}

// From [batch, length, heads · size] to [batch, heads, length, size] and back.
inline Value* to_heads(Builder& build, Value* x, int64_t heads) {
  return transpose(build, reshape(build, x, {0, 0, heads, -1}), {0, 2, 1, 3});
}
inline Value* from_heads(Builder& build, Value* x) {
  return reshape(build, transpose(build, x, {0, 2, 1, 3}), {0, 0, -1});
}

// Keys before `end` (and from `start` on, when given), of `keys` (a list of one number): truth values [batch, keys].
inline Value* keys_between(Builder& build, Value* start, Value* end, Value* keys) {
  Value* place = unsqueeze(build, iota(build, keys), {0});
  const auto bound = [&](Value* x) { return unsqueeze(build, cast(build, x, DType::kI64), {1}); };
  Value* seen = build.one(op_less, {place, bound(end)});
  if (!start) return seen;
  Value* zero = build.scalar(DType::kBool, 0);
  return build.one(op_where, {build.one(op_greater_or_equal, {place, bound(start)}), seen, zero});
}

// What a mask of any form adds to scores [batch, heads, queries, keys]: 0 where a key is seen, else `hidden`.
//   rank 1: lengths [batch], or ends and then starts [2 · batch]; rank 2: [batch, keys]; rank 3: [batch, queries,
//   keys].
inline Value* mask_numbers(Builder& build, Value* mask, Value* q, Value* keys, double hidden) {
  require_rank(mask, 1, 3, "the mask");
  Value* seen = mask;
  if (mask->type.shape.rank == 1) {
    const Dim batch = q->type.shape[0], count = mask->type.shape[0];
    const bool both = !(count == batch) && count == build.dims().mul(batch, 2);
    if (!both && count.is_fixed() && batch.is_fixed() && !(count == batch))
      fail(Code::kUnsupportedOperator, "a mask of {} numbers for {} sequences", count.value(), batch.value());
    Value* end = both ? slice(build, mask, 0, list(build, {0}), size_of(build, q, 0)) : mask;
    Value* start = both ? slice(build, mask, 0, size_of(build, q, 0), size_of(build, mask, 0)) : nullptr;
    seen = keys_between(build, start, end, keys);
  }
  seen = cast(build, seen, DType::kBool);
  seen = mask->type.shape.rank == 3 ? unsqueeze(build, seen, {1}) : unsqueeze(build, seen, {1, 2});
  const DType dtype = q->type.dtype;
  return build.one(op_where, {seen, build.scalar(dtype, 0), build.scalar(dtype, hidden)});
}

// How many keys there are, past ones and new ones, as a list of one number. Keys have heads in the last axis or of
// their own.
inline Value* key_count(Builder& build, const Attended& x) {
  Value* count = size_of(build, x.k, rank_of(x.k, "the keys") == 4 ? 2 : 1);
  return x.past_key ? build.one(op_add, {count, size_of(build, x.past_key, 2)}) : count;
}

}  // namespace mica::expand
