// A model converted, written, loaded and run gives the bits that the converted one gives.
#include "convert/write.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/os.h"
#include "convert/convert.h"
#include "runtime/load.h"
#include "runtime/session.h"

namespace mica {
namespace {

std::vector<float> answer(Model& model) {
  Result<Session*> session = Session::create(model);
  EXPECT_TRUE(session.ok());
  const Type& type = (*session)->input_type(0);
  std::vector<int64_t> dims;
  int64_t count = 1;
  for (Dim d : type.shape.span()) dims.push_back(d.is_fixed() ? d.value() : 1), count *= dims.back();
  std::vector<float> in(static_cast<size_t>(count));
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 17) / 17;
  Status status = (*session)->set_input(0, dense_view(in.data(), DType::kF32, dims));
  EXPECT_TRUE(status.ok()) << status.error().what();
  status = (*session)->run();
  EXPECT_TRUE(status.ok()) << status.error().what();
  std::vector<float> out;
  if (Result<TensorView> view = (*session)->output(0); view.ok())
    out.assign(view->as<float>(), view->as<float>() + view->count());
  Session::destroy(*session);
  return out;
}

TEST(WriteMica, AFileAnswersAsTheModelItWasMadeFrom) {
  Source source;
  source.path = MICA_SOURCE_DIR "/examples/digits/digits.onnx";
  ConvertReport report;
  Result<Lowered> lowered = convert(source, {}, report);
  ASSERT_TRUE(lowered.ok()) << lowered.error().what();
  const std::string path = testing::TempDir() + "mica_write_test.mica";
  Result<FileSizes> sizes = write_mica(lowered->plan, path);
  ASSERT_TRUE(sizes.ok()) << sizes.error().what();
  bool packed = false;
  for (const PlanConstant& constant : lowered->plan.constants) packed = packed || constant.packing.kind != 0;
  EXPECT_TRUE(packed);
  Context context;
  Result<Machine> machine = describe_machine({.threads = 1});
  ASSERT_TRUE(machine.ok());
  context.machine = *machine;
  Result<Model*> loaded = load_model(context, path);
  ASSERT_TRUE(loaded.ok()) << loaded.error().what();
  Result<Model*> made = Model::create(context, std::move(lowered->plan), {});
  ASSERT_TRUE(made.ok());
  const std::vector<float> expected = answer(**made), got = answer(**loaded);
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(got, expected);
  (*loaded)->drop();
  (*made)->drop();
  std::remove(path.c_str());
}

// Constants that begin, end and lie anywhere in the pieces that a file is written in.
TEST(WriteMica, PiecesLeaveNothingOut) {
  constexpr size_t kFloats = kHugePage / sizeof(float);
  Plan plan;
  std::vector<std::vector<float>> constants;
  for (const size_t count : {size_t{25}, 3 * kFloats, size_t{5}, kFloats, kFloats - 16, kFloats + 1, size_t{1}}) {
    std::vector<float>& numbers = constants.emplace_back(count);
    for (size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(constants.size() * count + i);
    PlanConstant constant;
    constant.dtype = DType::kF32;
    constant.shape = {static_cast<int64_t>(count)};
    constant.data = numbers.data();
    constant.bytes = count * sizeof(float);
    ASSERT_TRUE(plan.constants.push_back(std::move(constant)).ok());
  }
  ASSERT_TRUE(plan.functions.resize(1).ok());
  const std::string path = testing::TempDir() + "mica_pieces_test.mica";
  const Result<FileSizes> sizes = write_mica(plan, path);
  ASSERT_TRUE(sizes.ok()) << sizes.error().what();
  const Result<Vector<std::byte>> written = read_file(path);
  const Result<std::vector<std::byte>> wanted = mica_bytes(plan);
  ASSERT_TRUE(written.ok() && wanted.ok());
  EXPECT_EQ(sizes->total, wanted->size());
  EXPECT_TRUE(std::ranges::equal(*written, *wanted));
  std::remove(path.c_str());
}

}  // namespace
}  // namespace mica
