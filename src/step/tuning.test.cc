#include "step/tuning.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/version.h"

namespace mica {
namespace {

Result<Tuning> parse(const std::string& text) {
  Vector<std::byte> bytes;
  if (Status s = bytes.append(std::as_bytes(std::span(text.data(), text.size()))); !s.ok()) return s.take_error();
  return Tuning::parse(std::move(bytes));
}

Machine machine() {
  Machine made;
  made.isa = Isa::kAvx2;
  made.l2 = 524288;
  made.model.assign("Some CPU @ 2 GHz");
  return made;
}

std::string head() {
  return "mica tuning 1\nversion " + std::string(kVersion) + "\nprocessor Some CPU @ 2 GHz\nisa avx2\nl2 524288\n";
}
std::string file() {
  return head() + "conv a:b winograd4  # 1 ms\n\n# a remark\nconv a:a implicit\ngemm a:a x\nend 3\n";
}

TEST(Tuning, FindsWhatWasMeasured) {
  const auto tuning = parse(file());
  ASSERT_TRUE(tuning.ok()) << tuning.error().what();
  EXPECT_EQ(tuning->choices().size(), 3u);
  EXPECT_EQ(tuning->find("conv", "a:b"), "winograd4");
  EXPECT_EQ(tuning->find("conv", "a:a"), "implicit");
  EXPECT_EQ(tuning->find("gemm", "a:a"), "x");
  EXPECT_EQ(tuning->find("gemm", "a:b"), "");
  EXPECT_EQ(tuning->find("conv", "a"), "");
  EXPECT_EQ(tuning->find("", ""), "");
  EXPECT_TRUE(Tuning().empty());
  EXPECT_EQ(Tuning().find("conv", "a:a"), "");
}

TEST(Tuning, MovesWithItsText) {
  auto tuning = parse(file());
  ASSERT_TRUE(tuning.ok());
  const Tuning other = std::move(*tuning);
  EXPECT_EQ(other.find("conv", "a:b"), "winograd4");
}

TEST(Tuning, LineEndsOfAnyKind) {
  std::string text = file();
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.insert(at, "\r");
  const auto tuning = parse(text);
  ASSERT_TRUE(tuning.ok()) << tuning.error().what();
  EXPECT_EQ(tuning->mismatch(machine()), "");
  EXPECT_EQ(tuning->find("conv", "a:b"), "winograd4");
}

TEST(Tuning, OfAnotherMachineOrVersion) {
  const auto tuning = parse(file());
  ASSERT_TRUE(tuning.ok());
  EXPECT_EQ(tuning->mismatch(machine()), "");
  Machine other = machine();
  other.threads = 8;
  EXPECT_EQ(tuning->mismatch(other), "");
  other.model.assign("Some CPU");
  EXPECT_EQ(tuning->mismatch(other), "processor");
  other = machine();
  other.isa = Isa::kAvx512;
  EXPECT_EQ(tuning->mismatch(other), "instruction set");
  other = machine();
  other.l2 *= 2;
  EXPECT_EQ(tuning->mismatch(other), "second-level cache");
  std::string old = file();
  old.replace(old.find(kVersion), kVersion.size(), "0.0.9");
  EXPECT_EQ(parse(old)->mismatch(machine()), "version");
  EXPECT_EQ(parse("mica tuning 1\nend 0\n")->mismatch(machine()), "version");
}

TEST(Tuning, DamageIsRefused) {
  const std::string problems[] = {
      "",                                          // nothing
      "mica tuning 2\nend 0\n",                    // another form
      head() + "conv a:b winograd4\n",             // no end
      head() + "conv a:b winograd4\nend 2\n",      // another count
      head() + "conv a:b winograd4\nend\n",        //
      head() + "conv a:b winograd4\nend 1 1\n",    //
      head() + "conv a:b winograd4\nend -1\n",     //
      head() + "conv a:b\nend 1\n",                // no choice
      head() + "conv a:b winograd4 6\nend 1\n",    // too many words
      head() + "conv a:b x\nconv a:b y\nend 2\n",  // two choices
      head() + "end 0\nconv a:b winograd4\n",      // behind the end
      head() + "end 0\nend 0\n",                   //
      head() + "isa avx512\nend 0\n",              // comes again
      head() + "conv a:b x\nl2 1\nend 1\n",        // a field behind a choice
      head() + "conv " + std::string(257, 'a') + " x\nend 1\n",
      std::string(1000, '\0'),
      std::string(kMostTuningBytes + 1, '\n'),
  };
  for (const std::string& text : problems) {
    const auto tuning = parse(text);
    ASSERT_FALSE(tuning.ok()) << text;
    EXPECT_TRUE(tuning.error().code() == Code::kBadText || tuning.error().code() == Code::kLimit) << text;
    EXPECT_FALSE(tuning.error().what().empty());
  }
}

// A text that was cut anywhere is refused, and one with any byte changed is refused or read.
TEST(Tuning, AnyDamageIsSurvived) {
  const std::string whole = file();
  for (size_t size = 0; size + 1 < whole.size(); ++size) EXPECT_FALSE(parse(whole.substr(0, size)).ok()) << size;
  for (size_t at = 0; at < whole.size(); ++at)
    for (int byte : {0, 9, 10, 13, 32, 35, 48, 57, 127, 128, 255}) {
      std::string text = whole;
      text[at] = static_cast<char>(byte);
      if (const auto tuning = parse(text); tuning.ok()) {
        EXPECT_LE(tuning->choices().size(), 3u);
        for (const TunedChoice& c : tuning->choices()) EXPECT_EQ(tuning->find(c.family, c.problem), c.choice);
      }
    }
}

}  // namespace
}  // namespace mica
