#include <gtest/gtest.h>

#include "problem.h"

namespace mica::suite {
namespace {

TEST(StringConcat, Broadcast) {
  check({.op = "string_concat",
         .inputs = {texts({2}, {"ab", ""}), texts({1}, {"!"})},
         .expect = {{.texts = {"ab!", "!"}}}});
}
TEST(StringSplit, Delimiters) {
  check({.op = "string_split",
         .inputs = {texts({2}, {" a  bc ", ""})},
         .outputs = 2,
         .expect = {{.texts = {"a", "bc", "", ""}}, {.numbers = {2, 0}}}});
  check({.op = "string_split",
         .attributes = {{"delimiter", "-"}, {"max_splits", 1}},
         .inputs = {texts({1}, {"a-b--c"})},
         .outputs = 2,
         .expect = {{.texts = {"a", "b--c"}}, {.numbers = {2}}}});
}
TEST(StringNormalizer, StopWords) {
  check({.op = "string_normalizer",
         .attributes = {{"change", "upper"}},
         .inputs = {texts({3}, {"Monday", "is", "x"}), constant(texts({1}, {"MONDAY"}))},
         .expect = {{.texts = {"IS", "X"}}}});
  check({.op = "string_normalizer",
         .inputs = {texts({1, 1}, {"a"}), constant(texts({1}, {"a"}))},
         .expect = {{.texts = {""}, .dims = {{1, 1}}}}});
}
TEST(TfIdf, SkippedItems) {
  check({.op = "tfidf_vectorizer",
         .attributes = {{"mode", "TF"}, {"min_length", 2}, {"max_length", 2}, {"max_skip", 1}},
         .inputs = {list({6}, {1, 5, 2, 5, 1, 2}, DType::kI64), ints({1, 2, 5, 1, 2, 5}), ints({0, 2}),
                    ints({0, 1, 2, 3})},
         .expect = {{.numbers = {0, 0, 1, 1}}}});
}

}  // namespace
}  // namespace mica::suite
