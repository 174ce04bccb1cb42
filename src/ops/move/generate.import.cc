// Operators that make or select tensors by a rule: ranges, one-hot codes, windows, transforms.
#include "ir/spelling.h"
#include "ops/move/blocks.h"
#include "ops/move/col2im.h"
#include "ops/move/compress.h"
#include "ops/move/dft.h"
#include "ops/move/mel_weight_matrix.h"
#include "ops/move/tensor_scatter.h"
#include "ops/move/window.h"

namespace mica {
MICA_DECLARE_OP(range);
MICA_DECLARE_OP(eye_like);
MICA_DECLARE_OP(one_hot);
MICA_DECLARE_OP(trilu);
MICA_DECLARE_OP(reverse_sequence);
MICA_DECLARE_OP(compress);
MICA_DECLARE_OP(col2im);
MICA_DECLARE_OP(window);
MICA_DECLARE_OP(mel_weight_matrix);
MICA_DECLARE_OP(dft);
MICA_DECLARE_OP(stft);
MICA_DECLARE_OP(tensor_scatter);
MICA_DECLARE_OP(depth_to_space);
MICA_DECLARE_OP(space_to_depth);
namespace {

// Elements are computed wider than any stash type, so `stash_type` changes nothing.
Values range(const SourceNode& node, Builder& build) {
  node.ignore("stash_type");
  return build.add(op_range, {node.input(0), node.input(1), node.input(2)});
}

Values compress(const SourceNode& node, Builder& build) {
  const Compress attributes{.axis = node.integer("axis", 0), .flat = !node.has("axis")};
  return build.add(op_compress, attributes, {node.input(0), node.input(1)});
}

template <const OpDef& op>
Values blocks(const SourceNode& node, Builder& build) {
  BlockMove attributes{.block = node.integer("blocksize")};
  const std::string mode = node.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    fail(Code::kBadAttribute, "{} has the mode `{}`; known are DCR and CRD", node.op, mode);
  attributes.order = mode == "CRD" ? BlockOrder::kCrd : BlockOrder::kDcr;
  return build.add(op, attributes, {node.input(0)});
}

DType output_dtype(const SourceNode& node) {
  const int64_t code = node.integer("output_datatype", 1);
  const DType dtype = source_dtype(node.format, code);
  if (dtype == DType::kNone || dtype == DType::kString)
    fail(Code::kBadAttribute, "{} makes no elements of type {}", node.op, code);
  return dtype;
}

template <WindowKind kind>
Values window(const SourceNode& node, Builder& build) {
  return build.add(
      op_window, SignalWindow{.kind = kind, .periodic = node.integer("periodic", 1) != 0, .dtype = output_dtype(node)},
      {node.input(0)});
}

Values mel_weight_matrix(const SourceNode& node, Builder& build) {
  return build.add(op_mel_weight_matrix, MelWeightMatrix{.dtype = output_dtype(node)}, node.inputs);
}

// Until opset 19 the axis is an attribute, 1 by default.
Values dft_axis(const SourceNode& node, Builder& build) {
  const Dft attributes{.inverse = node.integer("inverse", 0) != 0, .onesided = node.integer("onesided", 0) != 0};
  const int64_t axis = node.integer("axis", 1);
  return build.add(op_dft, attributes, {node.input(0), node.optional(1), build.constant(DType::kI64, {}, &axis)});
}

Values tensor_scatter(const SourceNode& node, Builder& build) {
  const std::string mode = node.text("mode", "linear");
  if (mode != "linear" && mode != "circular")
    fail(Code::kBadAttribute, "TensorScatter has the mode `{}`; known are linear and circular", mode);
  const TensorScatter attributes{.axis = node.integer("axis", -2), .circular = mode == "circular"};
  return build.add(op_tensor_scatter, attributes, {node.input(0), node.input(1), node.optional(2)});
}

}  // namespace

MICA_SPELLINGS(generate, {Format::kOnnx, "", "Range", 11, kLatest, range},
               {Format::kOnnx, "", "EyeLike", 9, kLatest, direct<op_eye_like>},
               {Format::kOnnx, "", "OneHot", 9, kLatest, direct<op_one_hot>},
               {Format::kOnnx, "", "Trilu", 14, kLatest, direct<op_trilu>},
               {Format::kOnnx, "", "ReverseSequence", 10, kLatest, direct<op_reverse_sequence>},
               {Format::kOnnx, "", "Compress", 9, kLatest, compress},
               {Format::kOnnx, "", "Col2Im", 18, kLatest, direct<op_col2im>},
               {Format::kOnnx, "", "HannWindow", 17, kLatest, window<WindowKind::kHann>},
               {Format::kOnnx, "", "HammingWindow", 17, kLatest, window<WindowKind::kHamming>},
               {Format::kOnnx, "", "BlackmanWindow", 17, kLatest, window<WindowKind::kBlackman>},
               {Format::kOnnx, "", "MelWeightMatrix", 17, kLatest, mel_weight_matrix},
               {Format::kOnnx, "", "DFT", 17, 19, dft_axis}, {Format::kOnnx, "", "DFT", 20, kLatest, direct<op_dft>},
               {Format::kOnnx, "", "STFT", 17, kLatest, direct<op_stft>},
               {Format::kOnnx, "", "TensorScatter", 24, kLatest, tensor_scatter},
               {Format::kOnnx, "", "DepthToSpace", 1, kLatest, blocks<op_depth_to_space>},
               {Format::kOnnx, "", "SpaceToDepth", 1, kLatest, blocks<op_space_to_depth>});

}  // namespace mica
