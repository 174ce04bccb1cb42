// Weights of a few bits in blocks (MatMulNBits, GatherBlockQuantized).
#include "ops/contrib/expand.import.h"
#include "ops/quant/dequantize_linear.h"

namespace mica {
MICA_DECLARE_OP(dequantize_linear);
MICA_DECLARE_OP(matmul);

namespace {

using expand::cast, expand::list, expand::rank_of, expand::reshape, expand::size_of, expand::slice, expand::sum,
    expand::transpose, expand::unsqueeze;

DType unsigned_of(int64_t bits) {
  if (bits == 2) return DType::kU2;
  if (bits == 4) return DType::kU4;
  if (bits == 8) return DType::kU8;
  fail(Code::kUnsupportedOperator, "weights of {} bits, expected 2, 4 or 8", bits);
}

// Bytes seen as rows of small numbers, the first in the low bits: no byte moves.
Value* as_rows(Builder& build, Value* bytes, DType dtype, std::span<const int64_t> dims, std::string_view what) {
  if (!bytes->constant) fail(Code::kUnsupportedOperator, "{} must be a constant", what);
  const TensorView& from = bytes->constant->view;
  if (from.dtype != DType::kU8 || from.count() != dense_bytes(dtype, dims))
    fail(Code::kBadShape, "{} has {} elements of {}, expected {} bytes", what, from.count(), name_of(from.dtype),
         dense_bytes(dtype, dims));
  const Constant rows{.view = dense_view(from.data, dtype, dims), .keep = bytes->constant->keep};
  return build.graph().add_constant(std::make_shared<const Constant>(rows));
}

// The zero point that nobody names: half of the range.
Value* middle(Builder& build, DType dtype, std::span<const int64_t> dims) {
  constexpr int kOfTwo = 0xAA, kOfFour = 0x88, kOfEight = 0x80;
  const int pattern = dtype == DType::kU2 ? kOfTwo : dtype == DType::kU4 ? kOfFour : kOfEight;
  const std::vector<uint8_t> bytes(static_cast<size_t>(dense_bytes(dtype, dims)), static_cast<uint8_t>(pattern));
  return build.constant(dtype, dims, bytes.data());
}

struct Blocks {
  int64_t rows, columns, block, count;  // columns in `count` blocks a row; the last may be filled up
  DType dtype;
};

int64_t positive(const SourceNode& node, const char* name) {
  const int64_t value = node.integer(name);
  constexpr int64_t kMost = int64_t{1} << 31;
  if (value <= 0 || value > kMost) fail(Code::kBadAttribute, "`{}` is {}", name, value);
  return value;
}
Blocks blocks_of(const SourceNode& node) {
  Blocks b{.rows = positive(node, "N"),
           .columns = positive(node, "K"),
           .block = positive(node, "block_size"),
           .count = 0,
           .dtype = unsigned_of(node.integer("bits", 4))};
  b.count = (b.columns + b.block - 1) / b.block;
  return b;
}

Value* first_columns(Builder& build, Value* x, const Blocks& b) {
  return b.count * b.block == b.columns ? x : slice(build, x, 1, list(build, {0}), list(build, {b.columns}));
}

// (q - zero) * scale for operands that broadcast, in the scales' type.
Value* dequantize(Builder& build, Value* q, Value* zero, Value* scale) {
  const DType dtype = scale->type.dtype;
  return build.one(op_mul, {build.one(op_sub, {cast(build, q, dtype), cast(build, zero, dtype)}), scale});
}

// The weights [N, K] as numbers.
Value* weights_of(const SourceNode& node, Builder& build) {
  const Blocks b = blocks_of(node);
  const int64_t rows[] = {b.rows, b.count * b.block}, blocks[] = {b.rows, b.count};
  Value* q = as_rows(build, node.input(1), b.dtype, rows, "the packed weights");
  Value* scale = reshape(build, node.input(2), {b.rows, b.count});
  Value* zero = node.optional(3);
  const bool packed = zero && zero->type.dtype == DType::kU8;
  if (!zero)
    zero = middle(build, b.dtype, blocks);
  else
    zero = packed ? as_rows(build, zero, b.dtype, blocks, "the zero points") : reshape(build, zero, {b.rows, b.count});
  if (node.has_input(4)) {
    const auto of_columns = [&](Value* x) { return build.one(op_gather, IndexAxis{.axis = 1}, {x, node.input(4)}); };
    return dequantize(build, first_columns(build, q, b), of_columns(zero), of_columns(scale));
  }
  if (is_float(zero->type.dtype)) {
    Value* apart = reshape(build, cast(build, q, scale->type.dtype), {b.rows, b.count, b.block});
    Value* w = dequantize(build, apart, unsqueeze(build, zero, {2}), unsqueeze(build, scale, {2}));
    return first_columns(build, reshape(build, w, {b.rows, b.count * b.block}), b);
  }
  const DequantizeLinear a{.axis = 1, .block = b.block};
  return first_columns(build, build.one(op_dequantize_linear, a, {q, scale, zero}), b);
}

Values import_matmul(const SourceNode& node, Builder& build) {
  node.ignore("accuracy_level");  // never less than single precision here
  if (node.integer("weight_prepacked", 0))
    fail(Code::kUnsupportedOperator, "weights that are arranged for one device (`weight_prepacked`)");
  Value* w = transpose(build, weights_of(node, build), {1, 0});
  return {sum(build, build.one(op_matmul, {node.input(0), w}), node.optional(5))};
}

// Elements of a constant as bytes, less `middle`: u8 when that is 0, else i8.
Value* widened(Builder& build, Value* x, int64_t bits, int64_t less) {
  if (!x->constant) fail(Code::kUnsupportedOperator, "the table must be a constant");
  TensorView view = x->constant->view;
  if (view.dtype == DType::kU8 && bits < 8) {
    if (view.rank == 0) fail(Code::kBadRank, "packed elements need an axis");
    std::vector<int64_t> dims(view.shape().begin(), view.shape().end());
    dims.back() *= 8 / bits;
    view = dense_view(view.data, unsigned_of(bits), dims);
  }
  const bool is_signed = less != 0 || kind_of(view.dtype) == NumberKind::kSigned;
  std::vector<int8_t> bytes(static_cast<size_t>(view.count()));
  const Elements elements(view);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<int8_t>(elements.integer(static_cast<int64_t>(i)) - less);
  return build.constant(is_signed ? DType::kI8 : DType::kU8, view.shape(), bytes.data());
}

// Rows are picked first and become numbers then, unless blocks run along the axis that is picked from.
Values import_gather(const SourceNode& node, Builder& build) {
  const int64_t bits = node.integer("bits", 4), block = node.integer("block_size", 128);
  Value *table = node.input(0), *scale = node.input(2), *zero = node.optional(3);
  if (!is_integer(table->type.dtype) || bits_of(table->type.dtype) > 8)
    fail(Code::kUnsupportedOperator, "a table of {}", name_of(table->type.dtype));
  const int rank = rank_of(table, "the table"), picks = rank_of(node.input(1), "the indices");
  const int axis = value_or_throw(normalize_axis(node.integer("gather_axis", 0), rank, "gather_axis"));
  int blocked = value_or_throw(normalize_axis(node.integer("quantize_axis", 1), rank, "quantize_axis"));
  const bool bytes = table->type.dtype == DType::kU8;
  if (bytes) unsigned_of(bits);
  table = widened(build, table, bits, bytes && !zero ? int64_t{1} << (bits - 1) : 0);
  const auto last = [&](Value* x) { return x->type.shape.back(); };
  if (zero) zero = widened(build, zero, bits, 0);
  if (zero && !(last(zero) == last(scale)))  // the last byte of a row may hold fewer
    zero = slice(build, zero, rank - 1, list(build, {0}), size_of(build, scale, rank - 1));
  const auto pick = [&](Value* x) { return build.one(op_gather, IndexAxis{.axis = axis}, {x, node.input(1)}); };
  DequantizeLinear a{.axis = blocked, .block = block};
  if (axis == blocked) return {pick(build.one(op_dequantize_linear, a, {table, scale, zero}))};
  if (blocked > axis) a.axis += picks - 1;
  return {build.one(op_dequantize_linear, a, {pick(table), pick(scale), zero ? pick(zero) : nullptr})};
}

constexpr std::string_view kDomain = "com.microsoft";

}  // namespace

MICA_SPELLINGS(contrib_weights, {Format::kOnnx, kDomain, "MatMulNBits", 1, kLatest, import_matmul},
               {Format::kOnnx, kDomain, "GatherBlockQuantized", 1, kLatest, import_gather});

}  // namespace mica
