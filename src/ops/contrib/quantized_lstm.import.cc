// LSTM whose weights are quantized, as quantizers that leave activations alone write it.
#include "ops/contrib/expand.import.h"

namespace mica {
namespace {

using expand::cast, expand::rank_of, expand::require_rank, expand::transpose, expand::unsqueeze;

// Weights [directions, in, gates] with one scale a direction, or one for each of its columns, as numbers
// [directions, gates, in].
Value* weights_of(const SourceNode& node, Builder& build, size_t weights, size_t scales) {
  Value *scale = node.input(scales), *q = node.input(weights);
  require_rank(q, 3, 3, "the weights");
  const DType dtype = scale->type.dtype;
  const auto along = [&](Value* x) {
    return rank_of(x, "the scales") == 1 ? unsqueeze(build, x, {1, 2}) : unsqueeze(build, x, {1});
  };
  Value* w = build.one(op_sub, {cast(build, q, dtype), along(cast(build, node.input(scales + 1), dtype))});
  return transpose(build, build.one(op_mul, {w, along(scale)}), {0, 2, 1});
}

// The same node with plain weights, in the standard's words.
Values import_lstm(const SourceNode& node, Builder& build) {
  constexpr int kVersion = 14;
  SourceNode plain = node;
  plain.op = "LSTM";
  plain.domain = "";
  plain.version = kVersion;
  plain.inputs = {node.input(0), weights_of(node, build, 1, 8), weights_of(node, build, 2, 10)};
  for (size_t i = 3; i < 8; ++i) plain.inputs.push_back(node.optional(i));
  const Spelling* lstm = find_spelling(node.format, plain.domain, plain.op, plain.version);
  if (!lstm) fail(Code::kUnsupportedOperator, "there is no LSTM");
  Values made = lstm->import(plain, build);
  for (const std::string& key : plain.read) node.ignore(key);
  return made;
}

}  // namespace

MICA_SPELLINGS(quantized_lstm, {Format::kOnnx, "com.microsoft", "DynamicQuantizeLSTM", 1, kLatest, import_lstm});

}  // namespace mica
