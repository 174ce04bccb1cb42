// References whose work grows faster than their operands ask for the deadline on their way.
#include <gtest/gtest.h>

#include "base/os.h"
#include "support/run_graph.h"

namespace mica {
namespace {

using support::Machinery;

// Numbers without order in 0 ... 1.
OwnedTensor any_numbers(const std::vector<int64_t>& dims) {
  OwnedTensor made = OwnedTensor::make(DType::kF32, dims).take();
  const Elements to(made.view());
  uint32_t state = 1;
  for (int64_t i = 0, count = made.view().count(); i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    to.set_number(i, static_cast<double>(state >> 8) / 16777216);
  }
  return made;
}

// Boxes side by side, none of which overlaps another.
OwnedTensor tiles(int64_t count) {
  OwnedTensor made = OwnedTensor::make(DType::kF32, std::vector<int64_t>{1, count, 4}).take();
  const Elements to(made.view());
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < 4; ++k) to.set_number(4 * i + k, static_cast<double>(k % 2 ? 2 * i + k / 2 : k / 2));
  return made;
}

// Regions of the whole picture.
OwnedTensor regions(int64_t count, double side) {
  OwnedTensor made = OwnedTensor::make(DType::kF32, std::vector<int64_t>{count, 5}).take();
  const Elements to(made.view());
  for (int64_t i = 0; i < 5 * count; ++i) to.set_number(i, i % 5 > 2 ? side : 0);
  return made;
}

// Each would take from ten seconds to hours.
void ends_soon(const char* text, const std::vector<OwnedTensor>& inputs) {
  Machinery machinery(support::compiled(text));
  Session& session = machinery.session();
  for (size_t i = 0; i < inputs.size(); ++i) ASSERT_TRUE(session.set_input(i, inputs[i].view()).ok());
  const int64_t begin = now_ns();
  Status late = session.run({.deadline_ns = begin + 50'000'000});
  ASSERT_FALSE(late.ok()) << text;
  EXPECT_EQ(late.error().code(), Code::kDeadline) << text;
  EXPECT_LT(now_ns() - begin, 4'000'000'000) << text;
}

TEST(Deadline, EndsLongReferences) {
  std::vector<OwnedTensor> inputs;
  inputs.push_back(any_numbers({1, 1000003, 1}));
  ends_soon("graph \"g\"\n input %x: f32[1,1000003,1] \"x\"\n %y = dft(%x)\n output %y \"y\"\nend\n", inputs);
  inputs[0] = any_numbers({3000, 3000});
  ends_soon("graph \"g\"\n input %x: f32[3000,3000] \"x\"\n %y = det(%x)\n output %y \"y\"\nend\n", inputs);
  ends_soon("graph \"g\"\n input %x: f32[3000,3000] \"x\"\n %y = inverse(%x)\n output %y \"y\"\nend\n", inputs);
  inputs[0] = tiles(300000);
  inputs.push_back(any_numbers({1, 1, 300000}));
  ends_soon(
      "graph \"g\"\n input %b: f32[1,300000,4] \"b\"\n input %s: f32[1,1,300000] \"s\"\n constant %m: i64[] = "
      "{300000}\n"
      " %y = non_max_suppression(%b, %s, %m)\n output %y \"y\"\nend\n",
      inputs);
  inputs[0] = any_numbers({1, 1, 1000, 1000});
  inputs[1] = regions(100000, 999);
  ends_soon(
      "graph \"g\"\n input %x: f32[1,1,1000,1000] \"x\"\n input %r: f32[100000,5] \"r\"\n"
      " %y = max_roi_pool(%x, %r) pooled_shape=[1,1]\n output %y \"y\"\nend\n",
      inputs);
}

}  // namespace
}  // namespace mica
