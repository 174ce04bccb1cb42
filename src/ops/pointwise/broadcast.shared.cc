#include "ops/pointwise/broadcast.h"

namespace mica::pointwise {

Status broadcast_dims(const RunScope& scope, int count, int64_t* dims, int& rank) {
  rank = 0;
  for (int i = 0; i < count; ++i) rank = std::max(rank, scope.in(i).rank);
  for (int k = 1; k <= rank; ++k) {
    int64_t& d = dims[rank - k] = 1;
    for (int i = 0; i < count; ++i) {
      const TensorView& view = scope.in(i);
      const int64_t own = k <= view.rank ? view.dim(view.rank - k) : 1;
      MICA_CHECK(own == d || own == 1 || d == 1, kBadShape, "dimensions {} and {} do not broadcast", d, own);
      if (d == 1) d = own;
    }
  }
  return {};
}

Status allocate_broadcast(RunScope& scope, int count) {
  int64_t dims[kMaxRank] = {};
  int rank = 0;
  MICA_TRY_STATUS(broadcast_dims(scope, count, dims, rank));
  return scope.allocate_output(0, std::span<const int64_t>(dims, static_cast<size_t>(rank)));
}

}  // namespace mica::pointwise
