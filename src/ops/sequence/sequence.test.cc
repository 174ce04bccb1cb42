#include <gtest/gtest.h>

#include "problem.h"

namespace mica::suite {
namespace {

TEST(Sequence, AtAndLength) {
  const Spec list_of_two = sequence({iota({2}), iota({3}, 5)});
  check({.op = "sequence_at", .inputs = {list_of_two, scalar(-1, DType::kI64)}, .expect = {{.numbers = {5, 6, 7}}}});
  check({.op = "sequence_length", .inputs = {list_of_two}, .expect = {{.numbers = {2}}}});
  check({.op = "concat_from_sequence", .inputs = {list_of_two}, .expect = {{.numbers = {0, 1, 5, 6, 7}}}});
  check({.op = "concat_from_sequence",
         .attributes = {{"axis", 1}, {"new_axis", true}},
         .inputs = {sequence({iota({2}), iota({2}, 5)})},
         .expect = {{.numbers = {0, 5, 1, 6}}}});
  check_error({.op = "sequence_at", .inputs = {list_of_two, scalar(2, DType::kI64)}}, Code::kBadValue);
  check_error({.op = "concat_from_sequence", .inputs = {sequence({})}}, Code::kBadValue);
}

TEST(Sequence, OperatorsOfTensorsRefuseSequences) {
  const Spec list = sequence({iota({2}), iota({2}, 5)});
  for (const char* op : {"concat", "shape", "size", "non_zero", "exp", "transpose"})
    check_error({.op = op, .inputs = {list}}, Code::kBadType);
  for (const char* op : {"concat", "add", "less", "matmul"}) {
    check_error({.op = op, .inputs = {list, iota({2})}}, Code::kBadType);
    check_error({.op = op, .inputs = {iota({2}), list}}, Code::kBadType);
  }
}

}  // namespace
}  // namespace mica::suite
