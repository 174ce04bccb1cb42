// Su et al., RoFormer (arXiv:2104.09864).
#include "ops/attention/rotary_embedding.h"

#include "types/dense.h"
#include "types/infer.h"

namespace mica {
namespace {

enum Input { kX, kCos, kSin, kPositions };

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, kX));
  MICA_TRY_STATUS(require_rank(scope, kX, 3, 4));
  for (int i : {kCos, kSin}) {
    MICA_TRY_STATUS(require_same_dtype(scope, kX, i));
    MICA_TRY_STATUS(require_rank(scope, i, scope.has(kPositions) ? 2 : 3, scope.has(kPositions) ? 2 : 3));
  }
  if (scope.has(kPositions))
    MICA_CHECK(is_integer(scope.dtype(kPositions)), kBadType, "positions must be integers, not {}",
               name_of(scope.dtype(kPositions)));
  scope.out(0, scope.type(kX));
  return {};
}

struct Sizes {
  int64_t batch, heads, length, size, rotated;
  bool four;
  int64_t at(int64_t n, int64_t head, int64_t i) const {
    return (four ? (n * heads + head) * length + i : (n * length + i) * heads + head) * size;
  }
};

Result<Sizes> sizes_of(const RotaryEmbedding& a, const TensorView& x) {
  const bool four = x.rank == 4;
  MICA_CHECK(four || (x.rank == 3 && a.heads > 0 && x.dim(2) % a.heads == 0), kBadShape, "{} dimensions with {} heads",
             x.rank, a.heads);
  Sizes s{x.dim(0), four ? x.dim(1) : a.heads, x.dim(four ? 2 : 1), four ? x.dim(3) : x.dim(2) / a.heads, 0, four};
  s.rotated = a.size ? a.size : s.size;
  MICA_CHECK(s.rotated >= 0 && s.rotated <= s.size && s.rotated % 2 == 0, kBadAttribute,
             "{} of {} elements cannot be rotated in pairs", s.rotated, s.size);
  return s;
}

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<RotaryEmbedding>();
  MICA_TRY(const Sizes s, sizes_of(a, scope.in(kX)));
  MICA_TRY_STATUS(scope.allocate_output(0, scope.in(kX).shape()));
  const TensorView& table = scope.in(kCos);
  // Exporters leave tables of one batch for all where a mask does not shift positions.
  const bool shared = table.rank == 3 && table.dim(0) == 1;
  const int64_t half = s.rotated / 2, rows = table.rank == 2 ? table.dim(0) : (shared ? 1 : s.batch) * s.length;
  MICA_CHECK(table.count() == rows * half && scope.in(kSin).count() == rows * half, kBadShape,
             "tables of {} elements, expected {} x {}", table.count(), rows, half);
  const bool positions = scope.has(kPositions);
  MICA_CHECK(positions ? scope.in(kPositions).count() == s.batch * s.length : table.rank == 3, kBadShape,
             "a position is needed for each of {} x {} tokens", s.batch, s.length);
  MICA_TRY(double* x, dense_numbers(scope, scope.in(kX)));
  MICA_TRY(const double* cosine, dense_numbers(scope, table));
  MICA_TRY(const double* sine, dense_numbers(scope, scope.in(kSin)));
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t i = 0; i < s.length; ++i) {
      const int64_t token = n * s.length + i;
      const int64_t row = positions ? Elements(scope.in(kPositions)).integer(token) : shared ? i : token;
      MICA_CHECK(row >= 0 && row < rows, kBadValue, "position {} is outside a table of {}", row, rows);
      for (int64_t head = 0; head < s.heads; ++head)
        for (int64_t e = 0; e < half; ++e) {
          double* first = x + s.at(n, head, i) + (a.interleaved ? 2 * e : e);
          double* second = first + (a.interleaved ? 1 : half);
          const double c = cosine[row * half + e], t = sine[row * half + e], real = *first, imaginary = *second;
          *first = c * real - t * imaginary;
          *second = t * real + c * imaginary;
        }
    }
  store_dense(x, scope.out(0));
  return {};
}

}  // namespace

MICA_OP(rotary_embedding) = {
    .name = "rotary_embedding",
    .doc =
        "rotates pairs of elements by an angle of the position; inputs x, cosines, sines (one batch of them may serve "
        "all), positions",
    .inputs = {3, 4},
    .attributes = attr_class<RotaryEmbedding>(),
    .infer = infer,
    .reference = reference};

}  // namespace mica
