#include "ops/text/string_split.h"

#include "types/operand.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_CHECK(scope.dtype(0) == DType::kString, kBadType, "string_split of {}", name_of(scope.dtype(0)));
  Shape parts = scope.shape(0);
  if (parts.known()) {
    MICA_CHECK(parts.rank < kMaxRank, kLimit, "a tensor of rank {}", parts.rank + 1);
    parts.push(scope.dims().fresh("parts"));
  }
  scope.out(0, DType::kString, parts);
  scope.out(1, DType::kI64, scope.shape(0));
  return {};
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Calls `take(part)` for each part of `text`, as Python's str.split cuts it; an empty string has no parts.
template <class Take>
Status split(std::string_view text, const StringSplit& attributes, Take take) {
  const std::string_view delimiter = attributes.delimiter.view();
  int64_t left = attributes.max_splits < 0 ? INT64_MAX : attributes.max_splits;
  if (!delimiter.empty()) {
    if (text.empty()) return {};
    for (; left > 0; --left) {
      const size_t at = text.find(delimiter);
      if (at == std::string_view::npos) break;
      MICA_TRY_STATUS(take(std::string_view(text.data(), at)));
      text.remove_prefix(at + delimiter.size());
    }
    return take(text);
  }
  for (;;) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    if (text.empty()) return {};
    size_t length = 0;
    while (length < text.size() && !is_space(text[length])) ++length;
    if (left-- == 0) {  // the rest in one part, without the spaces at its end
      while (is_space(text.back())) text.remove_suffix(1);
      return take(text);
    }
    MICA_TRY_STATUS(take(std::string_view(text.data(), length)));
    text.remove_prefix(length);
  }
}

Status reference(RunScope& scope) {
  const auto& attributes = scope.attributes<StringSplit>();
  const TensorView& in = scope.in(0);
  MICA_CHECK(in.rank < kMaxRank, kLimit, "a tensor of rank {}", in.rank + 1);
  const Elements texts(in);
  const int64_t count = in.count();
  int64_t most = 0;
  if (scope.wants(1)) MICA_TRY_STATUS(scope.allocate_output(1, in.shape()));
  for (int64_t i = 0; i < count; ++i) {
    int64_t parts = 0;
    MICA_TRY_STATUS(split(texts.text(i).view(), attributes, [&](std::string_view) {
      ++parts;
      return Status();
    }));
    most = std::max(most, parts);
    if (scope.wants(1)) Elements(scope.out(1)).set_integer(i, parts);
  }
  if (!scope.wants(0)) return {};
  TensorView shape = in;
  shape.dims[static_cast<size_t>(shape.rank++)] = most;
  MICA_TRY_STATUS(scope.allocate_output(0, shape.shape()));
  const Elements out(scope.out(0));
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    MICA_TRY_STATUS(split(texts.text(i).view(), attributes, [&](std::string_view part) -> Status {
      MICA_TRY(out.text(i * most + at++), scope.keep(part));
      return {};
    }));
    for (; at < most; ++at) {
      MICA_TRY(out.text(i * most + at), scope.keep({}));
    }
  }
  return {};
}

}  // namespace

MICA_OP(string_split) = {
    .name = "string_split",
    .doc = "The parts of each string along a new axis, filled up with empty ones, and how many there are",
    .outputs = {1, 2},
    .attributes = attr_class<StringSplit>(),
    .infer = infer,
    .reference = reference};

}  // namespace mica
