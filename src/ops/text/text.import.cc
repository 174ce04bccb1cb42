// Operators on strings as ONNX spells them.
#include "ir/spelling.h"
#include "ops/text/string_normalizer.h"
#include "ops/text/string_split.h"
#include "ops/text/tfidf_vectorizer.h"

namespace mica {
MICA_DECLARE_OP(string_concat);
MICA_DECLARE_OP(string_split);
MICA_DECLARE_OP(string_normalizer);
MICA_DECLARE_OP(tfidf_vectorizer);
namespace {

Value* texts(Builder& build, const std::vector<std::string>& list) {
  std::vector<StringRef> refs;
  for (const std::string& text : list) refs.push_back({text.data(), static_cast<int64_t>(text.size())});
  const auto count = static_cast<int64_t>(refs.size());
  return build.constant(DType::kString, std::span(&count, 1), refs.data());
}

Values string_split(const SourceNode& node, Builder& build) {
  StringSplit attributes{.delimiter = {}, .max_splits = node.integer("maxsplit", -1)};
  if (!attributes.delimiter.assign(node.text("delimiter", "")))
    fail(Code::kLimit, "a delimiter of more than 255 bytes");
  return build.add(op_string_split, attributes, {node.input(0)}, 2);
}

Values string_normalizer(const SourceNode& node, Builder& build) {
  node.ignore("locale");
  const std::string action = node.text("case_change_action", "NONE");
  if (action != "NONE" && action != "LOWER" && action != "UPPER")
    fail(Code::kBadAttribute, "StringNormalizer has the case_change_action `{}`", action);
  StringNormalizer attributes;
  attributes.change = action == "LOWER"   ? CaseChange::kLower
                      : action == "UPPER" ? CaseChange::kUpper
                                          : CaseChange::kNone;
  attributes.case_sensitive = node.integer("is_case_sensitive", 0) != 0;
  const auto words = node.texts("stopwords");
  return build.add(op_string_normalizer, attributes, {node.input(0), words.empty() ? nullptr : texts(build, words)});
}

Values tfidf_vectorizer(const SourceNode& node, Builder& build) {
  TfIdfVectorizer attributes{.min_length = node.integer("min_gram_length"),
                             .max_length = node.integer("max_gram_length"),
                             .max_skip = node.integer("max_skip_count")};
  const std::string mode = node.text("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    fail(Code::kBadAttribute, "TfIdfVectorizer has the mode `{}`", mode);
  attributes.mode = mode == "TF" ? TfIdfMode::kTf : mode == "IDF" ? TfIdfMode::kIdf : TfIdfMode::kTfIdf;
  Value* pool =
      node.has("pool_strings") ? texts(build, node.texts("pool_strings")) : build.ints(node.ints("pool_int64s"));
  Value* weights = node.has("weights") ? build.floats(node.floats("weights")) : nullptr;
  return build.add(
      op_tfidf_vectorizer, attributes,
      {node.input(0), pool, build.ints(node.ints("ngram_counts")), build.ints(node.ints("ngram_indexes")), weights});
}

}  // namespace

MICA_SPELLINGS(text, {Format::kOnnx, "", "StringConcat", 20, kLatest, direct<op_string_concat>},
               {Format::kOnnx, "", "StringSplit", 20, kLatest, string_split},
               {Format::kOnnx, "", "StringNormalizer", 10, kLatest, string_normalizer},
               {Format::kOnnx, "", "TfIdfVectorizer", 9, kLatest, tfidf_vectorizer});

}  // namespace mica
