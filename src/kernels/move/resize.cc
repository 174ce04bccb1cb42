#include "kernels/move/resize.h"

#include <cstring>

#include "base/isa.h"
#include "mica_isas.inc"

namespace mica {

#define MICA_DECLARE(set)                        \
  namespace set {                                \
  extern const ResampleKernels resample_kernels; \
  }
MICA_FOREACH_ISA(MICA_DECLARE)
#undef MICA_DECLARE

const ResampleKernels& resample_kernels(Isa isa) {
#define MICA_PICK(set) \
  if (name_of(isa) == #set) return set::resample_kernels;
  MICA_FOREACH_ISA(MICA_PICK)
#undef MICA_PICK
  return MICA_PLAINEST_ISA::resample_kernels;
}

namespace {

// Four pixels at a time where they lie side by side: one store.
template <class T>
void nearest_row(const ResampleAxis& columns, int64_t pixel_out, const char* row, char* to) {
  int64_t i = 0;
  for (; pixel_out == 1 && i + 4 <= columns.out; i += 4) {
    T four[4];
    for (int k = 0; k < 4; ++k)
      std::memcpy(&four[k], row + columns.index[i + k] * static_cast<int64_t>(sizeof(T)), sizeof(T));
    std::memcpy(to + i * static_cast<int64_t>(sizeof(T)), four, sizeof four);
  }
  for (; i < columns.out; ++i)
    std::memcpy(to + i * pixel_out * static_cast<int64_t>(sizeof(T)),
                row + columns.index[i] * static_cast<int64_t>(sizeof(T)), sizeof(T));
}

// Each number twice, as of most enlargements.
bool is_doubling(const ResampleAxis& columns) {
  bool all = columns.out == 2 * columns.in;
  for (int64_t i = 0; all && i < columns.out; ++i) all = columns.index[i] == i / 2;
  return all;
}
void double_row(const uint32_t* row, int64_t n, uint32_t* to) {
  for (int64_t i = 0; i < n; ++i) to[2 * i] = to[2 * i + 1] = row[i];
}

void nearest_pixels(const ResampleProblem& p, int64_t element, const char* row, char* to) {
  const auto bytes = static_cast<size_t>(p.channels * element);
  for (int64_t i = 0; i < p.columns.out; ++i, to += p.pixel_out * element)
    std::memcpy(to, row + p.columns.index[i] * p.pixel_in * element, bytes);
}

}  // namespace

void resample_nearest(const ResampleProblem& p, int64_t element, const char* x, char* y, int64_t task_begin,
                      int64_t task_end) {
  const bool dense = p.pixel_out == p.channels;
  const bool doubles = p.channels == 1 && element == 4 && p.pixel_out == 1 && is_doubling(p.columns);
  const auto row_bytes = static_cast<size_t>(p.columns.out * p.channels * element);
  for (int64_t task = task_begin; task < task_end; ++task) {
    const int64_t r = task % p.rows.out, plane = task / p.rows.out % p.planes, group = task / p.rows.out / p.planes;
    const char* row = x + (group * p.group_in + plane * p.plane_in + p.rows.index[r] * p.row_in) * element;
    char* to = y + (group * p.group_out + plane * p.plane_out + r * p.row_out) * element;
    const bool again = dense && task > task_begin && r > 0 && p.rows.index[r] == p.rows.index[r - 1];
    if (again)
      std::memcpy(to, to - p.row_out * element, row_bytes);
    else if (doubles)
      double_row(reinterpret_cast<const uint32_t*>(row), p.columns.in, reinterpret_cast<uint32_t*>(to));
    else if (p.channels > 1)
      nearest_pixels(p, element, row, to);
    else if (element == 1)
      nearest_row<uint8_t>(p.columns, p.pixel_out, row, to);
    else if (element == 2)
      nearest_row<uint16_t>(p.columns, p.pixel_out, row, to);
    else if (element == 4)
      nearest_row<uint32_t>(p.columns, p.pixel_out, row, to);
    else
      nearest_pixels(p, element, row, to);
  }
}

}  // namespace mica
