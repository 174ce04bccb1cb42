// References whose work grows faster than their operands ask for the deadline on their way.
#include <gtest/gtest.h>

#include "base/os.h"
#include "support/run_graph.h"

namespace mica {
namespace {

using support::Machinery;

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

// Each would take from ten seconds to hours. Inputs are random but the one at `place`.
void ends_soon(const std::string& lines, size_t place = SIZE_MAX, const OwnedTensor& own = {}) {
  Machinery machinery(support::compiled("graph \"g\"\n" + lines + "output %y \"y\"\nend\n"));
  Session& session = machinery.session();
  std::vector<OwnedTensor> random;
  for (size_t i = 0; i < session.input_count(); ++i) {
    if (i != place) random.push_back(support::filled(session.input_type(i), 1, i));
    ASSERT_TRUE(session.set_input(i, i == place ? own.view() : random.back().view()).ok());
  }
  const int64_t begin = now_ns();
  Status late = session.run({.deadline_ns = begin + 50'000'000});
  ASSERT_FALSE(late.ok()) << lines;
  EXPECT_EQ(late.error().code(), Code::kDeadline) << lines;
  EXPECT_LT(now_ns() - begin, 4'000'000'000) << lines;
}

TEST(Deadline, EndsLongReferences) {
  ends_soon("input %x: f32[1,1000003,1] \"x\"\n%y = dft(%x)\n");
  ends_soon("input %x: f32[3000,3000] \"x\"\n%y = det(%x)\n");
  ends_soon("input %x: f32[3000,3000] \"x\"\n%y = inverse(%x)\n");
  ends_soon(
      "input %b: f32[1,300000,4] \"b\"\ninput %s: f32[1,1,300000] \"s\"\nconstant %m: i64[] = {300000}\n"
      "%y = non_max_suppression(%b, %s, %m)\n",
      0, tiles(300000));
  ends_soon(
      "input %x: f32[1,1,1000,1000] \"x\"\ninput %r: f32[100000,5] \"r\"\n"
      "%y = max_roi_pool(%x, %r) pooled_shape=[1,1]\n",
      1, regions(100000, 999));
}

// 2^40 rows of nothing: who walks them would take hours.
TEST(Deadline, EmptyTensorsAreNotWalked) {
  const char* const kChannels = "constant %s: f32[3] = {1, 1, 1}\nconstant %b: f32[3] = {0, 0, 0}\n";
  const std::string one_each[] = {"%y = lrn(%x) size=3\n",
                                  std::string(kChannels) + "%y = instance_norm(%x, %s, %b)\n",
                                  std::string(kChannels) + "%y = batch_norm(%x, %s, %b, %b, %s)\n",
                                  std::string(kChannels) + "%y = group_norm(%x, %s, %b) groups=1\n",
                                  "constant %s: f32[5] = {1, 1, 1, 1, 1}\n%y = layer_norm(%x, %s) axis=2\n",
                                  "constant %s: f32[5] = {1, 1, 1, 1, 1}\n%y = rms_norm(%x, %s) axis=2\n",
                                  "constant %w: f32[3,1,1,1] = {1, 2, 3}\n%y = conv_transpose(%x, %w)\n"};
  for (const std::string& lines : one_each) {
    Machinery machinery(support::compiled("graph \"g\"\ninput %x: f32[1099511627776,3,0,5] \"x\"\n" + lines +
                                          "output %y \"y\"\nend\n"));
    Session& session = machinery.session();
    const OwnedTensor x = support::filled(session.input_type(0), 1, 0);
    ASSERT_TRUE(session.set_input(0, x.view()).ok());
    Status done = session.run({.deadline_ns = now_ns() + 2'000'000'000});
    EXPECT_TRUE(done.ok()) << lines;
  }
}

}  // namespace
}  // namespace mica
