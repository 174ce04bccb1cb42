// Inputs: strings [C] or [1, C], and the stop words to leave out (optional). Case changes act on ASCII letters, which
// is what every locale agrees on.
#include "ops/text/string_normalizer.h"

#include <algorithm>

#include "types/operand.h"
#include "types/stop.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_CHECK(scope.dtype(0) == DType::kString, kBadType, "string_normalizer of {}", name_of(scope.dtype(0)));
  MICA_TRY_STATUS(require_rank(scope, 0, 1, 2));
  Shape out = scope.shape(0);
  if (out.known()) out[out.rank - 1] = scope.has(1) ? scope.dims().fresh("words") : out[out.rank - 1];
  scope.out(0, DType::kString, out);
  return {};
}

char changed(char c, CaseChange change) {
  if (change == CaseChange::kLower) return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (change == CaseChange::kUpper) return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return c;
}

bool same(std::string_view a, std::string_view b, bool by_case) {
  const CaseChange fold = by_case ? CaseChange::kNone : CaseChange::kLower;
  return std::ranges::equal(a, b, [&](char x, char y) { return changed(x, fold) == changed(y, fold); });
}

Result<bool> is_stop_word(const RunScope& scope, std::string_view text, StopCheck& stop) {
  if (!scope.has(1)) return false;
  const Elements words(scope.in(1));
  for (int64_t i = 0, count = scope.in(1).count(); i < count; ++i) {
    MICA_TRY_STATUS(stop.before(static_cast<int64_t>(text.size())));
    if (same(words.text(i).view(), text, scope.attributes<StringNormalizer>().case_sensitive)) return true;
  }
  return false;
}

Status reference(RunScope& scope) {
  const TensorView& in = scope.in(0);
  MICA_CHECK(in.rank == 1 || (in.rank == 2 && in.dim(0) == 1), kBadShape, "string_normalizer needs [C] or [1, C]");
  const Elements texts(in);
  const int64_t count = in.count();
  int64_t kept = 0;
  StopCheck stop(scope);
  for (int64_t i = 0; i < count; ++i) {
    MICA_TRY(const bool drop, is_stop_word(scope, texts.text(i).view(), stop));
    kept += !drop;
  }
  const bool empty = kept == 0 && scope.has(1);  // one empty string stands for none
  int64_t dims[] = {1, 1};
  dims[in.rank - 1] = empty ? 1 : kept;
  MICA_TRY_STATUS(scope.allocate_output(0, std::span<const int64_t>(dims, static_cast<size_t>(in.rank))));
  const Elements out(scope.out(0));
  if (empty) {
    MICA_TRY(out.text(0), scope.keep({}));
  }
  String text;
  for (int64_t i = 0, to = 0; i < count; ++i) {
    MICA_TRY(const bool drop, is_stop_word(scope, texts.text(i).view(), stop));
    if (drop) continue;
    MICA_TRY_STATUS(text.assign({}));
    for (char c : texts.text(i).view()) {
      const char next = changed(c, scope.attributes<StringNormalizer>().change);
      MICA_TRY_STATUS(text.append(std::string_view(&next, 1)));
    }
    MICA_TRY(out.text(to++), scope.keep(text.view()));
  }
  return {};
}

}  // namespace

MICA_OP(string_normalizer) = {.name = "string_normalizer",
                              .doc = "Strings without stop words, in another case",
                              .inputs = {1, 2},
                              .attributes = attr_class<StringNormalizer>(),
                              .infer = infer,
                              .reference = reference};

}  // namespace mica
