#include "ir/spelling.h"
#include "ops/matmul/gemm.h"

namespace mica {
MICA_DECLARE_OP(matmul);
MICA_DECLARE_OP(gemm);
MICA_DECLARE_OP(matmul_integer);
MICA_DECLARE_OP(qlinear_matmul);
MICA_DECLARE_OP(einsum);

namespace {

Values import_gemm(const SourceNode& node, Builder& build) {
  Gemm g{.alpha = node.number("alpha", 1), .beta = node.number("beta", 1)};
  g.transpose_a = node.integer("transA", 0) != 0;
  g.transpose_b = node.integer("transB", 0) != 0;
  node.ignore("broadcast");  // before opset 7: the summand broadcasts anyway
  return build.add(op_gemm, g, node.inputs, 1);
}

}  // namespace

MICA_SPELLINGS(matmul, {Format::kOnnx, "", "MatMul", 1, kLatest, direct<op_matmul>},
               {Format::kOnnx, "", "MatMulInteger", 10, kLatest, direct<op_matmul_integer>},
               {Format::kOnnx, "", "QLinearMatMul", 10, kLatest, direct<op_qlinear_matmul>},
               {Format::kOnnx, "", "Einsum", 12, kLatest, direct<op_einsum>},
               {Format::kOnnx, "", "Gemm", 1, kLatest, import_gemm});

}  // namespace mica
