#include "plan/file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/half.h"
#include "base/hash.h"
#include "plan/plan.test.h"

namespace mica {
namespace {

TEST(PlanFile, ComesBackByteForByte) {
  const TestPlan made;
  const AlignedBytes bytes = written(made.plan);
  Result<Plan> read = read_plan(bytes.view(), made.reading());
  ASSERT_TRUE(read.ok()) << read.error().what();
  EXPECT_TRUE(std::ranges::equal(written(*read).view(), bytes.view()));
  ASSERT_EQ(read->functions.size(), made.plan.functions.size());
  const PlanFunction& main = read->functions[0];
  EXPECT_EQ(main.stages[0].op, &made.op_all);
  EXPECT_TRUE(equal_attributes(made.op_all.attributes, main.stages[0].attributes.data(), &made.attributes));
  EXPECT_EQ(main.stages[1].epilogue.count, 2);
  EXPECT_EQ(main.stages[1].epilogue.ops[1].function, Pointwise::kAdd);
  EXPECT_EQ(read->dims.symbol_info(0).name.view(), "batch");
  EXPECT_EQ(read->dims.symbol_info(1).bound, 256);
  EXPECT_TRUE(main.values[1].channels_last);
  EXPECT_TRUE(main.values[2].keep);
}

TEST(PlanFile, ConstantsStayInPlaceAndStringsAreBuilt) {
  const TestPlan made;
  const AlignedBytes bytes = written(made.plan);
  Result<Plan> read = read_plan(bytes.view(), made.reading());
  ASSERT_TRUE(read.ok());
  const PlanConstant& numbers = read->constants[0];
  EXPECT_GE(static_cast<const std::byte*>(numbers.data), bytes.view().data());
  EXPECT_LT(static_cast<const std::byte*>(numbers.data), bytes.view().data() + bytes.view().size());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(numbers.data) % 64, 0u);
  EXPECT_EQ(std::memcmp(numbers.data, made.plan.constants[0].data, numbers.bytes), 0);
  const auto* texts = static_cast<const StringRef*>(read->constants[1].data);
  EXPECT_EQ(texts[0].view(), "a");
  EXPECT_EQ(texts[1].view(), "");
  EXPECT_EQ(texts[2].view(), std::string_view("b\0c", 3));
}

TEST(PlanFile, HalvesAreRoundedOnceAndWidened) {
  TestPlan made;
  const float numbers[] = {1.0f, -0.0f, 1.0f / 3, 65504.0f, 6e-8f, -2.0009765625f};
  made.plan.constants[0].data = numbers;
  made.plan.constants[0].stored = DType::kF16;
  const AlignedBytes bytes = written(made.plan);
  Result<Plan> read = read_plan(bytes.view(), made.reading());
  ASSERT_TRUE(read.ok()) << read.error().what();
  const PlanConstant& half = read->constants[0];
  EXPECT_EQ(half.dtype, DType::kF32);
  ASSERT_EQ(half.bytes, sizeof numbers);
  for (int i = 0; i < 6; ++i) {
    const float got = static_cast<const float*>(half.data)[i];
    EXPECT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(f16_to_float(float_to_f16(numbers[i])))) << i;
  }
  // What was rounded stays: a second file holds the same numbers.
  const AlignedBytes again = written(*read);
  EXPECT_TRUE(std::ranges::equal(again.view(), bytes.view()));

  made.plan.constants[0].stored = DType::kBf16;
  EXPECT_FALSE(validate(made.plan).ok());
  made.plan.constants[0].stored = DType::kNone;
  made.plan.constants[1].stored = DType::kF16;  // strings
  EXPECT_FALSE(validate(made.plan).ok());
}

TEST(PlanFile, OptionalSectionsAreCarriedAndPassedOver) {
  const TestPlan made;
  const std::string text = "a graph";
  const ExtraSection extra[] = {{kSectionGraph, std::as_bytes(std::span(text))}, {section_id("XTRA"), {}}};
  const AlignedBytes bytes = written(made.plan, {.extra = extra});
  ASSERT_TRUE(read_plan(bytes.view(), made.reading()).ok());
  Result<FileLayout> layout = read_layout(bytes.view());
  ASSERT_TRUE(layout.ok());
  Result<Bytes> found = layout->checked(kSectionGraph);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(found->data()), found->size()), text);
}

TEST(PlanFile, EveryTruncationIsAnError) {
  const TestPlan made;
  const AlignedBytes bytes = written(made.plan);
  for (size_t n = 0; n < bytes.view().size(); ++n) {
    const AlignedBytes part(bytes.view().first(n));
    Result<Plan> read = read_plan(part.view(), made.reading());
    ASSERT_FALSE(read.ok()) << n;
    ASSERT_EQ(read.error().code(), Code::kBadFile) << n;
  }
}

TEST(PlanFile, EveryFlippedByteIsNoticed) {
  const TestPlan made;
  const AlignedBytes bytes = written(made.plan);
  Result<FileLayout> layout = read_layout(bytes.view());
  ASSERT_TRUE(layout.ok());
  ReadOptions options = made.reading();
  options.verify_weights = true;
  for (size_t i = 0; i < bytes.view().size(); ++i) {
    bool covered = i < 64 + layout->sections.size() * 48;
    for (const FileSection& s : layout->sections) covered = covered || (i >= s.offset && i < s.offset + s.size);
    AlignedBytes flipped(bytes.view());
    flipped.data()[i] ^= std::byte{0x10};
    Result<Plan> read = read_plan(flipped.view(), options);
    ASSERT_EQ(read.ok(), !covered) << i;  // only the gaps between sections mean nothing
  }
}

void set_u32(AlignedBytes& bytes, size_t at, uint32_t value) { std::memcpy(bytes.data() + at, &value, 4); }

// Makes every checksum right again, so that a change reaches the reader of the section.
void repair(AlignedBytes& bytes) {
  uint32_t sections;
  std::memcpy(&sections, bytes.data() + 12, 4);
  const size_t size = bytes.view().size();
  sections = std::min<uint32_t>(sections, static_cast<uint32_t>((size - 64) / 48));
  for (uint32_t i = 0; i < sections; ++i) {
    const size_t entry = 64 + i * 48;
    uint64_t offset, length;
    std::memcpy(&offset, bytes.data() + entry + 8, 8);
    std::memcpy(&length, bytes.data() + entry + 16, 8);
    if (offset <= size && length <= size - offset)
      set_u32(bytes, entry + 32, crc32c(bytes.view().subspan(offset, length)));
  }
  set_u32(bytes, 40, crc32c(bytes.view().subspan(64, sections * 48)));
  set_u32(bytes, 60, crc32c(bytes.view().first(60)));
}

// What a plan that was accepted is used for: nothing of it may reach outside.
void use(const Plan& plan) {
  ASSERT_TRUE(validate(plan).ok());
  const std::vector<int64_t> ones(plan.dims.symbols(), 1);
  for (const PlanFunction& function : plan.functions)
    for (const PlanValue& value : function.values)
      for (Dim d : value.type.shape.span()) {
        plan.dims.evaluate(d, ones);
        plan.dims.interval(d);
      }
  for (const PlanConstant& constant : plan.constants) {
    if (constant.bytes == 0) continue;
    volatile unsigned char sum = 0;
    const auto* bytes = static_cast<const unsigned char*>(constant.data);
    sum = static_cast<unsigned char>(bytes[0] + bytes[constant.bytes - 1]);
    static_cast<void>(sum);
  }
  AlignedBytes again = written(plan);
  EXPECT_FALSE(again.view().empty());
}

TEST(PlanFile, DamageBehindRightChecksumsNeitherCrashesNorPassesInvalidPlans) {
  const TestPlan made;
  const AlignedBytes bytes = written(made.plan);
  size_t accepted = 0;
  for (size_t i = 0; i < bytes.view().size(); ++i)
    for (const unsigned char value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      for (const bool flip : {false, true}) {
        AlignedBytes changed(bytes.view());
        std::byte& at = changed.data()[i];
        at = flip ? at ^ std::byte{value} : std::byte{value};
        repair(changed);
        Result<Plan> read = read_plan(changed.view(), made.reading());
        if (!read.ok()) continue;
        ++accepted;
        use(*read);
      }
    }
  EXPECT_GT(accepted, 0u);
}

TEST(PlanFile, OffsetsAndSizesThatOverflowAreErrors) {
  const TestPlan made;
  const AlignedBytes bytes = written(made.plan);
  for (const size_t field : {8, 16, 24})
    for (const uint64_t value : {uint64_t{1} << 40, ~uint64_t{0}, ~uint64_t{63}, uint64_t{1} << 63}) {
      AlignedBytes changed(bytes.view());
      std::memcpy(changed.data() + 64 + field, &value, 8);
      repair(changed);
      EXPECT_FALSE(read_plan(changed.view(), made.reading()).ok());
    }
}

TEST(PlanFile, ErrorsSayWhatIsWrong) {
  const TestPlan made;
  const AlignedBytes bytes = written(made.plan);
  const auto code_with = [&](size_t at, uint32_t value) {
    AlignedBytes changed(bytes.view());
    set_u32(changed, at, value);
    repair(changed);
    return read_plan(changed.view(), made.reading()).error().code();
  };
  EXPECT_EQ(code_with(0, 0), Code::kBadFile);
  EXPECT_EQ(code_with(8, 2), Code::kFileVersion);
  EXPECT_EQ(code_with(16, 4), Code::kFileFeature);
  EXPECT_EQ(code_with(64, section_id("WHAT")), Code::kBadFile);
  EXPECT_EQ(code_with(64 + 4, 2), Code::kFileFeature);   // an unknown flag
  EXPECT_EQ(code_with(64 + 36, 1), Code::kFileFeature);  // an unknown encoding
  ReadOptions without = made.reading();
  without.find = [](const void* self, std::string_view name) {
    return name == "reluu" ? nullptr : static_cast<const TestPlan*>(self)->find(name);
  };
  Result<Plan> read = read_plan(bytes.view(), without);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code(), Code::kUnsupportedOperator);
  EXPECT_NE(read.error().what().find("reluu"), std::string_view::npos);
  EXPECT_NE(read.error().hint().find("`relu`"), std::string_view::npos);
}

TEST(PlanFile, NeedsAlignedBytes) {
  const TestPlan made;
  const AlignedBytes bytes = written(made.plan);
  EXPECT_EQ(read_plan(bytes.view().subspan(1), made.reading()).error().code(), Code::kUsage);
}

TEST(PlanFile, AnInvalidPlanIsNotWritten) {
  TestPlan made;
  made.plan.functions[0].outputs[0] = 99;
  BytesSink sink;
  EXPECT_EQ(write_plan(made.plan, sink).error().code(), Code::kBadFile);
  EXPECT_TRUE(sink.bytes.empty());
}

}  // namespace
}  // namespace mica
