// The matrix product of fp32 operands with any strides as one step: what matmul and gemm share.
#pragma once
#include <algorithm>
#include <bit>

#include "base/format.h"
#include "kernels/pack/form.h"
#include "step/explanation.h"
#include "step/gemm_epilogue.h"
#include "step/pack_products.h"

namespace mica::matmul {

// One operand as matrices: rows x columns in one of the kernels' forms, and steps of the batch axes; all in floats.
struct MatrixView {
  MatrixForm form = MatrixForm::kRows;
  int64_t rows = 1, columns = 1, stride = 0;
  int batch_rank = 0;
  std::array<int64_t, kMaxRank> batch{}, steps{};
};

// `left`: a vector is a row, else a column. `flip`: the operand holds the transpose. False for other types and strides.
inline bool matrix_view(const TensorView& t, bool left, bool flip, MatrixView& m) {
  if (t.dtype != DType::kF32 || t.rank < 1) return false;
  constexpr int64_t kBytes = sizeof(float);
  for (int i = 0; i < t.rank; ++i)
    if (t.stride(i) % kBytes != 0) return false;
  const bool vector = t.rank == 1;
  m.rows = vector ? (left ? 1 : t.dim(0)) : t.dim(t.rank - 2);
  m.columns = vector ? (left ? t.dim(0) : 1) : t.dim(t.rank - 1);
  int64_t row_step = vector ? (left ? 0 : t.stride(0)) : t.stride(t.rank - 2),
          column_step = vector && !left ? kBytes : t.stride(t.rank - 1);
  if (flip) {
    std::swap(m.rows, m.columns);
    std::swap(row_step, column_step);
  }
  row_step /= kBytes;
  column_step /= kBytes;
  const bool by_rows = column_step == 1 || m.columns == 1, by_columns = row_step == 1 || m.rows == 1;
  if (!by_rows && !by_columns) return false;
  // Where both hold, the form whose long axis is adjacent is the faster one.
  m.form = by_rows && !(by_columns && m.columns == 1 && m.rows > 1) ? MatrixForm::kRows : MatrixForm::kTransposed;
  m.stride = m.form == MatrixForm::kRows ? row_step : column_step;
  m.batch_rank = std::max(0, t.rank - 2);
  for (int i = 0; i < m.batch_rank; ++i) {
    const auto k = static_cast<size_t>(i);
    m.batch[k] = t.dim(i);
    m.steps[k] = t.dim(i) == 1 ? 0 : t.stride(i) / kBytes;
  }
  return true;
}

// The batch axes of a product, merged as far as the operands' steps allow. Order of operands: A, B, C, residual.
struct Batches {
  static constexpr int kOperands = 4;
  int count = 0;
  std::array<int64_t, kMaxRank> size{};
  std::array<std::array<int64_t, kOperands>, kMaxRank> step{};

  void push(int64_t n, const std::array<int64_t, kOperands>& steps) {
    if (n == 1) return;
    if (count > 0) {
      auto& outer = step[static_cast<size_t>(count) - 1];
      bool merges = true;
      for (size_t i = 0; i < kOperands; ++i) merges = merges && outer[i] == n * steps[i];
      if (merges) {
        size[static_cast<size_t>(count) - 1] *= n;
        outer = steps;
        return;
      }
    }
    size[static_cast<size_t>(count)] = n;
    step[static_cast<size_t>(count++)] = steps;
  }
};

inline int64_t step_of(const MatrixView& m, int batch_rank, int axis) {
  const int own = axis - (batch_rank - m.batch_rank);
  return own < 0 ? 0 : m.steps[static_cast<size_t>(own)];
}

struct ProductStep {
  GemmArgs args;
  StrassenChoice strassen;  // where that is the algorithm, else args.choice
  GemmAlgorithm algorithm = GemmAlgorithm::kPlain;
  int a = 0, b = -1, bias = -1, residual = -1, c = 0;  // operands; b -1: packed ahead
  int64_t a_offset = 0, b_offset = 0;                  // floats, of operands
  const GemmKernels* kernels;
  Isa isa;  // what the choice was made for
  GemmLimits limits;
  GemmAlgorithm forced;  // by Machine::force, or kPlain
};

inline void run_product(const void* arguments, void* const* operands, const TaskRange& range) {
  const ProductStep& step = *static_cast<const ProductStep*>(arguments);
  const auto at = [&](int i) { return i < 0 ? nullptr : static_cast<float*>(operands[i]); };
  GemmArgs args = step.args;
  args.a = at(step.a) + step.a_offset;
  if (step.b >= 0) args.b = at(step.b) + step.b_offset;
  args.c = at(step.c);
  args.epilogue.bias = at(step.bias);
  args.epilogue.residual = at(step.residual);
  float* scratch = static_cast<float*>(range.scratch);
  if (kWithStrassen && step.algorithm == GemmAlgorithm::kStrassen)
    step.kernels->strassen({args, step.strassen}, range.begin, range.end, scratch);
  else
    step.kernels->run(args, range.begin, range.end, scratch);
}

// False when the step, which its kernel tells, is no product of this file.
inline bool explain_product_step(KernelFn kernel, const void* arguments, std::span<char> text, Explanation& out) {
  if (kernel != run_product) return false;
  const ProductStep& step = *static_cast<const ProductStep*>(arguments);
  const GemmProblem& p = step.args.problem;
  const bool strassen = step.algorithm == GemmAlgorithm::kStrassen;
  out.length = print_candidates(p, step.algorithm, step.isa, step.limits, text);
  const auto rest = text.subspan(out.length);
  if (rest.size() > 2) {
    out.length += format_to(rest.data(), rest.size(), ". ");
    out.length += strassen ? print(p, step.strassen, rest.data() + 2, rest.size() - 2)
                           : print(p, step.args.choice, rest.data() + 2, rest.size() - 2);
  }
  const bool asked = step.forced != GemmAlgorithm::kPlain;
  out.can_force = asked && gemm_candidates(p, step.isa, step.limits).of(step.forced).allowed;
  out.is_forced = asked && step.algorithm == step.forced;
  return true;
}

struct ProductPacking {
  int64_t k, n, matrices;
  bool flipped;  // the plain matrices are n x k
  float alpha;
};
// B is dense: `matrices` of them one after the other. Scaled by alpha before it is packed.
inline void pack_product(const TensorView& plain, void* to, const void* context) {
  const auto& p = *static_cast<const ProductPacking*>(context);
  const int64_t panels = panels_size(p.k, p.n);
  for (int64_t i = 0; i < p.matrices; ++i) {
    float* packed = static_cast<float*>(to) + i * panels;
    PanelSource source{.data = plain.as<const float>() + i * p.k * p.n, .n = p.n, .n_stride = p.flipped ? p.k : 1};
    source.k[3] = p.k;
    source.k_stride[3] = p.flipped ? 1 : p.n;
    pack_panels(source, packed);
    for (int64_t j = 0; p.alpha != 1 && j < panels; ++j) packed[j] *= p.alpha;
  }
}
inline PackKey product_key(bool flipped, float alpha) {
  PackKey key = key_of({PackKind::kPanels16, flipped ? PackLayout::kTransposed : PackLayout::kMatrix, 1});
  if (alpha != 1) key.parameters[2] = static_cast<int64_t>(std::bit_cast<uint32_t>(alpha));
  return key;
}

struct ProductOptions {
  bool flip_a = false, flip_b = false;
  float alpha = 1;
  int bias = -1, residual = -1;  // inputs of the operator itself
};

// A result, or what is laid out as one: rows of adjacent elements (or a single column), whatever their pitch.
inline bool result_view(const TensorView& t, MatrixView& m) {
  if (t.rank < 2 || !matrix_view(t, true, false, m)) return false;
  if (m.columns != 1 && t.stride(t.rank - 1) != static_cast<int64_t>(sizeof(float))) return false;
  m.form = MatrixForm::kRows;
  m.stride = t.stride(t.rank - 2) / static_cast<int64_t>(sizeof(float));
  return true;
}

inline bool residual_view(const TensorView& t, const TensorView& out, MatrixView& m) {
  return std::ranges::equal(t.shape(), out.shape()) && result_view(t, m);
}

// B in panels, made ahead: one matrix, or as many as there are in a dense operand. Returns how many.
inline int64_t plan_panels(MatrixView& b, ProductStep& step) {
  int64_t matrices = 1;
  for (int i = b.batch_rank; i-- > 0;) {
    const auto k = static_cast<size_t>(i);
    b.steps[k] = b.batch[k] == 1 ? 0 : matrices * panels_size(b.rows, b.columns);
    matrices *= b.batch[k];
  }
  step.args.problem.b_form = MatrixForm::kPanels;
  return matrices;
}
inline Status pack_ahead(BindScope& scope, int64_t matrices, const ProductOptions& options, ProductStep& step) {
  const GemmProblem& p = step.args.problem;
  MICA_TRY(ProductPacking * packing, scope.arguments<ProductPacking>());
  *packing = {p.k, p.n, matrices, options.flip_b, options.alpha};
  const auto bytes = static_cast<size_t>(panels_size(p.k, p.n) * matrices) * sizeof(float);
  MICA_TRY(const void* packed,
           scope.packed(1, {product_key(options.flip_b, options.alpha), bytes, pack_product, packing}));
  step.args.b = static_cast<const float*>(packed);
  return {};
}

// By this machine's costs; where results must not depend on the machine, by those of a fixed one. For a constant B.
inline GemmAlgorithm algorithm_of(const BindScope& scope, const ProductStep& step) {
  const GemmPolicy policy{.force = step.forced, .low_memory = scope.low_memory, .byte_price = scope.byte_price};
  if (scope.exact) return choose_gemm_algorithm(step.args.problem, Isa::kAvx512, {}, policy);
  return choose_gemm_algorithm(step.args.problem, step.isa, step.limits, policy);
}

// The algorithm with its blocks and weights.
inline Status take_algorithm(BindScope& scope, int64_t matrices, const ProductOptions& options, ProductStep& step) {
  const Machine& machine = *scope.machine;
  GemmArgs& g = step.args;
  step.isa = machine.isa;
  step.limits = limits_of(machine);
  step.kernels = &gemm_kernels(machine.isa);
  step.forced = gemm_force(machine.force.view());
  g.choice = choose_gemm(g.problem, step.isa, step.limits);
  if (step.b >= 0) return {};
  if (kWithStrassen || kWithPaired) step.algorithm = algorithm_of(scope, step);
  const PackKey key = product_key(options.flip_b, options.alpha), panels = product_key(options.flip_b, 1);
  if (kWithPaired && step.algorithm == GemmAlgorithm::kPaired) {
    g.choice = choose_paired(g.problem, step.isa, step.limits);
    MICA_TRY(g.b, paired_ahead(scope, g.problem, options.alpha, key, panels));
    return {};
  }
  if (!kWithStrassen || step.algorithm == GemmAlgorithm::kPlain) return pack_ahead(scope, matrices, options, step);
  step.strassen = choose_strassen(g.problem, step.isa, step.limits);
  g.choice = step.strassen.product;
  MICA_TRY(g.b, strassen_ahead(scope, g.problem, options.alpha, key, panels));
  return {};
}

inline Status add_product(BindScope& scope, const ProductStep& step) {
  const GemmProblem& p = step.args.problem;
  const bool strassen = kWithStrassen && step.algorithm == GemmAlgorithm::kStrassen;
  const bool vector = p.m == 1 && p.a_form == MatrixForm::kRows && p.b_form == MatrixForm::kPanels;
  const int64_t scratch = strassen ? step.strassen.scratch_floats : step.args.choice.scratch_floats;
  return scope.add({.kernel = run_product,
                    .arguments = &step,
                    .tasks = strassen ? step.strassen.tasks : step.args.choice.tasks,
                    .work = static_cast<double>(scope.output(0).view.count()) * static_cast<double>(p.k),
                    .scratch_bytes = static_cast<size_t>(scratch) * sizeof(float),
                    .name = strassen                    ? "gemm_f32_strassen"
                            : step.args.choice.paired   ? "gemm_f32_paired"
                            : step.args.choice.few_rows ? "gemm_f32_few_rows"
                            : vector                    ? "gemv_f32"
                                                        : "gemm_f32"});
}

// Batch axes of C with the operands' steps; then the rows of A as one more, where B is the same for all.
inline bool set_batches(ProductStep& step, const MatrixView& a, const MatrixView& b, const MatrixView& c,
                        const MatrixView& residual) {
  Batches batches;
  for (int i = 0; i < c.batch_rank; ++i)
    batches.push(c.batch[static_cast<size_t>(i)],
                 {step_of(a, c.batch_rank, i), step_of(b, c.batch_rank, i), step_of(c, c.batch_rank, i),
                  step.residual < 0 ? 0 : step_of(residual, c.batch_rank, i)});
  GemmArgs& g = step.args;
  if (batches.count > 0 && g.problem.a_form == MatrixForm::kRows) {
    const auto last = static_cast<size_t>(batches.count) - 1;
    const auto& s = batches.step[last];
    const int64_t m = g.problem.m;
    const bool one_row = m == 1;
    const bool lines = s[1] == 0 && (one_row || (s[0] == m * g.a_stride && s[2] == m * g.c_stride &&
                                                 (step.residual < 0 || s[3] == m * g.epilogue.residual_stride)));
    if (lines) {
      if (one_row) {
        g.a_stride = s[0];
        g.c_stride = s[2];
        g.epilogue.residual_stride = s[3];
      }
      g.problem.m = m * batches.size[last];
      --batches.count;
    }
  }
  if (batches.count > 2) return false;
  for (int i = 0; i < batches.count; ++i) {
    const int to = 2 - batches.count + i;
    const auto from = static_cast<size_t>(i);
    g.problem.batch[to] = batches.size[from];
    g.a_batch[to] = batches.step[from][0];
    g.b_batch[to] = batches.step[from][1];
    g.c_batch[to] = batches.step[from][2];
    g.residual_batch[to] = batches.step[from][3];
  }
  return true;
}

// The result with the axes that vector operands leave out.
inline bool full_result(const TensorView& out, bool a_vector, bool b_vector, MatrixView& c) {
  TensorView full = out;
  if (full.rank + a_vector + b_vector > kMaxRank) return false;
  const auto insert = [&full](int axis) {
    for (int i = full.rank++; i > axis; --i) {
      const auto k = static_cast<size_t>(i);
      full.dims[k] = full.dims[k - 1];
      full.strides[k] = full.strides[k - 1];
    }
    full.dims[static_cast<size_t>(axis)] = 1;
    full.strides[static_cast<size_t>(axis)] = 0;
  };
  if (b_vector) insert(full.rank);
  if (a_vector) insert(full.rank - 1);
  return result_view(full, c);
}

// The stage's post-ops, and the operator's own summand. False when that one's strides do not suit.
inline bool take_epilogue(BindScope& scope, const ProductOptions& options, bool vectors, ProductStep& step,
                          MatrixView& residual) {
  const TensorView& out = scope.output(0).view;
  GemmEpilogueOptions wanted{.column_axis = out.rank - 1,
                             .has_bias = options.bias >= 0 || vectors,
                             .residual = options.residual < 0 && !vectors};
  GemmEpilogueMap map = map_epilogue(scope, wanted);
  if (map.residual >= 0 && !residual_view(scope.input(map.residual).view, out, residual)) {
    wanted.residual = false;
    map = map_epilogue(scope, wanted);
  }
  if (options.residual >= 0 && !residual_view(scope.input(options.residual).view, out, residual)) return false;
  step.args.epilogue = map.form;
  step.bias = options.bias >= 0 ? options.bias : map.bias;
  step.residual = options.residual >= 0 ? options.residual : map.residual;
  if (step.residual >= 0) step.args.epilogue.residual_stride = residual.stride;
  step.args.problem.residual_in_place = map.residual >= 0 && map.residual == scope.shared_residual;
  scope.epilogue_done = map.done;
  return true;
}

// Whether all of k passes a tile at once anyway: only then are a residual's elements read before they are written over.
inline bool takes_residual(const BindScope& scope, bool flip_a, bool flip_b) {
  MatrixView a, b;
  if (!matrix_view(scope.input(0).view, true, flip_a, a) || !matrix_view(scope.input(1).view, false, flip_b, b))
    return false;
  GemmProblem p{.m = a.rows, .n = b.columns, .k = a.columns, .a_form = a.form};
  if (!scope.input(1).constant) p.b_form = b.form;
  const auto k_block = [&] { return choose_gemm(p, scope.machine->isa, limits_of(*scope.machine)).k_block; };
  const int64_t apart = k_block();
  p.residual_in_place = true;
  return k_block() == apart;
}

// A whose columns are adjacent is copied row by row for each group of panels: worth it for one group. Batches of more
// than two axes might not be walked by two counters.
inline bool takes_permuted(std::span<const TensorView> inputs, size_t i, bool flip_a, bool flip_b) {
  constexpr int64_t kMostColumnBytes = 256 << 10;
  constexpr int kMostAxes = 4;
  MatrixView a, b;
  if (i > 1 || inputs[0].rank > kMostAxes || inputs[1].rank > kMostAxes) return false;
  if (!matrix_view(inputs[0], true, flip_a, a) || !matrix_view(inputs[1], false, flip_b, b)) return false;
  const int64_t bytes = b.rows * b.columns * static_cast<int64_t>(sizeof(float));
  return i == 1 || a.form == MatrixForm::kRows || bytes <= kMostColumnBytes;
}

// Of one constant matrix by all rows of A.
inline void forms(const BindScope& scope, bool flip_a, bool flip_b, FormOptions& options) {
  const TensorView &left = scope.input(0).view, &right = scope.input(1).view;
  MatrixView a, b;
  if (!scope.input(1).constant || right.rank != 2 || !matrix_view(left, true, flip_a, a) ||
      !matrix_view(right, false, flip_b, b) || left.empty() || right.empty())
    return;
  const GemmProblem p{
      .m = left.count() / a.columns, .n = b.columns, .k = a.columns, .a_form = a.form, .b_form = MatrixForm::kPanels};
  for (const GemmCandidate& c : gemm_candidates(p, scope.machine->isa, limits_of(*scope.machine)).list)
    if (c.fits && c.allowed && c.modest && c.pays) options.add(c.cycles, c.bytes);
}

inline Result<bool> bind_product(BindScope& scope, const ProductOptions& options) {
  MatrixView a, b, c, residual;
  const TensorView &out = scope.output(0).view, &left = scope.input(0).view, &right = scope.input(1).view;
  const bool a_vector = left.rank == 1, b_vector = right.rank == 1;
  if (!matrix_view(left, true, options.flip_a, a) || !matrix_view(right, false, options.flip_b, b)) return false;
  if (out.empty() || a.columns == 0 || out.dtype != DType::kF32 || out.rank == 0) return false;
  if (!full_result(out, a_vector, b_vector, c)) return false;
  MICA_TRY(ProductStep * step, scope.arguments<ProductStep>());
  GemmArgs& g = step->args;
  g.problem = {.m = a.rows, .n = b.columns, .k = a.columns, .a_form = a.form, .b_form = b.form};
  g.a_stride = a.stride;
  g.b_stride = b.stride;
  g.c_stride = c.stride;
  g.alpha = options.alpha;
  if (!take_epilogue(scope, options, a_vector || b_vector, *step, residual)) return false;
  const bool ahead = scope.input(1).constant && right.contiguous() && !b_vector;
  if (!kWithOtherForms && (a.form == MatrixForm::kTransposed || !ahead)) return false;
  const int64_t matrices = ahead ? plan_panels(b, *step) : 0;
  if (!ahead) step->b = 1;
  if (!set_batches(*step, a, b, c, residual)) return false;
  step->c = static_cast<int>(scope.inputs.size());
  MICA_TRY_STATUS(take_algorithm(scope, matrices, options, *step));
  MICA_TRY_STATUS(add_product(scope, *step));
  // Strassen's algorithm writes a block before it multiplies some of its rows once more.
  scope.shared_residual_done =
      g.problem.residual_in_place && !(kWithStrassen && step->algorithm == GemmAlgorithm::kStrassen);
  return true;
}

}  // namespace mica::matmul
