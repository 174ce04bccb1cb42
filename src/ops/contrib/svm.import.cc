// Support vector machines of ai.onnx.ml.
#include "ops/contrib/scores.import.h"

namespace mica {
MICA_DECLARE_OP(matmul);
MICA_DECLARE_OP(pow);
MICA_DECLARE_OP(svm_scores);
MICA_DECLARE_OP(tanh);

namespace {

using expand::PostTransform, expand::best_label, expand::cast, expand::labels_of, expand::list, expand::post_transform,
    expand::rank_of, expand::reshape, expand::transformed, expand::transpose, expand::two_columns, expand::unsqueeze;

// The kernel of each row of x [N, F] with each of the vectors [S, F]: [N, S].
Value* kernels(const SourceNode& node, Builder& build, Value* x, Value* vectors) {
  const std::string kind = node.text("kernel_type", "LINEAR");
  const std::vector<float> given = node.floats("kernel_params");
  const auto parameter = [&](size_t i) { return i < given.size() ? static_cast<double>(given[i]) : 0.0; };
  const double gamma = parameter(0), offset = parameter(1), degree = parameter(2);
  const auto number = [&](double value) { return build.scalar(DType::kF32, value); };
  if (kind == "RBF") {
    // Differences first: the expanded form loses digits where a row is near a vector.
    Value* apart = build.one(op_sub, {unsqueeze(build, x, {1}), unsqueeze(build, vectors, {0})});
    const Reduce squares{.kind = ReduceKind::kSumSquare, .keep_dims = false};
    Value* distance = build.one(op_reduce, squares, {apart, list(build, {2})});
    return build.one(op_exp, {build.one(op_mul, {distance, number(-gamma)})});
  }
  Value* product = build.one(op_matmul, {x, transpose(build, vectors, {1, 0})});
  if (kind == "LINEAR") return product;
  if (kind != "POLY" && kind != "SIGMOID") fail(Code::kBadAttribute, "`kernel_type` is `{}`", kind);
  Value* y = build.one(op_add, {build.one(op_mul, {product, number(gamma)}), number(offset)});
  return kind == "POLY" ? build.one(op_pow, {y, number(degree)}) : build.one(op_tanh, {y});
}

Value* matrix(Builder& build, const std::vector<float>& list, int64_t rows, std::string_view what) {
  if (rows <= 0 || list.empty() || list.size() % static_cast<size_t>(rows))
    fail(Code::kBadAttribute, "{} of {} numbers cannot be split into {} rows", what, list.size(), rows);
  return reshape(build, build.floats(list), {rows, -1});
}

Value* features(const SourceNode& node, Builder& build) {
  Value* x = cast(build, node.input(0), DType::kF32);
  return rank_of(x, "the features") == 1 ? unsqueeze(build, x, {0}) : x;
}

float first_rho(const SourceNode& node) {
  const std::vector<float> rho = node.floats("rho");
  return rho.empty() ? 0 : rho[0];
}

// Without support vectors the coefficients are those of a linear function.
Values regressor(const SourceNode& node, Builder& build) {
  const int64_t vectors = node.integer("n_supports", 0);
  const std::vector<float> coefficients = node.floats("coefficients");
  Value *x = features(node, build), *y = nullptr;
  if (vectors > 0) {
    Value* all = kernels(node, build, x, matrix(build, node.floats("support_vectors"), vectors, "`support_vectors`"));
    y = build.one(op_matmul, {all, reshape(build, build.floats(coefficients), {-1, 1})});
  } else {
    node.ignore("support_vectors");
    y = kernels(node, build, x, matrix(build, coefficients, 1, "`coefficients`"));
  }
  y = build.one(op_add, {y, build.scalar(DType::kF32, static_cast<double>(first_rho(node)))});
  if (node.integer("one_class", 0) == 0) return {transformed(build, y, post_transform(node))};
  node.ignore("post_transform");
  Value* inside = build.one(op_greater, {y, build.scalar(DType::kF32, 0)});
  return {build.one(op_where, {inside, build.scalar(DType::kF32, 1), build.scalar(DType::kF32, -1)})};
}

// One linear function for each class.
Values linear_classifier(const SourceNode& node, Builder& build, Value* labels) {
  for (const char* name : {"support_vectors", "vectors_per_class", "prob_a", "prob_b"}) node.ignore(name);
  Value* rows = matrix(build, node.floats("coefficients"), labels->constant->view.count(), "`coefficients`");
  Value* scores = kernels(node, build, features(node, build), rows);
  scores = build.one(op_add, {scores, build.scalar(DType::kF32, static_cast<double>(first_rho(node)))});
  return {best_label(build, labels, scores), transformed(build, scores, post_transform(node))};
}

Values classifier(const SourceNode& node, Builder& build) {
  Value* labels = labels_of(node, build, "classlabels_ints", "classlabels_strings");
  const std::vector<int64_t> counts = node.ints("vectors_per_class");
  int64_t vectors = 0;
  for (const int64_t count : counts)
    if (count < 0 || __builtin_add_overflow(vectors, count, &vectors))
      fail(Code::kBadAttribute, "`vectors_per_class` has {}", count);
  if (vectors == 0) return linear_classifier(node, build, labels);
  const int64_t classes = labels->constant->view.count();
  if (static_cast<int64_t>(counts.size()) != classes)
    fail(Code::kBadAttribute, "`vectors_per_class` has {} items for {} classes", counts.size(), classes);
  Value* all = kernels(node, build, features(node, build),
                       matrix(build, node.floats("support_vectors"), vectors, "`support_vectors`"));
  const std::vector<float> a = node.floats("prob_a"), b = node.floats("prob_b");
  const bool chances = !a.empty();
  Value* coefficients = matrix(build, node.floats("coefficients"), classes - 1, "`coefficients`");
  const Values made = build.add(op_svm_scores,
                                {all, coefficients, build.floats(node.floats("rho")), build.ints(counts),
                                 chances ? build.floats(a) : nullptr, chances ? build.floats(b) : nullptr},
                                2);
  const PostTransform transform = post_transform(node);
  Value* label = best_label(build, labels, made[1]);
  if (classes > 2 || chances) return {label, transformed(build, made[0], transform)};
  const bool complement = transform == PostTransform::kSoftmax || transform == PostTransform::kSoftmaxZero;
  return {label, two_columns(build, made[0], complement, transform)};
}

constexpr std::string_view kDomain = "ai.onnx.ml";

}  // namespace

MICA_SPELLINGS(svm, {Format::kOnnx, kDomain, "SVMClassifier", 1, kLatest, classifier},
               {Format::kOnnx, kDomain, "SVMRegressor", 1, kLatest, regressor});

}  // namespace mica
