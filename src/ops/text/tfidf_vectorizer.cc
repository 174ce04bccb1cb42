// Inputs: items [C] or [N, C] (integers or strings), the pool of n-grams, where each length begins in the pool, the
// output column of each n-gram, weights per n-gram (optional).
#include "ops/text/tfidf_vectorizer.h"

#include <algorithm>

#include "types/operand.h"
#include "types/stop.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_CHECK(scope.dtype(0) == DType::kString || is_integer(scope.dtype(0)), kBadType,
             "tfidf_vectorizer of {}: it counts texts or whole numbers", name_of(scope.dtype(0)));
  MICA_TRY_STATUS(require_rank(scope, 0, 1, 2));
  Dim columns = scope.dims().fresh("columns");
  if (const TensorView* list = scope.in(3).constant) {
    int64_t most = -1;
    for (int64_t i = 0; i < list->count(); ++i) most = std::max(most, Elements(*list).integer(i));
    MICA_CHECK(most < INT64_MAX, kBadValue, "a column of number {}", most);
    columns = most + 1;
  }
  Shape out;
  if (scope.shape(0).known()) out = scope.shape(0).rank == 1 ? Shape{columns} : Shape{scope.shape(0)[0], columns};
  scope.out(0, DType::kF32, out);
  return {};
}

bool same_item(const TensorView& a, int64_t i, const TensorView& b, int64_t j) {
  const Elements x(a), y(b);
  return a.dtype == DType::kString ? x.text(i).view() == y.text(j).view() : x.integer(i) == y.integer(j);
}

// The n-grams of the pool in its order: `start` in the pool, `length`.
struct Grams {
  int64_t count = 0;
  int64_t *start = nullptr, *length = nullptr;
};

Result<Grams> list_grams(RunScope& scope) {
  const TensorView &pool = scope.in(1), &begins = scope.in(2);
  const int64_t items = pool.count(), lengths = begins.count();
  MICA_TRY(void* memory, scope.allocate(static_cast<size_t>(items) * 2 * sizeof(int64_t)));
  Grams grams;
  grams.start = static_cast<int64_t*>(memory);
  grams.length = grams.start + items;
  for (int64_t n = 1; n <= lengths; ++n) {
    const int64_t begin = Elements(begins).integer(n - 1), end = n < lengths ? Elements(begins).integer(n) : items;
    MICA_CHECK(begin >= 0 && begin <= end && end <= items && (end - begin) % n == 0, kBadValue,
               "n-grams of {} items at {} to {} of {}", n, begin, end, items);
    for (int64_t at = begin; at < end; at += n) {
      grams.start[grams.count] = at;
      grams.length[grams.count++] = n;
    }
  }
  return grams;
}

// Consecutive items of a tensor.
struct Run {
  const TensorView& view;
  int64_t start, length;
};

// How often a gram begins anywhere in a row, its items `step` apart.
int64_t occurrences(const Run& row, const Run& gram, int64_t step) {
  int64_t found = 0;
  for (int64_t at = 0; at + (gram.length - 1) * step < row.length; ++at) {
    int64_t k = 0;
    while (k < gram.length && same_item(row.view, row.start + at + k * step, gram.view, gram.start + k)) ++k;
    found += k == gram.length;
  }
  return found;
}

Status reference(RunScope& scope) {
  const auto& attributes = scope.attributes<TfIdfVectorizer>();
  const TensorView &in = scope.in(0), &pool = scope.in(1);
  MICA_CHECK(in.rank == 1 || in.rank == 2, kBadRank, "tfidf_vectorizer needs rank 1 or 2, not {}", in.rank);
  MICA_CHECK((in.dtype == DType::kString) == (pool.dtype == DType::kString), kBadType, "items are {}, the pool {}",
             name_of(in.dtype), name_of(pool.dtype));
  MICA_CHECK(attributes.max_skip >= 0 && attributes.max_skip < (1 << 20), kBadAttribute, "max_skip is {}",
             attributes.max_skip);
  MICA_TRY(const Grams grams, list_grams(scope));
  MICA_CHECK(scope.in(3).count() == grams.count && (!scope.has(4) || scope.in(4).count() == grams.count), kBadShape,
             "{} n-grams with {} columns", grams.count, scope.in(3).count());
  int64_t columns = 0;
  for (int64_t g = 0; g < grams.count; ++g) {
    const int64_t column = Elements(scope.in(3)).integer(g);
    MICA_CHECK(column >= 0 && column < (int64_t{1} << 40), kBadValue, "an n-gram has column {}", column);
    columns = std::max(columns, column + 1);
  }
  const int64_t rows = in.rank == 2 ? in.dim(0) : 1, count = in.dim(in.rank - 1), dims[] = {rows, columns};
  MICA_TRY_STATUS(scope.allocate_output(0, std::span<const int64_t>(dims).subspan(in.rank == 2 ? 0 : 1)));
  const Elements out(scope.out(0));
  for (int64_t i = 0; i < rows * columns; ++i) out.set_number(i, 0);
  StopCheck stop(scope);
  for (int64_t r = 0; r < rows; ++r) {
    MICA_TRY_STATUS(scope.check_stop());
    for (int64_t g = 0; g < grams.count; ++g) {
      const int64_t length = grams.length[g];
      if (length < attributes.min_length || length > attributes.max_length) continue;
      int64_t found = 0;
      // A single item has no neighbours to skip to, and others none beyond the row.
      const int64_t most = length == 1 ? 1 : std::min(attributes.max_skip + 1, (count - 1) / (length - 1));
      for (int64_t step = 1; step <= most; ++step) {
        MICA_TRY_STATUS(stop.before(count));
        found += occurrences({in, r * count, count}, {pool, grams.start[g], length}, step);
      }
      const double weight = scope.has(4) ? Elements(scope.in(4)).number(g) : 1;
      const double value = attributes.mode == TfIdfMode::kTf    ? static_cast<double>(found)
                           : attributes.mode == TfIdfMode::kIdf ? (found ? weight : 0)
                                                                : static_cast<double>(found) * weight;
      const int64_t to = r * columns + Elements(scope.in(3)).integer(g);
      out.set_number(to, out.number(to) + value);
    }
  }
  return {};
}

}  // namespace

MICA_OP(tfidf_vectorizer) = {.name = "tfidf_vectorizer",
                             .doc = "How often the n-grams of a pool occur in sequences of items",
                             .inputs = {4, 5},
                             .attributes = attr_class<TfIdfVectorizer>(),
                             .infer = infer,
                             .reference = reference};

}  // namespace mica
