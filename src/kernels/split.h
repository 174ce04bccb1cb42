// Splitting a kernel's work into tasks, and its loops into rows.
#pragma once
#include <stdint.h>

namespace mica {

// Units (rows, tiles) of a task when at least `wanted` tasks are to be made of `units` > 0. Threads get equal numbers
// of tasks: as many units as it takes that the thread with the most of them has as few as can be. 14 rows are 14 tasks
// of one row for two threads, not 7 of two, of which one thread would have four.
inline int64_t even_block(int64_t units, int64_t wanted, int64_t threads) {
  const auto up = [](int64_t n, int64_t d) { return (n + d - 1) / d; };
  if (wanted <= 1) return units;
  const int64_t longest = up(units, wanted);
  int64_t best = longest, best_load = up(up(units, longest), threads) * longest;
  for (int64_t block = longest - 1; block >= 1 && best_load > up(units, threads); --block) {
    const int64_t load = up(up(units, block), threads) * block;
    if (load < best_load) best = block, best_load = load;
  }
  return best;
}

// Rows of a task of at most `most` rows where the number of threads is not known: several tasks are even for four of
// them, and so for two, unless rows are very few.
inline int64_t rows_of_task(int64_t rows, int64_t most) {
  if (rows <= 1 || rows <= most) return rows > 1 ? rows : 1;
  return even_block(rows, most > 1 ? (rows + most - 1) / most : rows, 4);
}

// The loop that is to run innermost, of loops of which the last does: a row of fewer than `short_row` elements costs
// more than strides do, and gives way to the next loop of `long_row` or more, or to the longest.
inline int inner_loop(const int64_t* dims, int loops, int64_t short_row, int64_t long_row) {
  int best = loops - 1;
  if (dims[best] >= short_row) return best;
  for (int i = loops - 1; i >= 0 && dims[best] < long_row; --i)
    if (dims[i] > dims[best]) best = i;
  return best;
}

// Panels of a task when `panels` of them are to make `n_tasks`; all of them for one task. In pairs, since a single one
// takes more than half of the time of two, or an odd number for each thread where pairs would leave one with more.
inline int64_t panels_of_task(int64_t panels, int64_t n_tasks, int64_t threads) {
  constexpr int64_t kPair = 20, kSingle = 11, kWorth = 19;
  if (n_tasks <= 1) return panels;
  const int64_t even = 2 * even_block((panels + 1) / 2, n_tasks, threads), odd = (panels + threads - 1) / threads;
  const auto longest = [&](int64_t block) {
    const int64_t tasks = (panels + block - 1) / block;
    return (tasks + threads - 1) / threads * (block / 2 * kPair + block % 2 * kSingle);
  };
  return kPair * longest(odd) < kWorth * longest(even) ? odd : even;
}

}  // namespace mica
