#include "ops/move/trilu.h"

#include <algorithm>
#include <cstring>

#include "types/operand.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_rank(scope, 0, 2, kMaxRank));
  return infer_same(scope);
}

Status reference(RunScope& scope) {
  MICA_CHECK(scope.in(0).rank >= 2, kBadRank, "trilu needs matrices, not rank {}", scope.in(0).rank);
  int64_t k = 0;
  if (scope.has(1)) {
    MICA_TRY(k, read_int(scope.in(1), "k"));
  }
  MICA_TRY_STATUS(scope.allocate_output(0, scope.in(0).shape()));
  MICA_TRY(const TensorView in, wide_input(scope, 0));
  MICA_TRY(const TensorView out, wide_output(scope, 0));
  const auto bytes = static_cast<size_t>(element_bytes(out.dtype));
  const bool upper = scope.attributes<Trilu>().upper;
  const int64_t width = in.dim(in.rank - 1), step = in.stride(in.rank - 1);
  // Diagonals farther out than any element are all alike; clamping keeps the sums below from overflowing.
  k = std::clamp<int64_t>(k, -in.dim(in.rank - 2) - 1, width + 1);
  int64_t at[kMaxRank] = {};
  const auto rows = out.shape().first(static_cast<size_t>(out.rank - 1));
  if (!out.empty()) do {
      const int64_t edge = std::clamp<int64_t>(at[out.rank - 2] + k + (upper ? 0 : 1), 0, width);
      const int64_t first = upper ? edge : 0, last = upper ? width : edge;
      const char* from = element_at(in, at);
      char* to = element_at(out, at);
      std::memset(to, 0, static_cast<size_t>(width) * bytes);
      if (step == static_cast<int64_t>(bytes))
        std::memcpy(to + first * step, from + first * step, static_cast<size_t>(last - first) * bytes);
      else
        for (int64_t i = first; i < last; ++i) std::memcpy(to + static_cast<size_t>(i) * bytes, from + i * step, bytes);
    } while (next_index(at, rows));
  finish_output(scope, 0, out);
  return {};
}

}  // namespace

MICA_OP(trilu) = {.name = "trilu",
                  .doc = "The triangle above (or below) and on diagonal k of each matrix; zero (no text) elsewhere",
                  .inputs = {1, 2},
                  .attributes = attr_class<Trilu>(),
                  .infer = infer,
                  .reference = reference};

}  // namespace mica
