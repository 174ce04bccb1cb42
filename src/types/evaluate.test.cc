#include "types/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "types/infer.h"

namespace mica {
namespace {

// Applies stub operators to operands that it owns.
class Scope final : public InferScope {
 public:
  explicit Scope(DimTable& t) { table = &t; }
  ~Scope() = default;
  Status infer_region(int, std::span<const InferValue>, std::span<InferValue>) override {
    return error(Code::kInternal, "no regions");
  }
  int regions() const override { return 0; }
  void* allocate(size_t bytes) override {
    blocks_.push_back(std::make_unique<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1));
    return blocks_.back().get();
  }
  InferValue constant(DType dtype, std::vector<int64_t> dims, std::vector<double> values) {
    const TensorView view = dense_view(allocate(static_cast<size_t>(dense_bytes(dtype, dims)) + 1), dtype, dims);
    for (size_t i = 0; i < values.size(); ++i) Elements(view).set_number(static_cast<int64_t>(i), values[i]);
    views_.push_back(view);
    InferValue value;
    value.present = true;
    value.type = Type::tensor(dtype, view.to_shape());
    value.constant = &views_.back();
    return value;
  }
  static InferValue tensor(DType dtype, Shape shape) {
    InferValue value;
    value.present = true;
    value.type = Type::tensor(dtype, shape);
    return value;
  }
  Status apply(const OpDef& op, std::vector<InferValue> in, const void* blob = nullptr) {
    in_ = std::move(in);
    out = {};
    out.present = true;
    inputs = in_;
    outputs = std::span(&out, 1);
    attributes_blob = blob;
    return evaluate(op, *this);
  }
  InferValue out;

 private:
  std::vector<InferValue> in_;
  std::deque<TensorView> views_;
  std::vector<std::unique_ptr<std::max_align_t[]>> blocks_;
};

Status infer_shape(InferScope& s) {
  s.out(0, DType::kI64, Shape{s.shape(0).rank});
  return s.set_values(0, s.shape(0).span());
}
const OpDef kShape = {.name = "shape", .infer = infer_shape};

Status infer_gather(InferScope& s) {
  s.out(0, s.dtype(0), s.shape(1));
  return {};
}
Status reference_gather(RunScope& s) {
  const Elements index(s.in(1));
  for (int64_t i = 0; i < s.out(0).count(); ++i) {
    const int64_t at = index.integer(i) < 0 ? index.integer(i) + s.in(0).dim(0) : index.integer(i);
    MICA_CHECK(at >= 0 && at < s.in(0).dim(0), kBadValue, "index {} is out of range", at);
    Elements(s.out(0)).set_integer(i, Elements(s.in(0)).integer(at));
  }
  return {};
}
const OpDef kGather = {.name = "gather",
                       .inputs = {2, 2},
                       .infer = infer_gather,
                       .reference = reference_gather,
                       .dim_rule = DimRule::kMove};

Status infer_concat(InferScope& s) {
  Dim total = 0;
  for (const InferValue& in : s.inputs) total = s.dims().add(total, in.type.shape[0]);
  s.out(0, s.dtype(0), Shape{total});
  return {};
}
Status reference_concat(RunScope& s) {
  int64_t at = 0;
  for (const RunValue& in : s.inputs)
    for (int64_t i = 0; i < in.tensor.count(); ++i)
      Elements(s.out(0)).set_integer(at++, Elements(in.tensor).integer(i));
  return {};
}
const OpDef kConcat = {.name = "concat",
                       .inputs = {1, kAnyNumber},
                       .infer = infer_concat,
                       .reference = reference_concat,
                       .dim_rule = DimRule::kMove};

Status infer_nonzero(InferScope& s) {
  s.out(0, DType::kI64, Shape{s.dims().fresh("nonzero")});
  return {};
}
Status reference_nonzero(RunScope& s) {
  std::vector<int64_t> found;
  for (int64_t i = 0; i < s.in(0).count(); ++i)
    if (Elements(s.in(0)).number(i) != 0) found.push_back(i);
  const int64_t dims[] = {static_cast<int64_t>(found.size())};
  MICA_TRY_STATUS(s.allocate_output(0, dims));
  for (size_t i = 0; i < found.size(); ++i) Elements(s.out(0)).set_integer(static_cast<int64_t>(i), found[i]);
  return {};
}
const OpDef kNonZero = {.name = "nonzero", .infer = infer_nonzero, .reference = reference_nonzero};

template <Pointwise F>
Status run_pointwise(RunScope& s) {
  static const OpDef kOp = {.name = "pointwise", .inputs = {1, 2}, .pointwise = F};
  return reference_pointwise(s, kOp);
}
template <Pointwise F>
OpDef pointwise_op(DimRule rule) {
  return {.name = "pointwise",
          .inputs = {1, 2},
          .infer = infer_pointwise,
          .reference = run_pointwise<F>,
          .dim_rule = rule,
          .pointwise = F};
}
const OpDef kMul = pointwise_op<Pointwise::kMul>(DimRule::kMul);
const OpDef kAdd = pointwise_op<Pointwise::kAdd>(DimRule::kAdd);
const OpDef kSub = pointwise_op<Pointwise::kSub>(DimRule::kSub);
const OpDef kDiv = pointwise_op<Pointwise::kDiv>(DimRule::kDiv);

Status infer_cast(InferScope& s) {
  s.out(0, DType::kI32, s.shape(0));
  return {};
}
const OpDef kCastI32 = {.name = "cast", .infer = infer_cast, .dim_rule = DimRule::kCopy};

TEST(Evaluate, AShapeThatAModelComputesIsKnown) {
  DimTable t;
  const Dim n = t.symbol("N");
  Scope s(t);
  ASSERT_TRUE(s.apply(kShape, {Scope::tensor(DType::kF32, Shape{n, 49, 64})}).ok());
  const InferValue shape = s.out;
  ASSERT_TRUE(shape.has_values);
  EXPECT_EQ(shape.constant, nullptr);
  ASSERT_TRUE(s.apply(kGather, {shape, s.constant(DType::kI64, {1}, {0})}).ok());
  const InferValue batch = s.out;
  ASSERT_TRUE(batch.has_values);
  EXPECT_EQ(batch.values[0], n);
  ASSERT_TRUE(s.apply(kConcat, {batch, s.constant(DType::kI64, {2}, {-1, 64})}).ok());
  ASSERT_TRUE(s.out.has_values);
  ASSERT_EQ(s.out.values.size(), 3u);
  EXPECT_EQ(s.out.values[0], n);
  EXPECT_EQ(s.out.values[1], Dim(-1));
  EXPECT_EQ(s.out.values[2], Dim(64));
  // What is known of a shape with symbols may be all numbers, and then it is a constant.
  ASSERT_TRUE(s.apply(kGather, {shape, s.constant(DType::kI32, {2}, {-1, 1})}).ok());
  ASSERT_NE(s.out.constant, nullptr);
  EXPECT_EQ(Elements(*s.out.constant).integer(0), 64);
  EXPECT_EQ(Elements(*s.out.constant).integer(1), 49);
  // A position out of range leaves the contents open; the run reports it.
  ASSERT_TRUE(s.apply(kGather, {shape, s.constant(DType::kI64, {1}, {3})}).ok());
  EXPECT_FALSE(s.out.has_values);
}

TEST(Evaluate, ArithmeticOnDimensions) {
  DimTable t;
  const Dim n = t.symbol("N"), h = t.symbol("H");
  Scope s(t);
  ASSERT_TRUE(s.apply(kShape, {Scope::tensor(DType::kF32, Shape{n, h})}).ok());
  const InferValue shape = s.out;
  ASSERT_TRUE(s.apply(kMul, {shape, s.constant(DType::kI64, {}, {64})}).ok());
  ASSERT_TRUE(s.out.has_values);
  EXPECT_EQ(s.out.values[1], t.mul(h, 64));
  const InferValue wide = s.out;
  ASSERT_TRUE(s.apply(kDiv, {wide, s.constant(DType::kI64, {1}, {32})}).ok());
  ASSERT_TRUE(s.out.has_values);
  EXPECT_EQ(s.out.values[0], t.mul(n, 2));
  ASSERT_TRUE(s.apply(kAdd, {s.constant(DType::kI64, {2, 1}, {1, 2}), shape}).ok());
  ASSERT_TRUE(s.out.has_values);
  ASSERT_EQ(s.out.values.size(), 4u);
  EXPECT_EQ(s.out.values[2], t.add(n, 2));
  EXPECT_EQ(s.out.values[1], t.add(h, 1));
  // A numerator that may be negative rounds otherwise than a floor.
  ASSERT_TRUE(s.apply(kSub, {shape, s.constant(DType::kI64, {}, {1})}).ok());
  const InferValue less = s.out;
  ASSERT_TRUE(less.has_values);
  ASSERT_TRUE(s.apply(kDiv, {less, s.constant(DType::kI64, {}, {2})}).ok());
  EXPECT_FALSE(s.out.has_values);
  // Overflow is no error.
  ASSERT_TRUE(s.apply(kMul, {wide, s.constant(DType::kI64, {}, {9e18})}).ok());
  EXPECT_FALSE(s.out.has_values);
  EXPECT_TRUE(t.status().ok());
}

TEST(Evaluate, ThirtyTwoBitContentsMoveToo) {
  DimTable t;
  const Dim n = t.symbol("N");
  Scope s(t);
  ASSERT_TRUE(s.apply(kShape, {Scope::tensor(DType::kF32, Shape{n, 7})}).ok());
  ASSERT_TRUE(s.apply(kCastI32, {s.out}).ok());
  const InferValue narrow = s.out;
  ASSERT_TRUE(narrow.has_values);
  EXPECT_EQ(narrow.type.dtype, DType::kI32);
  ASSERT_TRUE(s.apply(kConcat, {s.constant(DType::kI32, {2}, {5, 6}), narrow}).ok());
  ASSERT_TRUE(s.out.has_values);
  EXPECT_EQ(s.out.values[1], Dim(6));
  EXPECT_EQ(s.out.values[2], n);
  ASSERT_TRUE(s.apply(kGather, {s.out, s.constant(DType::kI32, {2}, {3, 2})}).ok());
  ASSERT_TRUE(s.out.has_values);
  EXPECT_EQ(s.out.values[0], Dim(7));
  EXPECT_EQ(s.out.values[1], n);
}

TEST(Evaluate, ConstantsAreComputed) {
  DimTable t;
  Scope s(t);
  ASSERT_TRUE(s.apply(kMul, {s.constant(DType::kF32, {3}, {1, 2, 3}), s.constant(DType::kF32, {}, {0.5})}).ok());
  ASSERT_NE(s.out.constant, nullptr);
  EXPECT_EQ(Elements(*s.out.constant).number(2), 1.5);
  EXPECT_FALSE(s.out.has_values);
  // The shape that only the reference knows becomes the type's.
  ASSERT_TRUE(s.apply(kNonZero, {s.constant(DType::kF32, {4}, {0, 2, 0, 3})}).ok());
  ASSERT_NE(s.out.constant, nullptr);
  EXPECT_EQ(s.out.type.shape, Shape{2});
  ASSERT_TRUE(s.out.has_values);
  EXPECT_EQ(s.out.values[1], Dim(3));
  // Results over the limit are left alone; a random operator is never computed.
  const std::vector<double> many(2000, 1.0);
  ASSERT_TRUE(s.apply(kMul, {s.constant(DType::kF32, {2000}, many), s.constant(DType::kF32, {}, {2})}).ok());
  EXPECT_EQ(s.out.constant, nullptr);
  ASSERT_TRUE(s.apply(kNonZero, {s.constant(DType::kF32, {2000}, many)}).ok());
  EXPECT_EQ(s.out.constant, nullptr);
  EXPECT_FALSE(s.out.type.shape.fixed());
  OpDef random = kMul;
  random.random = true;
  ASSERT_TRUE(s.apply(random, {s.constant(DType::kI64, {1}, {2}), s.constant(DType::kI64, {1}, {2})}).ok());
  EXPECT_EQ(s.out.constant, nullptr);
  EXPECT_FALSE(s.out.has_values);
}

TEST(Evaluate, ErrorsAreReported) {
  DimTable t;
  Scope s(t);
  OpDef negative = kShape;
  negative.infer = [](InferScope& scope) { return scope.out(0, DType::kF32, Shape{2, -1}), Status(); };
  EXPECT_EQ(s.apply(negative, {Scope::tensor(DType::kF32, Shape{1})}).error().code(), Code::kBadShape);
  OpDef untyped = kShape;
  untyped.infer = [](InferScope&) { return Status(); };
  EXPECT_EQ(s.apply(untyped, {Scope::tensor(DType::kF32, Shape{1})}).error().code(), Code::kInternal);
  EXPECT_EQ(s.apply(kGather, {Scope::tensor(DType::kF32, Shape{1})}).error().code(), Code::kBadModel);
  EXPECT_EQ(s.apply(kAdd, {Scope::tensor(DType::kF32, Shape{2}), Scope::tensor(DType::kF32, Shape{3})}).error().code(),
            Code::kBadShape);
  EXPECT_EQ(s.apply(kAdd, {Scope::tensor(DType::kF32, Shape{2}), Scope::tensor(DType::kF16, Shape{2})}).error().code(),
            Code::kBadType);
}

TEST(Infer, Broadcast) {
  DimTable t;
  const Dim n = t.symbol("N"), m = t.symbol("M");
  EXPECT_EQ(*broadcast(Shape{n, 1}, Shape{5}, t), (Shape{n, 5}));
  EXPECT_EQ(*broadcast(Shape{n}, Shape{5}, t), Shape{5});
  EXPECT_EQ(*broadcast(Shape{n}, Shape{1}, t), Shape{n});
  EXPECT_EQ(*broadcast(Shape{n}, Shape{m}, t), Shape{t.max(n, m)});
  EXPECT_EQ(*broadcast(Shape{0}, Shape{1}, t), Shape{0});
  EXPECT_FALSE(broadcast(Shape{2}, Shape{3}, t).ok());
  EXPECT_FALSE(broadcast(Shape{1}, Shape(), t)->known());
  EXPECT_EQ(*normalize_axis(-1, 4), 3);
  EXPECT_FALSE(normalize_axis(4, 4).ok());
  EXPECT_FALSE(normalize_axis(0, 0).ok());
}

TEST(Infer, KnownNumbers) {
  DimTable t;
  Scope s(t);
  const InferValue values[] = {s.constant(DType::kI32, {3}, {4, 5, 6}), s.constant(DType::kF16, {1}, {0.5}),
                               Scope::tensor(DType::kI64, Shape{2}),
                               s.constant(DType::kI8, {21}, std::vector<double>(21))};
  s.inputs = values;
  Ints list;
  ASSERT_TRUE(s.ints(0, list));
  EXPECT_EQ(list, (Ints{4, 5, 6}));
  EXPECT_FALSE(s.ints(1, list));
  EXPECT_FALSE(s.ints(2, list));
  EXPECT_FALSE(s.ints(3, list));
  EXPECT_FALSE(s.ints(9, list));
  double number = 0;
  ASSERT_TRUE(s.scalar(1, number));
  EXPECT_EQ(number, 0.5);
  EXPECT_FALSE(s.scalar(0, number));
  EXPECT_FALSE(s.scalar(2, number));
}

// Every element type, strides and broadcasting against one formula.
TEST(ReferencePointwise, EveryTypeAndBroadcast) {
  DimTable t;
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == DType::kString || dtype == DType::kF8E8m0) continue;
    SCOPED_TRACE(name_of(dtype));
    Scope s(t);
    ASSERT_TRUE(
        s.apply(kAdd, {s.constant(dtype, {2, 1, 3}, {0, 1, 0, 1, 0, 0}), s.constant(dtype, {2, 1}, {0, 1})}).ok());
    ASSERT_NE(s.out.constant, nullptr);
    EXPECT_EQ(s.out.type.shape, (Shape{2, 2, 3}));
    const double expected[] = {0, 1, 0, 1, 2, 1, 1, 0, 0, 2, 1, 1};
    for (int64_t e = 0; e < 12; ++e) {
      const double want = expected[e] == 2 ? (dtype == DType::kBool ? 1 : dtype == DType::kI2 ? -2 : 2) : expected[e];
      EXPECT_EQ(Elements(*s.out.constant).number(e), want) << e;
    }
  }
}

TEST(ReferencePointwise, StridesSpecialValuesAndIntegers) {
  DimTable t;
  Scope s(t);
  InferValue a = s.constant(DType::kF32, {2, 3}, {1, 2, 3, 4, NAN, -0.0});
  TensorView turned = *a.constant;
  turned.dims = {3, 2};
  turned.strides = {4, 12};
  a.constant = &turned;
  a.type.shape = Shape{3, 2};
  ASSERT_TRUE(s.apply(kMul, {a, s.constant(DType::kF32, {3, 2}, {1, 1, 1, 1, 1, 1})}).ok());
  ASSERT_NE(s.out.constant, nullptr);
  const Elements e(*s.out.constant);
  EXPECT_EQ(e.number(1), 4);
  EXPECT_TRUE(std::isnan(e.number(3)));
  EXPECT_TRUE(std::signbit(e.number(5)));
  ASSERT_TRUE(s.apply(kDiv, {s.constant(DType::kU8, {2}, {200, 7}), s.constant(DType::kU8, {2}, {3, 0})}).ok());
  EXPECT_EQ(Elements(*s.out.constant).integer(0), 66);
  EXPECT_EQ(Elements(*s.out.constant).integer(1), 0);
  ASSERT_TRUE(s.apply(kMul, {s.constant(DType::kI8, {1}, {100}), s.constant(DType::kI8, {1}, {2})}).ok());
  EXPECT_EQ(Elements(*s.out.constant).integer(0), -56);
  ASSERT_TRUE(s.apply(kMul, {s.constant(DType::kF32, {0, 3}, {}), s.constant(DType::kF32, {1, 3}, {1, 2, 3})}).ok());
  ASSERT_NE(s.out.constant, nullptr);
  EXPECT_EQ(s.out.type.shape, (Shape{0, 3}));
}

}  // namespace
}  // namespace mica
