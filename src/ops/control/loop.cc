// Loop. Inputs: the most turns (optional), the first condition (optional), the carried values, what the region uses
// from outside. The region takes the turn's number, the condition, the carried values and the captures; it gives the
// next condition, the carried values and what is collected over the turns. Without a first condition the region's is
// ignored, as ONNX has it.
#include "ops/control/loop.h"

#include <limits>

#include "ops/control/region.h"

namespace mica {
namespace {

constexpr int kFixed = 2;  // trip count and condition

bool known_true(const InferValue& value) {
  return value.constant && value.constant->count() == 1 && Elements(*value.constant).integer(0) != 0;
}

Status check_operands(const InferScope& scope, int carried) {
  MICA_CHECK(carried >= 0 && carried + kFixed <= static_cast<int>(scope.inputs.size()), kBadAttribute,
             "a loop that carries {} values has {} inputs", carried, scope.inputs.size());
  MICA_CHECK(!scope.has(0) || is_integer(scope.dtype(0)), kBadType, "the trip count is {}, not an integer",
             name_of(scope.dtype(0)));
  MICA_CHECK(!scope.has(1) || scope.dtype(1) == DType::kBool, kBadType, "the condition of a loop is {}, not bool",
             name_of(scope.dtype(1)));
  return {};
}

// The types of carried values at every turn are left in `in`. `always`: the condition is known to stay true.
Status infer_body(InferScope& scope, int carried, Vector<InferValue>& in, Vector<InferValue>& out, bool& always) {
  const int results = std::max(scope.output_count(), carried);
  MICA_TRY_STATUS(in.resize(std::max(scope.inputs.size(), static_cast<size_t>(kFixed))));
  MICA_TRY_STATUS(out.resize(static_cast<size_t>(results) + 1));
  for (InferValue& value : out) value.present = true;
  for (size_t i = 0; i < scope.inputs.size(); ++i) {
    in[i] = scope.inputs[i];
    if (i < kFixed || i >= static_cast<size_t>(kFixed + carried)) continue;
    in[i].constant = nullptr;  // what is known of the first turn says nothing of the others
    in[i].has_values = false;
    in[i].values = {};
  }
  in[0] = InferValue{.present = true, .type = Type::tensor(DType::kI64, Shape::of_rank(0))};
  // If a true condition always makes the next one true, all are.
  const bool begins = scope.has(1) && known_true(scope.in(1));
  const InferValue any{.present = true, .type = Type::tensor(DType::kBool, Shape::of_rank(0))};
  in[1] = any;
  if (begins) {
    in[1].constant = scope.in(1).constant;
    in[1].type = scope.type(1);
  }
  MICA_TRY_STATUS(region::infer_carried(scope, in, out, {kFixed, 1, carried}));
  always = !scope.has(1) || (begins && known_true(out[0]));
  if (begins && !always) {
    in[1] = any;
    MICA_TRY_STATUS(region::infer_carried(scope, in, out, {kFixed, 1, carried}));
  }
  return {};
}

Status infer(InferScope& scope) {
  const int carried = static_cast<int>(std::min<int64_t>(scope.attributes<Loop>().carried, 1 << 20));
  MICA_TRY_STATUS(check_operands(scope, carried));
  Vector<InferValue> in, out;
  bool always = false;
  MICA_TRY_STATUS(infer_body(scope, carried, in, out, always));
  std::span<const Dim> trips;
  Dim turns;
  if (always && scope.has(0) && scope.known_dims(0, trips) && trips.size() == 1)
    turns = scope.dims().max(trips[0], 0);
  else
    turns = scope.dims().fresh("turns");
  for (int i = 0; i < scope.output_count(); ++i) {
    if (i < carried) {
      Type type = in[static_cast<size_t>(kFixed + i)].type;
      if (const Type& made = out[static_cast<size_t>(1 + i)].type; type.kind != made.kind) {  // what an optional held
        type.kind = made.kind;
        type.of = made.of;
      }
      scope.out(i, region::outside(type, scope.dims()));
      continue;
    }
    Type type = region::outside(out[static_cast<size_t>(i) + 1].type, scope.dims());
    MICA_CHECK(type.is_tensor(), kBadType, "only tensors can be collected over the turns of a loop");
    MICA_CHECK(type.shape.rank < kMaxRank, kLimit, "a tensor of rank {}", type.shape.rank + 1);
    Shape stacked;
    if (type.shape.known()) {
      stacked = Shape{turns};
      for (Dim d : type.shape.span()) stacked.push(d);
    }
    scope.out(i, type.dtype, stacked);
  }
  return {};
}

struct Turns {
  int64_t most = std::numeric_limits<int64_t>::max();
  bool go = true, conditional = false;
};

Result<Turns> read_turns(const RunScope& scope) {
  Turns turns;
  if (scope.has(0)) {
    MICA_TRY(turns.most, read_int(scope.in(0), "trip count"));
  }
  turns.conditional = scope.has(1);
  if (turns.conditional) {
    MICA_CHECK(scope.in(1).count() == 1, kBadValue, "the condition of a loop must be one truth value");
    turns.go = Elements(scope.in(1)).integer(0) != 0;
  }
  MICA_CHECK(scope.has(0) || turns.conditional, kBadValue, "a loop without trip count and condition never ends");
  return turns;
}

Status reference(RunScope& scope) {
  const auto carried = static_cast<size_t>(scope.attributes<Loop>().carried);
  MICA_TRY(const Turns turns, read_turns(scope));
  const size_t collected = std::max(scope.outputs.size(), carried) - carried;
  Vector<RunValue> in;
  MICA_TRY_STATUS(in.resize(std::max(scope.inputs.size(), static_cast<size_t>(kFixed))));
  for (size_t i = kFixed; i < scope.inputs.size(); ++i) in[i] = scope.inputs[i];
  Vector<RunScope::CallResult> results, state;  // state: the turn before, which `in` refers to
  MICA_TRY_STATUS(results.resize(1 + carried + collected));
  MICA_TRY_STATUS(state.resize(1 + carried + collected));
  Vector<region::Collected> scans;
  MICA_TRY_STATUS(scans.resize(collected));
  bool go = turns.go;
  int64_t turn = 0;
  in[0] = {.present = true, .tensor = dense_view(&turn, DType::kI64, {})};
  in[1] = {.present = true, .tensor = dense_view(&go, DType::kBool, {})};
  for (; go && turn < turns.most; ++turn) {
    MICA_TRY_STATUS(scope.check_stop());
    MICA_TRY_STATUS(scope.call(0, in, results));
    MICA_CHECK(results[0].tensor.view().count() == 1 && results[0].tensor.view().dtype == DType::kBool, kBadValue,
               "a loop's region must give one truth value");
    go = !turns.conditional || Elements(results[0].tensor.view()).integer(0) != 0;
    for (size_t i = 0; i < collected; ++i)
      MICA_TRY_STATUS(scans[i].push_back(std::move(results[1 + carried + i].tensor)));
    state.swap(results);
    for (size_t i = 0; i < carried; ++i) region::pass_on(state[1 + i], in[kFixed + i]);
  }
  for (size_t i = 0; i < carried && i < scope.outputs.size(); ++i) {
    const int output = static_cast<int>(i);
    MICA_TRY_STATUS(turn ? region::take_value(scope, output, state[1 + i])
                         : region::copy_value(scope, output + kFixed, output));
  }
  for (size_t i = 0; i < collected; ++i)
    MICA_TRY_STATUS(region::stack(scope, static_cast<int>(carried + i), scans[i], 0, false));
  return {};
}

}  // namespace

MICA_OP(loop) = {.name = "loop",
                 .doc = "Runs its region turn by turn while the condition holds, up to a number of turns",
                 .inputs = {0, kAnyNumber},
                 .outputs = {0, kAnyNumber},
                 .attributes = attr_class<Loop>(),
                 .infer = infer,
                 .reference = reference,
                 .regions = 1,
                 .takes_objects = true};

}  // namespace mica
