// C[M,N] = epilogue(alpha · A[M,K] · B[K,N]), batched over two outer counters, fp32.
//
// The work is a number of tasks that a scheduler may run in any order on any worker; each output is computed by one
// task as one chain of multiply-adds over k (few rows by a transposed B: as many chains as a sum along a row has
// lanes), so that neither the split nor the choice of tiles changes a bit of the result.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/parts.h"
#include "kernels/gemm/epilogue.h"
#include "kernels/gemm/tile.h"

namespace mica {

enum class Isa : uint8_t;

enum class MatrixForm : uint8_t {
  kRows,        // element (i, j) at i · stride + j
  kTransposed,  // element (i, j) at j · stride + i
  kPanels,      // B only: packed by pack_panels
};

// What the choice depends on: numbers only.
struct GemmProblem {
  int64_t m = 0, n = 0, k = 0;
  int64_t batch[2] = {1, 1};
  MatrixForm a_form = MatrixForm::kRows, b_form = MatrixForm::kPanels;
  bool residual_in_place = false;  // the residual is C itself: K must not be cut
};

struct GemmLimits {
  int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20;
  bool adds_apart = false;  // additions have units beside those of multiply-adds
  bool half_units = false;  // a vector's multiply-add takes as long as two of half vectors
  int threads = 1;
};

// How a product is computed; nothing here changes its result.
struct GemmChoice {
  int tile_rows = 1;       // most rows of a register tile
  int64_t m_block = 0;     // most rows of a task: all have as many, or one less
  int64_t n_block = 0;     // panels of a task
  int64_t n_group = 0;     // panels that stay in the second-level cache while a task's rows pass
  int64_t k_block = 0;     // steps of k between two visits of C
  int64_t panel_rows = 0;  // so many rows at a time pass a panel in the first-level cache; 0: panels pass a tile's rows
  bool k_outside = false;  // all panels of a task pass by for one block of k, and then for the next
  bool fetch_rows = false;   // of A and C, those of the next tile while one is computed: they lie beyond that cache
  bool half_units = false;   // as GemmLimits
  bool copies_rows = false;  // a tile's rows of A out of the way of each other where they collide
  bool paired = false;       // kernels/gemm/paired.h; rows and panels are split into tasks, and no further
  bool few_rows = false;     // of a B that is not packed: read in place, n_block panels of columns a task
  int64_t m_tasks = 0, n_tasks = 0;
  int64_t tasks = 0;           // batch · m_tasks · n_tasks; 0 when there is nothing to compute
  int64_t scratch_floats = 0;  // for each worker, 64-byte aligned
};

// Whether rows so many floats apart share the sets of a first-level cache, whose ways have 4 KiB each; and a distance
// from copy to copy of them with which they do not.
constexpr bool rows_collide(int64_t stride) { return stride % 1024 == 0; }
constexpr int64_t copied_pitch(int64_t depth) { return (depth + 15) / 16 * 16 + 16; }

// A whose columns are adjacent, and a B that is not packed.
inline constexpr bool kWithOtherForms =
    has_part_like("kernel", "gemm_f32") || has_part("kernel", "gemm_8bit_exact") || has_part("operator", "einsum");
constexpr bool a_by_columns(const GemmProblem& p) { return kWithOtherForms && p.a_form == MatrixForm::kTransposed; }
constexpr bool b_in_panels(const GemmProblem& p) { return !kWithOtherForms || p.b_form == MatrixForm::kPanels; }

// So few rows are multiplied by a B that is not packed where it lies: making panels of it takes longer. A worker's
// scratch holds sums of so many columns at a time, and the rows of a transposed A.
inline constexpr bool kWithFewRows = has_part("kernel", "gemm_f32_few_rows");
inline constexpr int kMostFewRows = 4;
constexpr int64_t few_columns(int64_t columns) { return columns < 2048 ? columns : 2048; }

// Rows of the instruction set's main tile.
int gemm_tile_rows(Isa isa);

// Pure: the same numbers give the same choice.
GemmChoice choose_gemm(const GemmProblem& problem, Isa isa, const GemmLimits& limits);

// "m=784 n=256 k=256 batch=1x1 rows=14 block=196x16 group=16 k_block=256 panel_rows=0 tasks=4 scratch=0"; returns the
// length, writes at most size.
size_t print(const GemmProblem& problem, const GemmChoice& choice, char* out, size_t size);

struct GemmArgs {
  GemmProblem problem;
  GemmChoice choice;
  const float* a = nullptr;
  int64_t a_stride = 0, a_batch[2] = {0, 0};  // floats; a batch stride of 0 repeats the operand
  const float* b = nullptr;
  int64_t b_stride = 0, b_batch[2] = {0, 0};  // b_stride is not read for panels
  const float* b_next = nullptr;  // panels of as many steps that are read after these, as many or a group; or null
  float* c = nullptr;
  int64_t c_stride = 0, c_batch[2] = {0, 0};
  int64_t residual_batch[2] = {0, 0};
  float alpha = 1.0f;  // only for a B that is not packed: its elements are multiplied by alpha first
  GemmEpilogue epilogue;
};

struct StrassenArgs;  // kernels/gemm/strassen.h
struct StrassenWeights;
struct PairedWeights;  // kernels/gemm/paired.h

struct GemmKernels {
  // Tasks task_begin to task_end of args; `scratch` holds choice.scratch_floats.
  void (*run)(const GemmArgs& args, int64_t task_begin, int64_t task_end, float* scratch);
  RowBlockFn row_block;
  int tile_rows, tile_panels;  // of the main tile
  bool by_panels;              // whether rows may pass panels (GemmChoice::panel_rows)
  // rows x columns of `in` (element (i, j) at i · in_stride + j) to out (element (j, i) at j · out_stride + i).
  void (*transpose)(const float* in, int64_t in_stride, float* out, int64_t out_stride, int64_t rows, int64_t columns);
  // Multiply-adds in registers alone, `rounds` times: the processor's peak. `sink` takes one vector (16 floats).
  void (*fma_loop)(int64_t rounds, float* sink);
  int64_t fma_loop_flops;  // of one round
  // Tasks of Strassen's algorithm; `scratch` holds its choice's scratch_floats. And panels first to last - 1 of its
  // weights.
  void (*strassen)(const StrassenArgs& args, int64_t task_begin, int64_t task_end, float* scratch);
  void (*strassen_weights)(const StrassenWeights& weights, int64_t first, int64_t last);
  // Likewise of products of terms in pairs, which run as others; null where the set has none.
  void (*paired_weights)(const PairedWeights& weights, int64_t first, int64_t last);
};
const GemmKernels& gemm_kernels(Isa isa);

}  // namespace mica
