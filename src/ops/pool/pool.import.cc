#include "ops/pool/pool.h"

#include "ir/spelling.h"
#include "ops/pool/global_pool.h"
#include "ops/pool/max_unpool.h"

namespace mica {
MICA_DECLARE_OP(max_pool);
MICA_DECLARE_OP(average_pool);
MICA_DECLARE_OP(lp_pool);
MICA_DECLARE_OP(global_average_pool);
MICA_DECLARE_OP(global_max_pool);
MICA_DECLARE_OP(global_lp_pool);
MICA_DECLARE_OP(max_unpool);

namespace {

template <class A>
A attributes_of(const SourceNode& node) {
  A a;
  read_attributes_by_name(node, attr_class<A>(), &a);
  a.kernel = node.int_list("kernel_shape");
  return a;
}

Values import_max(const SourceNode& node, Builder& build) {
  auto a = attributes_of<MaxPool>(node);
  a.column_major = node.integer("storage_order", 0) != 0;
  return build.add(op_max_pool, a, node.inputs, node.wants(1) ? 2 : 1);
}
Values import_average(const SourceNode& node, Builder& build) {
  return build.add(op_average_pool, attributes_of<AveragePool>(node), node.inputs, 1);
}

// The exponent was a number before it was an integer.
int64_t exponent(const SourceNode& node) {
  const SourceAttribute* p = node.find("p");
  if (!p) return 2;
  if (p->kind == SourceAttribute::Kind::kInt) return p->i;
  const float value = node.number("p", 2);
  const auto whole = static_cast<int64_t>(value);
  if (static_cast<float>(whole) != value)
    fail(Code::kUnsupportedOperator, "a norm of exponent {}: whole numbers are supported", value);
  return whole;
}
Values import_lp(const SourceNode& node, Builder& build) {
  LpPool a;
  static_cast<PoolAttributes&>(a) = attributes_of<PoolAttributes>(node);
  a.p = exponent(node);
  return build.add(op_lp_pool, a, node.inputs, 1);
}
Values import_global_lp(const SourceNode& node, Builder& build) {
  return build.add(op_global_lp_pool, GlobalLpPool{.p = exponent(node)}, node.inputs, 1);
}
Values import_unpool(const SourceNode& node, Builder& build) {
  return build.add(op_max_unpool, attributes_of<MaxUnpool>(node), node.inputs, 1);
}

}  // namespace

MICA_SPELLINGS(pool, {Format::kOnnx, "", "MaxPool", 1, kLatest, import_max},
               {Format::kOnnx, "", "AveragePool", 1, kLatest, import_average},
               {Format::kOnnx, "", "LpPool", 1, kLatest, import_lp},
               {Format::kOnnx, "", "GlobalAveragePool", 1, kLatest, direct<op_global_average_pool>},
               {Format::kOnnx, "", "GlobalMaxPool", 1, kLatest, direct<op_global_max_pool>},
               {Format::kOnnx, "", "GlobalLpPool", 1, kLatest, import_global_lp},
               {Format::kOnnx, "", "MaxUnpool", 9, kLatest, import_unpool});

}  // namespace mica
