// Operator problems: a test names an operator, attributes and operands; `check` runs it on the reference, through
// inference in all its degrees of knowledge, as a view, and through the run hook on every instruction set, with every
// arrangement of memory, whole and in pieces, with and without an epilogue, and compares. Then it changes the sizes of
// single operands: what the reference refuses, no hook may take.
//
//   TEST(Softmax, LastAxis) {
//     check({.op = "softmax", .attributes = {{"axis", -1}}, .inputs = {uniform({3, 5})}, .expect_kernel =
//     "softmax_f32"}); check({.op = "softmax", .attributes = {{"axis", 0}}, .inputs = {list({2}, {0, 0})}, .expect =
//     {{.numbers = {0.5, 0.5}}}});
//   }
#pragma once
#include <optional>
#include <variant>

#include "operand.h"
#include "types/epilogue.h"
#include "types/op.h"

namespace mica::suite {

// An attribute by its field name; enums by the name of their value.
struct Attribute {
  Attribute(std::string field, int64_t v) : name(std::move(field)), value(v) {}
  Attribute(std::string field, int v) : Attribute(std::move(field), int64_t{v}) {}
  Attribute(std::string field, bool v) : name(std::move(field)), value(v) {}
  Attribute(std::string field, double v) : name(std::move(field)), value(v) {}
  Attribute(std::string field, DType v) : name(std::move(field)), value(v) {}
  Attribute(std::string field, const char* v) : name(std::move(field)), value(std::string(v)) {}
  Attribute(std::string field, std::string v) : name(std::move(field)), value(std::move(v)) {}
  Attribute(std::string field, std::vector<int64_t> v) : name(std::move(field)), value(std::move(v)) {}
  Attribute(std::string field, std::vector<double> v) : name(std::move(field)), value(std::move(v)) {}
  std::string name;
  std::variant<int64_t, bool, double, DType, std::string, std::vector<int64_t>, std::vector<double>> value;
};

// What an output must be, where a test states it. Empty fields are not compared.
struct Expect {
  std::vector<double> numbers;
  std::vector<std::string> texts;
  std::optional<std::vector<int64_t>> dims;
  DType dtype = DType::kNone;
};

struct Problem {
  std::string op;
  std::vector<Attribute> attributes;
  std::vector<Spec> inputs;
  int outputs = 1;
  std::vector<int> unwanted_outputs;  // left out
  std::vector<Expect> expect;
  // Kernels may differ from the reference by (units + terms) units in the last place of the output's type, of the
  // larger of |reference| and `scale`. `terms`: how many rounded products or summands an element adds up; `scale`: the
  // sum of their magnitudes where it may exceed the result (with terms > 0 and scale == 0: the largest |reference|).
  // Integers, booleans and strings must be equal, unless `steps` allows for a rounding boundary.
  double units = 4;
  double terms = 0;
  double scale = 0;
  int64_t steps = 0;
  // When not empty: the hook takes the problem (all operands dense) on every instruction set, and some step's name
  // begins so.
  std::string expect_kernel;
  bool epilogues = true;  // try the hook with relu, and with a residual
};

// Fails the running test with what is wrong.
void check(const Problem& problem);

// Inference or the reference refuses the problem with `code`.
void check_error(const Problem& problem, Code code);

// The reference's results on dense operands.
struct Outcome {
  std::vector<RunScope::CallResult> outputs;
  std::vector<Type> types;  // as inference found them
  Status status;
};
Outcome run_reference(const Problem& problem);

// Element-wise comparison by a problem's tolerance; empty when they agree, else a description of the first and worst
// difference.
std::string compare(const TensorView& reference, const TensorView& actual, const Problem& problem);

}  // namespace mica::suite
