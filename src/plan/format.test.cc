// docs/file-format.md against the writer: the documented places, and the worked example byte for byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "plan/plan.test.h"

namespace mica {
namespace {

void ok(bool good) { ASSERT_TRUE(good); }

// y = relu(x + w), x f32[N,2], w = [1, 2].
struct TinyPlan {
  OpDef op_add = {.name = "add", .inputs = {2, 2}};
  float w[2] = {1, 2};
  Plan plan;

  TinyPlan() {
    const Type type = Type::tensor(DType::kF32, {plan.dims.symbol("N"), 2});
    for (const char* name : {"x", "y"}) ok(plan.add_name(name).ok());
    PlanConstant constant;
    constant.dtype = DType::kF32;
    constant.shape = {2};
    constant.data = w;
    constant.bytes = sizeof w;
    ok(plan.constants.push_back(std::move(constant)).ok());
    ok(plan.functions.resize(1).ok());
    PlanFunction& main = plan.functions[0];
    ok(main.values.push_back({.kind = ValueKind::kArgument, .type = type, .name = 0}).ok());
    ok(main.values.push_back({.kind = ValueKind::kConstant, .type = Type::tensor(DType::kF32, {2}), .constant = 0})
           .ok());
    ok(main.values.push_back({.type = type, .name = 1}).ok());
    ok(main.stages.resize(1).ok());
    Stage& stage = main.stages[0];
    stage.op = &op_add;
    for (uint32_t v : {0u, 1u}) ok(stage.inputs.push_back(v).ok());
    ok(stage.outputs.push_back(2).ok());
    stage.epilogue.count = 1;
    stage.epilogue.ops[0].function = Pointwise::kRelu;
    ok(main.inputs.push_back(0).ok() && main.outputs.push_back(2).ok());
    ok(plan.inputs.push_back({0}).ok() && plan.outputs.push_back({1}).ok());
  }
};

// Sixteen bytes a line; lines of zeros are left out.
std::string dump(Bytes bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 16) {
    const Bytes row = bytes.subspan(at, std::min<size_t>(16, bytes.size() - at));
    if (std::ranges::all_of(row, [](std::byte b) { return b == std::byte{0}; })) continue;
    char part[32];
    std::snprintf(part, sizeof part, "%04zx ", at);
    text += part;
    for (std::byte b : row) {
      std::snprintf(part, sizeof part, " %02x", static_cast<unsigned>(b));
      text += part;
    }
    text += std::string(3 * (16 - row.size()) + 2, ' ');
    for (std::byte b : row) text += b >= std::byte{' '} && b <= std::byte{'~'} ? static_cast<char>(b) : '.';
    text += '\n';
  }
  return text;
}

template <class T>
T number_at(Bytes bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

TEST(FileFormat, FieldsStandWhereTheDocumentSays) {
  const TinyPlan tiny;
  const AlignedBytes file = written(tiny.plan);
  const Bytes bytes = file.view();
  ASSERT_FALSE(bytes.empty());
  EXPECT_EQ(number_at<uint64_t>(bytes, 0), 0x1a0a0d4143494d8du);
  EXPECT_EQ(number_at<uint32_t>(bytes, 8), 1u);
  EXPECT_EQ(number_at<uint32_t>(bytes, 12), 6u);
  EXPECT_EQ(number_at<uint64_t>(bytes, 16), 0u);
  EXPECT_EQ(number_at<uint64_t>(bytes, 24), bytes.size());
  EXPECT_EQ(number_at<uint64_t>(bytes, 32), 64u);
  const char* const order[] = {"DIMS", "NAME", "CNST", "FUNC", "MAIN", "WGTS"};
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(std::memcmp(bytes.data() + 64 + 48 * i, order[i], 4), 0);
    EXPECT_EQ(number_at<uint64_t>(bytes, 64 + 48 * i + 8) % number_at<uint64_t>(bytes, 64 + 48 * i + 24), 0u);
  }
  const size_t constants = number_at<uint64_t>(bytes, 64 + 48 * 2 + 8) + 4,
               weights = number_at<uint64_t>(bytes, 64 + 48 * 5 + 8);
  EXPECT_EQ(number_at<uint8_t>(bytes, constants), 1);
  EXPECT_EQ(number_at<uint8_t>(bytes, constants + 1), 1);
  EXPECT_EQ(number_at<uint64_t>(bytes, constants + 56), 0u);
  EXPECT_EQ(number_at<uint64_t>(bytes, constants + 64), 8u);
  EXPECT_EQ(number_at<int64_t>(bytes, constants + 72), 2);
  EXPECT_EQ(number_at<float>(bytes, weights + 4), 2.0f);
}

TEST(FileFormat, TheWorkedExampleIsTrue) {
  const TinyPlan tiny;
  const AlignedBytes file = written(tiny.plan);
  std::ifstream in(MICA_SOURCE_DIR "/docs/file-format.md");
  const std::string document{std::istreambuf_iterator<char>(in), {}};
  ASSERT_FALSE(document.empty());
  EXPECT_NE(document.find(dump(file.view())), std::string::npos) << "the document lacks:\n" << dump(file.view());
}

TEST(FileFormat, ElementTypesKeepTheirNumbers) {
  std::ifstream in(MICA_SOURCE_DIR "/docs/file-format.md");
  const std::string document{std::istreambuf_iterator<char>(in), {}};
  for (int i = 1; i < kDTypeCount; ++i) {
    std::ostringstream item;
    item << i << ' ' << name_of(static_cast<DType>(i));
    EXPECT_NE(document.find(item.str()), std::string::npos) << item.str();
  }
}

}  // namespace
}  // namespace mica
