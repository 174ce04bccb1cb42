// Linear models, scalers and encoders of ai.onnx.ml.
#include "ops/contrib/scores.import.h"
#include "ops/ml/map_row.h"

namespace mica {
MICA_DECLARE_OP(equal);
MICA_DECLARE_OP(is_nan);
MICA_DECLARE_OP(label_encoder);
MICA_DECLARE_OP(map_row);
MICA_DECLARE_OP(matmul);

namespace {

using expand::PostTransform, expand::best_label, expand::cast, expand::concat, expand::label_above, expand::labels_of,
    expand::list, expand::post_transform, expand::rank_of, expand::reshape, expand::transformed, expand::transpose,
    expand::two_columns, expand::unsqueeze;

// Features [N, F] in single precision.
Value* features(const SourceNode& node, Builder& build) {
  Value* x = cast(build, node.input(0), DType::kF32);
  return rank_of(x, "the features") == 1 ? unsqueeze(build, x, {0}) : x;
}

// x · coefficientsᵀ + intercepts, for coefficients of `columns` rows.
Value* linear(const SourceNode& node, Builder& build, int64_t columns) {
  const std::vector<float> coefficients = node.floats("coefficients"), intercepts = node.floats("intercepts");
  if (columns <= 0 || coefficients.empty() || coefficients.size() % static_cast<size_t>(columns))
    fail(Code::kBadAttribute, "{} coefficients cannot be split into {} rows", coefficients.size(), columns);
  Value* w = transpose(build, reshape(build, build.floats(coefficients), {columns, -1}), {1, 0});
  Value* y = build.one(op_matmul, {features(node, build), w});
  return intercepts.empty() ? y : build.one(op_add, {y, build.floats(intercepts)});
}

Values linear_regressor(const SourceNode& node, Builder& build) {
  const int64_t targets = node.integer("targets", 1);
  const PostTransform transform = post_transform(node);
  Value* y = linear(node, build, targets);
  // As ONNX Runtime has it, a score that is alone is not divided by itself.
  return {targets == 1 && transform == PostTransform::kSoftmaxZero ? y : transformed(build, y, transform)};
}

Values linear_classifier(const SourceNode& node, Builder& build) {
  node.ignore("multi_class");  // the post transform says what becomes of the scores
  Value* labels = labels_of(node, build, "classlabels_ints", "classlabels_strings");
  const int64_t classes = labels->constant->view.count();
  const auto rows = static_cast<int64_t>(node.floats("intercepts").size());
  const PostTransform transform = post_transform(node);
  Value* scores = linear(node, build, rows ? rows : classes);
  if (rows == 1 && classes == 2)
    return {label_above(build, labels, scores, 0), two_columns(build, scores, true, transform)};
  return {best_label(build, labels, scores), transformed(build, scores, transform)};
}

Values scaler(const SourceNode& node, Builder& build) {
  Value* x = cast(build, node.input(0), DType::kF32);
  if (node.has("offset")) x = build.one(op_sub, {x, build.floats(node.floats("offset"))});
  if (node.has("scale")) x = build.one(op_mul, {x, build.floats(node.floats("scale"))});
  return {x};
}

// Rows of zeros stay as they are.
Values normalizer(const SourceNode& node, Builder& build) {
  const std::string norm = node.text("norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2") fail(Code::kBadAttribute, "`norm` is `{}`", norm);
  Value* x = cast(build, node.input(0), DType::kF32);
  const ReduceKind kind = norm == "MAX" ? ReduceKind::kMax : norm == "L1" ? ReduceKind::kL1 : ReduceKind::kL2;
  Value* size = build.one(op_reduce, Reduce{.kind = kind}, {x, list(build, {-1})});
  Value* none = build.one(op_equal, {size, build.scalar(DType::kF32, 0)});
  size = build.one(op_where, {none, build.scalar(DType::kF32, 1), size});
  return {build.one(op_div, {x, size})};
}

Values binarizer(const SourceNode& node, Builder& build) {
  Value* x = node.input(0);
  const auto threshold = static_cast<double>(node.number("threshold", 0));
  return {cast(build, build.one(op_greater, {x, build.scalar(x->type.dtype, threshold)}), x->type.dtype)};
}

Values imputer(const SourceNode& node, Builder& build) {
  Value *x = node.input(0), *imputed, *hit;
  if (is_float(x->type.dtype)) {
    const float replaced = node.number("replaced_value_float", 0);
    imputed = cast(build, build.floats(node.floats("imputed_value_floats")), x->type.dtype);
    hit = std::isnan(replaced) ? build.one(op_is_nan, {x})
                               : build.one(op_equal, {x, build.scalar(x->type.dtype, static_cast<double>(replaced))});
    for (const char* name : {"replaced_value_int64", "imputed_value_int64s"}) node.ignore(name);
  } else {
    const int64_t replaced = node.integer("replaced_value_int64", 0);
    imputed = cast(build, build.ints(node.ints("imputed_value_int64s")), x->type.dtype);
    hit = build.one(op_equal, {x, build.scalar(x->type.dtype, static_cast<double>(replaced))});
    for (const char* name : {"replaced_value_float", "imputed_value_floats"}) node.ignore(name);
  }
  return {build.one(op_where, {hit, imputed, x})};
}

// Each element as a row of zeros with a one at its category's place; one that is no category is all zeros.
Values one_hot(const SourceNode& node, Builder& build) {
  node.ignore("zeros");
  Value* x = node.input(0);
  Value* categories = labels_of(node, build, "cats_int64s", "cats_strings");
  const int64_t count = categories->constant->view.count();
  if (x->type.dtype != categories->type.dtype) x = cast(build, x, categories->type.dtype);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < count; ++i) places.push_back(i);
  Value* place = build.one(op_label_encoder, {x, categories, build.ints(places), build.scalar(DType::kI64, -1)});
  return {cast(build, build.one(op_equal, {unsqueeze(build, place, {-1}), build.ints(places)}), DType::kF32)};
}

Values feature_vectorizer(const SourceNode& node, Builder& build) {
  const std::vector<int64_t> widths = node.ints("inputdimensions");
  Values parts;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    Value* x = cast(build, node.input(i), DType::kF32);
    x = rank_of(x, "a list of features") == 1 ? unsqueeze(build, x, {0}) : reshape(build, x, {0, -1});
    const Dim width = x->type.shape[1];
    if (i < widths.size() && width.is_fixed() && !width.is(widths[i]))
      fail(Code::kBadShape, "input {} has {} features, `inputdimensions` says {}", i, width.value(), widths[i]);
    parts.push_back(x);
  }
  return {concat(build, std::move(parts), 1)};
}

Values category_mapper(const SourceNode& node, Builder& build) {
  Value *numbers = build.ints(node.ints("cats_int64s")), *texts = labels_of(node, build, "", "cats_strings");
  const bool from_text = node.input(0)->type.dtype == DType::kString;
  const std::string text = node.text("default_string", "_Unused");
  const StringRef ref{text.data(), static_cast<int64_t>(text.size())};
  const int64_t number = node.integer("default_int64", -1);
  Value* otherwise =
      from_text ? build.scalar(DType::kI64, static_cast<double>(number)) : build.constant(DType::kString, {}, &ref);
  return {build.one(op_label_encoder,
                    {node.input(0), from_text ? texts : numbers, from_text ? numbers : texts, otherwise})};
}

// A list of maps, key to score, is no type here: the tensor of scores says the same, and the model's metadata has the
// keys ("onnx.zipmap.<output>", from which `mica.ort` makes the maps).
Values zip_map(const SourceNode& node, Builder&) {
  const bool keys = node.has("classlabels_int64s") != node.has("classlabels_strings");
  if (!keys) fail(Code::kBadModel, "either `classlabels_int64s` or `classlabels_strings` is needed");
  node.ignore("classlabels_int64s");
  node.ignore("classlabels_strings");
  return {node.input(0)};
}

// A map comes as two lists, its keys and its values.
void require_map(const SourceNode& node) {
  if (node.inputs.size() != 2) fail(Code::kBadModel, "its input must be an input of the model that is a map");
}

Values cast_map(const SourceNode& node, Builder& build) {
  require_map(node);
  const std::string to = node.text("cast_to", "TO_FLOAT"), form = node.text("map_form", "DENSE");
  if (form != "DENSE" && form != "SPARSE") fail(Code::kBadAttribute, "`map_form` is `{}`", form);
  const int64_t most = node.integer("max_map", 1);
  if (form == "SPARSE" && most < 0) fail(Code::kBadAttribute, "`max_map` is {}", most);
  Value* values = node.input(1);
  MapRow row{.size = form == "SPARSE" ? most : -1, .text = false};
  if (to == "TO_STRING")
    row.text = values->type.dtype != DType::kString;
  else if (to == "TO_FLOAT" || to == "TO_INT64")
    values = cast(build, values, to == "TO_FLOAT" ? DType::kF32 : DType::kI64);
  else
    fail(Code::kBadAttribute, "`cast_to` is `{}`", to);
  return {build.one(op_map_row, row, {node.input(0), values})};
}

// A row with the value of each key of the vocabulary; zero (or no text) where the map has none.
Values dict_vectorizer(const SourceNode& node, Builder& build) {
  require_map(node);
  if (node.has("int64_vocabulary") == node.has("string_vocabulary"))
    fail(Code::kBadModel, "either `int64_vocabulary` or `string_vocabulary` is needed");
  Value *keys = node.input(0), *values = node.input(1);
  Value* vocabulary = labels_of(node, build, "int64_vocabulary", "string_vocabulary");
  const DType dtype = values->type.dtype;
  const StringRef empty{};
  Value* none = dtype == DType::kString ? build.constant(dtype, {}, &empty) : build.scalar(dtype, 0);
  return {unsqueeze(build, build.one(op_label_encoder, {vocabulary, keys, values, none}), {0})};
}

constexpr std::string_view kDomain = "ai.onnx.ml";

}  // namespace

MICA_SPELLINGS(ml, {Format::kOnnx, kDomain, "Binarizer", 1, kLatest, binarizer},
               {Format::kOnnx, kDomain, "CastMap", 1, kLatest, cast_map},
               {Format::kOnnx, kDomain, "CategoryMapper", 1, kLatest, category_mapper},
               {Format::kOnnx, kDomain, "DictVectorizer", 1, kLatest, dict_vectorizer},
               {Format::kOnnx, kDomain, "FeatureVectorizer", 1, kLatest, feature_vectorizer},
               {Format::kOnnx, kDomain, "Imputer", 1, kLatest, imputer},
               {Format::kOnnx, kDomain, "LinearClassifier", 1, kLatest, linear_classifier},
               {Format::kOnnx, kDomain, "LinearRegressor", 1, kLatest, linear_regressor},
               {Format::kOnnx, kDomain, "Normalizer", 1, kLatest, normalizer},
               {Format::kOnnx, kDomain, "OneHotEncoder", 1, kLatest, one_hot},
               {Format::kOnnx, kDomain, "Scaler", 1, kLatest, scaler},
               {Format::kOnnx, kDomain, "ZipMap", 1, kLatest, zip_map});

}  // namespace mica
