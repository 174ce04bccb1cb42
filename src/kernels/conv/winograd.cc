#include "kernels/conv/winograd.h"

#include "kernels/pack/pack.h"

namespace mica {
namespace {

constexpr double kG[6][3] = {{1.0 / 4, 0, 0},
                             {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                             {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                             {1.0 / 24, 1.0 / 12, 1.0 / 6},
                             {1.0 / 24, -1.0 / 12, 1.0 / 6},
                             {0, 0, 1}};
// A left inverse of G: rows 0, 5 give g0 and g2; the difference of rows 2 and 1 gives g1.
constexpr double kInverse[3][6] = {{4, 0, 0, 0, 0, 0}, {0, -3, 3, 0, 0, 0}, {0, 0, 0, 0, 0, 1}};

int64_t point_at(int64_t point, int64_t n, int64_t c, int64_t in_channels, int64_t panels) {
  return ((point * panels + n / kPanel) * in_channels + c) * kPanel + n % kPanel;
}

}  // namespace

int64_t winograd4x4_size(int64_t in_channels, int64_t out_channels) {
  return kWinogradPoints * panels_size(in_channels, out_channels);
}

void pack_winograd4x4(const float* w, int64_t in_channels, int64_t out_channels, float* u) {
  const int64_t panels = panel_count(out_channels);
  for (int64_t n = 0; n < panels * kPanel; ++n)
    for (int64_t c = 0; c < in_channels; ++c) {
      double half[6][3];
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 3; ++j) {
          half[i][j] = 0;
          for (int k = 0; k < 3 && n < out_channels; ++k)
            half[i][j] += kG[i][k] * w[(n * in_channels + c) * 9 + k * 3 + j];
        }
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
          double sum = 0;
          for (int k = 0; k < 3; ++k) sum += half[i][k] * kG[j][k];
          u[point_at(i * 6 + j, n, c, in_channels, panels)] = static_cast<float>(sum);
        }
    }
}

void unpack_winograd4x4(const float* u, int64_t in_channels, int64_t out_channels, float* w) {
  const int64_t panels = panel_count(out_channels);
  for (int64_t n = 0; n < out_channels; ++n)
    for (int64_t c = 0; c < in_channels; ++c)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          double sum = 0;
          for (int a = 0; a < 6; ++a)
            for (int b = 0; b < 6; ++b)
              sum += kInverse[i][a] * kInverse[j][b] * u[point_at(a * 6 + b, n, c, in_channels, panels)];
          w[(n * in_channels + c) * 9 + i * 3 + j] = static_cast<float>(sum);
        }
}

}  // namespace mica
