#include "kernels/pack/pack.h"

namespace mica {
namespace {

// Calls visit(k, offset) for each row of the matrix in packed order.
template <class Visit>
void for_each_row(const PanelSource& s, Visit visit) {
  int64_t row = 0;
  for (int64_t i0 = 0; i0 < s.k[0]; ++i0)
    for (int64_t i1 = 0; i1 < s.k[1]; ++i1)
      for (int64_t i2 = 0; i2 < s.k[2]; ++i2) {
        const int64_t base = i0 * s.k_stride[0] + i1 * s.k_stride[1] + i2 * s.k_stride[2];
        for (int64_t i3 = 0; i3 < s.k[3]; ++i3) visit(row++, base + i3 * s.k_stride[3]);
      }
}

}  // namespace

// Panels are written one after the other, so that a large matrix passes once through the write side.
void pack_panels(const PanelSource& s, float* packed) {
  const int64_t k = k_of(s), panels = panel_count(s.n);
  for (int64_t p = 0; p < panels; ++p) {
    const int64_t first = p * kPanel, width = s.n - first < kPanel ? s.n - first : kPanel;
    for_each_row(s, [&](int64_t row, int64_t offset) {
      float* out = packed + (p * k + row) * kPanel;
      const float* in = s.data + offset + first * s.n_stride;
      for (int64_t j = 0; j < width; ++j) out[j] = in[j * s.n_stride];
      for (int64_t j = width; j < kPanel; ++j) out[j] = 0.0f;
    });
  }
}

void unpack_panels(const float* packed, const PanelSource& t) {
  const int64_t k = k_of(t), panels = panel_count(t.n);
  float* data = const_cast<float*>(t.data);
  for (int64_t p = 0; p < panels; ++p) {
    const int64_t first = p * kPanel, width = t.n - first < kPanel ? t.n - first : kPanel;
    for_each_row(t, [&](int64_t row, int64_t offset) {
      const float* in = packed + (p * k + row) * kPanel;
      float* out = data + offset + first * t.n_stride;
      for (int64_t j = 0; j < width; ++j) out[j * t.n_stride] = in[j];
    });
  }
}

int64_t grouped_diagonals(const GroupedShape& s) {
  const bool square = s.inputs == s.outputs && (s.inputs & (s.inputs - 1)) == 0;
  return !square ? 1 : s.inputs < 4 ? s.inputs : 4;
}

bool has_grouped_form(const GroupedShape& s) {
  return s.inputs >= 1 && s.inputs <= kMostGroupWidth && (s.channels > s.outputs || grouped_diagonals(s) > 1) &&
         s.inputs * s.outputs > 1;
}

namespace {

// Calls visit(packed, plain) for each place of the packed form; plain is -1 beyond the last channel.
template <class Visit>
void for_each_grouped(const GroupedShape& s, Visit visit) {
  const int64_t diagonals = grouped_diagonals(s);
  int64_t at = 0;
  for (int64_t first = 0; first < s.channels; first += kPanel)
    for (int64_t tap = 0; tap < s.taps; ++tap)
      for (int64_t b = 0; b < s.inputs; b += diagonals)
        for (int64_t d = 0; d < diagonals; ++d)
          for (int64_t m = first; m < first + kPanel; ++m, ++at) {
            const int64_t input = diagonals == 1 ? b : (m ^ b) & (s.inputs - 1);
            visit(at, m < s.channels ? ((m ^ d) * s.inputs + input) * s.taps + tap : -1);
          }
}

}  // namespace

void pack_grouped(const GroupedShape& shape, const float* plain, float* packed) {
  for_each_grouped(shape, [&](int64_t to, int64_t from) { packed[to] = from < 0 ? 0.0f : plain[from]; });
}
void unpack_grouped(const GroupedShape& shape, const float* packed, float* plain) {
  for_each_grouped(shape, [&](int64_t from, int64_t to) {
    if (to >= 0) plain[to] = packed[from];
  });
}

}  // namespace mica
