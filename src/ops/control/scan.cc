// Scan. Inputs: (sequence lengths when batched,) states, scanned inputs, what the region uses from outside. The region
// takes the states, a slice of each scanned input and the captures; it gives the states and what is collected.
#include "ops/control/scan.h"

#include "ops/control/region.h"

namespace mica {
namespace {

struct Counts {
  int lead, states, scanned;
};

Result<Counts> counts_of(const Scan& a, size_t inputs) {
  const int64_t lead = a.batched ? 1 : 0;
  const bool sane = a.states >= 0 && a.scanned >= 1 && a.states < 1 << 20 && a.scanned < 1 << 20 &&
                    lead + a.states + a.scanned <= static_cast<int64_t>(inputs);
  MICA_CHECK(sane, kBadAttribute, "a scan of {} states and {} inputs has {} operands", a.states, a.scanned, inputs);
  return Counts{static_cast<int>(lead), static_cast<int>(a.states), static_cast<int>(a.scanned)};
}

Shape without_axis(const Shape& shape, int axis) {
  Shape out = Shape::of_rank(0);
  for (int i = 0; i < shape.rank; ++i)
    if (i != axis) out.push(shape[i]);
  return out;
}

Result<Shape> with_axis(const Shape& shape, int64_t axis_attribute, Dim d) {
  MICA_CHECK(shape.rank < kMaxRank, kLimit, "a tensor of rank {}", shape.rank + 1);
  MICA_TRY(const int axis, normalize_axis(axis_attribute, shape.rank + 1));
  Shape out = Shape::of_rank(0);
  for (int i = 0; i <= shape.rank; ++i) {
    if (i == axis) out.push(d);
    if (i < shape.rank) out.push(shape[i]);
  }
  return out;
}

// Removes the batch axis from a type.
Status strip_batch(Type& type, Dim& batch) {
  if (!type.shape.known()) return {};
  MICA_CHECK(type.shape.rank >= 1, kBadRank, "an operand of a batched scan has rank 0");
  batch = type.shape[0];
  type.shape = without_axis(type.shape, 0);
  return {};
}

Status infer(InferScope& scope) {
  const auto& attributes = scope.attributes<Scan>();
  MICA_TRY(const Counts n, counts_of(attributes, scope.inputs.size()));
  Vector<InferValue> in, out;
  MICA_TRY_STATUS(in.resize(scope.inputs.size() - static_cast<size_t>(n.lead)));
  MICA_TRY_STATUS(out.resize(static_cast<size_t>(std::max(scope.output_count(), n.states))));
  for (InferValue& value : out) value.present = true;
  Dim turns = scope.dims().fresh("turns"), batch = scope.dims().fresh("batch");
  for (size_t i = 0; i < in.size(); ++i) {
    in[i] = scope.inputs[i + static_cast<size_t>(n.lead)];
    if (i >= static_cast<size_t>(n.states + n.scanned)) continue;
    in[i] = InferValue{.present = true, .type = in[i].type};
    if (attributes.batched) MICA_TRY_STATUS(strip_batch(in[i].type, batch));
    if (i < static_cast<size_t>(n.states) || !in[i].type.shape.known()) continue;
    const Shape whole = in[i].type.shape;
    MICA_TRY(const int axis,
             normalize_axis(attributes.input_axes.get(i - static_cast<size_t>(n.states), 0), whole.rank));
    turns = whole[axis];
    in[i].type.shape = without_axis(whole, axis);
  }
  MICA_TRY_STATUS(region::infer_carried(scope, in, out, {0, 0, n.states}));
  for (int i = 0; i < scope.output_count(); ++i) {
    Type type = region::outside(i < n.states ? in[static_cast<size_t>(i)].type : out[static_cast<size_t>(i)].type,
                                scope.dims());
    if (i >= n.states && type.shape.known()) {
      MICA_TRY(type.shape,
               with_axis(type.shape, attributes.output_axes.get(static_cast<size_t>(i - n.states), 0), turns));
    }
    if (attributes.batched && type.shape.known()) {
      MICA_TRY(type.shape, with_axis(type.shape, 0, batch));
    }
    scope.out(i, type);
  }
  return {};
}

// A view of one slice, without the axis.
TensorView take(const TensorView& view, int axis, int64_t index) {
  TensorView out = slice_axis(view, axis, index, 1);
  for (int i = axis; i + 1 < out.rank; ++i) {
    out.dims[static_cast<size_t>(i)] = out.dims[static_cast<size_t>(i + 1)];
    out.strides[static_cast<size_t>(i)] = out.strides[static_cast<size_t>(i + 1)];
  }
  --out.rank;
  return out;
}

// One sequence: `in` holds the states, room for the slices, and the captures; the last states end up in `state`.
struct Sequence {
  const Scan& attributes;
  Counts n;
  Vector<RunValue> in;
  Vector<TensorView> whole;  // of scanned inputs
  Vector<RunScope::CallResult> state, results;
  Vector<region::Collected> collected;
};

Status run_sequence(RunScope& scope, Sequence& s, int64_t turns) {
  const auto states = static_cast<size_t>(s.n.states);
  for (int64_t turn = 0; turn < turns; ++turn) {
    MICA_TRY_STATUS(scope.check_stop());
    for (size_t i = 0; i < s.whole.size(); ++i) {
      MICA_TRY(const int axis, normalize_axis(s.attributes.input_axes.get(i, 0), s.whole[i].rank));
      const bool reverse = s.attributes.input_reverse.get(i, 0) != 0;
      s.in[states + i] = {.present = true, .tensor = take(s.whole[i], axis, reverse ? turns - 1 - turn : turn)};
    }
    MICA_TRY_STATUS(scope.call(0, s.in, s.results));
    for (size_t i = 0; i < s.collected.size(); ++i)
      MICA_TRY_STATUS(s.collected[i].push_back(std::move(s.results[states + i].tensor)));
    s.state.swap(s.results);
    for (size_t i = 0; i < states; ++i) region::pass_on(s.state[i], s.in[i]);
  }
  return {};
}

Status prepare(RunScope& scope, Sequence& s, int64_t& turns) {
  const auto lead = static_cast<size_t>(s.n.lead), states = static_cast<size_t>(s.n.states),
             scanned = static_cast<size_t>(s.n.scanned);
  const size_t outputs = std::max(scope.outputs.size(), states);
  MICA_TRY_STATUS(s.in.resize(scope.inputs.size() - lead));
  for (size_t i = 0; i < s.in.size(); ++i) s.in[i] = scope.inputs[i + lead];
  MICA_TRY_STATUS(s.state.resize(outputs));
  MICA_TRY_STATUS(s.results.resize(outputs));
  MICA_TRY_STATUS(s.collected.resize(outputs - states));
  MICA_TRY_STATUS(s.whole.resize(scanned));
  turns = -1;
  for (size_t i = 0; i < scanned; ++i) {
    s.whole[i] = s.in[states + i].tensor;
    MICA_CHECK(!is_sub_byte(s.whole[i].dtype), kBadType, "a scan over {}", name_of(s.whole[i].dtype));
    MICA_TRY(const int axis,
             normalize_axis(s.attributes.input_axes.get(i, 0), s.whole[i].rank - (s.attributes.batched ? 1 : 0)));
    const int64_t length = s.whole[i].dim(axis + (s.attributes.batched ? 1 : 0));
    MICA_CHECK(turns < 0 || turns == length, kBadShape, "scanned inputs have {} and {} slices", turns, length);
    turns = length;
  }
  return {};
}

// Writes what one of `batches` sequences gave. Places after a shorter sequence's end stay zero.
Status store_batch(RunScope& scope, Sequence& s, int64_t b, int64_t batches, int64_t turns) {
  const auto states = static_cast<size_t>(s.n.states);
  for (size_t i = 0; i < scope.outputs.size(); ++i) {
    const int output = static_cast<int>(i);
    if (!scope.wants(output)) continue;
    const region::Collected* list = i < states ? nullptr : &s.collected[i - states];
    const TensorView one = list ? (list->empty() ? TensorView() : (*list)[0].view()) : s.in[i].tensor;
    if (list && list->empty()) continue;
    Shape shape{batches};
    if (list) shape.push(turns);
    MICA_CHECK(shape.rank + one.rank <= kMaxRank, kLimit, "a tensor of rank {}", shape.rank + one.rank);
    for (int64_t d : one.shape()) shape.push(d);
    MICA_TRY_STATUS(allocate_output(scope, output, shape, DimTable()));
    static constexpr char kZeros[16] = {};
    const TensorView to = take(scope.out(output), 0, b);
    MICA_CHECK(!is_sub_byte(to.dtype), kBadType, "a batched scan gives {}", name_of(to.dtype));
    fill_elements(to, kZeros);
    if (!list) {
      copy_elements(one, to);
      continue;
    }
    for (size_t t = 0; t < list->size(); ++t) {
      const TensorView& from = (*list)[t].view();
      MICA_CHECK(std::ranges::equal(from.shape(), one.shape()), kBadShape,
                 "results of turn {} and turn 0 have different shapes", t);
      copy_elements(from, take(to, 0, static_cast<int64_t>(t)));
    }
  }
  return {};
}

Status run_batches(RunScope& scope, Sequence& s, int64_t turns) {
  const auto states = static_cast<size_t>(s.n.states);
  MICA_CHECK(scope.in(s.n.lead).rank >= 1, kBadRank, "an operand of a batched scan has rank 0");
  const int64_t batches = scope.in(s.n.lead).dim(0);
  const bool lengths = scope.has(0);
  MICA_CHECK(!lengths || (scope.in(0).count() == batches && is_integer(scope.in(0).dtype)), kBadShape,
             "a batch of {} needs as many sequence lengths", batches);
  Vector<TensorView> all;
  MICA_TRY_STATUS(all.append(s.whole));
  for (int64_t b = 0; b < batches; ++b) {
    for (size_t i = 0; i < all.size(); ++i) {
      MICA_CHECK(all[i].dim(0) == batches, kBadShape, "operands of a batched scan have batches of {} and {}",
                 all[i].dim(0), batches);
      s.whole[i] = take(all[i], 0, b);
    }
    for (size_t i = 0; i < states; ++i) {
      const TensorView& state = scope.in(s.n.lead + static_cast<int>(i));
      MICA_CHECK(state.rank >= 1 && state.dim(0) == batches, kBadShape,
                 "operands of a batched scan have other batches than {}", batches);
      s.in[i].tensor = take(state, 0, b);
    }
    for (region::Collected& list : s.collected) list.clear();
    const int64_t length = lengths ? Elements(scope.in(0)).integer(b) : turns;
    MICA_CHECK(length >= 0 && length <= turns, kBadValue, "sequence length {} of {} slices", length, turns);
    MICA_TRY_STATUS(run_sequence(scope, s, length));
    MICA_TRY_STATUS(store_batch(scope, s, b, batches, turns));
  }
  return {};
}

Status reference(RunScope& scope) {
  const auto& attributes = scope.attributes<Scan>();
  MICA_TRY(const Counts n, counts_of(attributes, scope.inputs.size()));
  Sequence s{.attributes = attributes, .n = n, .in = {}, .whole = {}, .state = {}, .results = {}, .collected = {}};
  int64_t turns = 0;
  MICA_TRY_STATUS(prepare(scope, s, turns));
  if (attributes.batched) return run_batches(scope, s, turns);
  MICA_TRY_STATUS(run_sequence(scope, s, turns));
  for (size_t i = 0; i < scope.outputs.size(); ++i) {
    const int output = static_cast<int>(i);
    const size_t k = i - static_cast<size_t>(n.states);
    if (i >= static_cast<size_t>(n.states))
      MICA_TRY_STATUS(region::stack(scope, output, s.collected[k], attributes.output_axes.get(k, 0),
                                    attributes.output_reverse.get(k, 0) != 0));
    else
      MICA_TRY_STATUS(turns ? region::take_value(scope, output, s.state[i])
                            : region::copy_value(scope, output + n.lead, output));
  }
  return {};
}

}  // namespace

MICA_OP(scan) = {.name = "scan",
                 .doc = "Runs its region for each slice of the scanned inputs, with states that go from turn to turn",
                 .inputs = {0, kAnyNumber},
                 .outputs = {0, kAnyNumber},
                 .attributes = attr_class<Scan>(),
                 .infer = infer,
                 .reference = reference,
                 .regions = 1,
                 .takes_objects = true};

}  // namespace mica
