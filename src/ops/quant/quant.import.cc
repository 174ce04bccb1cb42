// How quantization is spelled.
#include "ir/spelling.h"
#include "ops/quant/dequantize_linear.h"
#include "ops/quant/quantize_linear.h"

namespace mica {

MICA_DECLARE_OP(dequantize_linear);
MICA_DECLARE_OP(dynamic_quantize_linear);
MICA_DECLARE_OP(quantize_linear);

namespace {

DType type_attribute(const SourceNode& node, std::string_view key) {
  const int64_t code = node.integer(key, 0);
  const DType dtype = source_dtype(node.format, code);
  if (code != 0 && dtype == DType::kNone)
    fail(Code::kBadAttribute, "attribute `{}` is {}, which is no element type", key, code);
  return dtype;
}

Values dequantize(const SourceNode& node, Builder& build) {
  const DequantizeLinear attributes{.axis = node.integer("axis", 1),
                                    .block = node.integer("block_size", 0),
                                    .dtype = type_attribute(node, "output_dtype")};
  return build.add(op_dequantize_linear, attributes, node.inputs, 1);
}
Values quantize(const SourceNode& node, Builder& build) {
  const QuantizeLinear attributes{.axis = node.integer("axis", 1),
                                  .block = node.integer("block_size", 0),
                                  .dtype = type_attribute(node, "output_dtype"),
                                  .precision = type_attribute(node, "precision"),
                                  .saturate = node.integer("saturate", 1) != 0};
  return build.add(op_quantize_linear, attributes, node.inputs, 1);
}

}  // namespace

MICA_SPELLINGS(quant, {Format::kOnnx, "", "DequantizeLinear", 10, kLatest, dequantize},
               {Format::kOnnx, "com.microsoft", "DequantizeLinear", 1, kLatest, dequantize},
               {Format::kOnnx, "", "DynamicQuantizeLinear", 11, kLatest, direct<op_dynamic_quantize_linear>},
               {Format::kOnnx, "", "QuantizeLinear", 10, kLatest, quantize},
               {Format::kOnnx, "com.microsoft", "QuantizeLinear", 1, kLatest, quantize});

}  // namespace mica
