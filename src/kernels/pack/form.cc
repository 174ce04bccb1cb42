#include "kernels/pack/form.h"

namespace mica {
namespace {

// Matrices of one shape that stand one behind the other in both forms.
struct Matrices {
  PanelSource first;  // data is not set
  int64_t count = 1;
  int64_t plain_step = 0;  // floats from one to the next
  bool good = false;
};

int64_t product_of(std::span<const int64_t> dims) {
  int64_t product = 1;
  for (int64_t d : dims) product *= d;
  return product;
}

constexpr int64_t kFactorOne = 0x3f800000;  // the bits of 1.0f

bool form_of(const PackKey& key, PackForm& form) {
  const auto& p = key.parameters;
  form.kind = static_cast<PackKind>(key.kind);
  form.groups = p[0];
  form.layout = p[0] ? PackLayout::kConv : p[1] ? PackLayout::kTransposed : PackLayout::kMatrix;
  return form.groups >= 0 && key == key_of(form);
}

Matrices matrices_of(const PackKey& key, std::span<const int64_t> dims) {
  Matrices m;
  PackForm form;
  const size_t rank = dims.size();
  if (rank < 2 || !form_of(key, form)) return m;
  const PackLayout layout = form.layout;
  // The depthwise form has one matrix, taps x channels.
  const bool depthwise = form.kind == PackKind::kDepthwise16;
  if (depthwise && (form.layout != PackLayout::kConv || form.groups != dims[0])) return m;
  const int64_t groups = depthwise ? 1 : form.groups;
  if (layout == PackLayout::kMatrix || layout == PackLayout::kTransposed) {
    const bool rows = layout == PackLayout::kMatrix;
    const int64_t a = dims[rank - 2], b = dims[rank - 1];
    m.first.n = rows ? b : a;
    m.first.n_stride = rows ? 1 : b;
    m.first.k[3] = rows ? a : b;
    m.first.k_stride[3] = rows ? b : 1;
    m.count = product_of(dims.first(rank - 2));
    m.plain_step = a * b;
    m.good = true;
  } else if (layout == PackLayout::kConv && rank <= 5 && dims[0] % groups == 0) {
    const int64_t taps = product_of(dims.subspan(2));
    m.count = groups;
    m.first.n = dims[0] / groups;
    m.first.n_stride = dims[1] * taps;
    m.plain_step = m.first.n * m.first.n_stride;
    m.first.k[3] = dims[1];
    m.first.k_stride[3] = taps;
    int64_t step = 1;
    for (size_t axis = rank; axis-- > 2;) {
      const size_t at = 3 - (rank - axis);
      m.first.k[at] = dims[axis];
      m.first.k_stride[at] = step;
      step *= dims[axis];
    }
    m.good = true;
  }
  return m;
}

bool fits(const PackKey& key, const Matrices& m) {
  const auto kind = static_cast<PackKind>(key.kind);
  return m.good && (kind == PackKind::kPanels16 || (kind == PackKind::kDepthwise16 && m.first.k[3] == 1));
}

// Of [O, I, taps...] in groups: false when the key is none of a grouped form or does not fit.
bool grouped_of(const PackKey& key, std::span<const int64_t> dims, GroupedShape& s) {
  const Matrices m = matrices_of(key, dims);
  if (static_cast<PackKind>(key.kind) != PackKind::kGrouped16 || !m.good || key.parameters[0] == 0) return false;
  s = {dims[0], dims[1], m.first.n, m.first.k[0] * m.first.k[1] * m.first.k[2]};
  return has_grouped_form(s);
}

int64_t matrix_floats(const PanelSource& s) { return panel_count(s.n) * kPanel * k_of(s); }

}  // namespace

PackKey key_of(const PackForm& form) {
  PackKey key;
  key.kind = static_cast<uint32_t>(form.kind);
  if (form.layout == PackLayout::kConv)
    key.parameters = {form.groups};
  else
    key.parameters = {0, form.layout == PackLayout::kTransposed, kFactorOne};
  return key;
}

int64_t packed_floats(const PackKey& key, std::span<const int64_t> dims) {
  const Matrices m = matrices_of(key, dims);
  GroupedShape grouped;
  if (grouped_of(key, dims, grouped)) return grouped_size(grouped);
  if (!fits(key, m)) return -1;
  int64_t floats = panel_count(m.first.n) * kPanel;
  for (int64_t k : m.first.k)
    if (__builtin_mul_overflow(floats, k, &floats)) return -1;
  if (__builtin_mul_overflow(floats, m.count, &floats) || floats > INT64_MAX / 4) return -1;
  return floats;
}

void pack_by_key(const PackKey& key, std::span<const int64_t> dims, const float* plain, float* packed) {
  if (packed_floats(key, dims) <= 0) return;
  GroupedShape grouped;
  if (grouped_of(key, dims, grouped)) return pack_grouped(grouped, plain, packed);
  Matrices m = matrices_of(key, dims);
  const int64_t step = matrix_floats(m.first);
  for (int64_t i = 0; i < m.count; ++i) {
    m.first.data = plain + i * m.plain_step;
    pack_panels(m.first, packed + i * step);
  }
}

void unpack_by_key(const PackKey& key, std::span<const int64_t> dims, const float* packed, float* plain) {
  if (packed_floats(key, dims) <= 0) return;
  GroupedShape grouped;
  if (grouped_of(key, dims, grouped)) return unpack_grouped(grouped, packed, plain);
  Matrices m = matrices_of(key, dims);
  const int64_t step = matrix_floats(m.first);
  for (int64_t i = 0; i < m.count; ++i) {
    m.first.data = plain + i * m.plain_step;
    unpack_panels(packed + i * step, m.first);
  }
}

}  // namespace mica
