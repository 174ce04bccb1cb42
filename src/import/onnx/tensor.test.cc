#include "import/onnx/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "base/file.h"

namespace mica::onnx {
namespace {

using ::testing::HasSubstr;

std::vector<int64_t> ints(const ConstantPtr& constant) {
  std::vector<int64_t> list;
  for (int64_t i = 0; i < constant->view.count(); ++i) list.push_back(Elements(constant->view).integer(i));
  return list;
}
std::vector<double> numbers(const ConstantPtr& constant) {
  std::vector<double> list;
  for (int64_t i = 0; i < constant->view.count(); ++i) list.push_back(Elements(constant->view).number(i));
  return list;
}
pb::Tensor tensor(int dtype, std::initializer_list<int64_t> dims) {
  pb::Tensor made;
  made.set_data_type(dtype);
  for (int64_t d : dims) made.add_dims(d);
  return made;
}
ConstantPtr read(pb::Tensor made, const std::string& folder = {}) { return Tensors(folder).read(made); }
std::string why(pb::Tensor made, const std::string& folder = {}) {
  try {
    read(std::move(made), folder);
  } catch (const Failure& failure) {
    return std::string(failure.error->what());
  }
  return "";
}

TEST(Tensors, TypedFields) {
  pb::Tensor t = tensor(1, {2});
  t.add_float_data(1.5f), t.add_float_data(-0.f);
  EXPECT_EQ(numbers(read(t)), (std::vector<double>{1.5, 0}));
  t = tensor(10, {2});  // bit patterns of halves
  t.add_int32_data(0x3c00), t.add_int32_data(0xc000);
  EXPECT_EQ(numbers(read(t)), (std::vector<double>{1, -2}));
  t = tensor(16, {1});
  t.add_int32_data(0x3fc0);
  EXPECT_EQ(numbers(read(t)), (std::vector<double>{1.5}));
  t = tensor(3, {3});
  t.add_int32_data(-128), t.add_int32_data(127), t.add_int32_data(-1);
  EXPECT_EQ(ints(read(t)), (std::vector<int64_t>{-128, 127, -1}));
  t = tensor(12, {1});
  t.add_uint64_data(0xffffffffu);
  EXPECT_EQ(ints(read(t)), (std::vector<int64_t>{0xffffffff}));
  t = tensor(7, {});
  t.add_int64_data(INT64_MIN);
  EXPECT_EQ(ints(read(t)), (std::vector<int64_t>{INT64_MIN}));
  t = tensor(11, {1});
  t.add_double_data(1e300);
  EXPECT_EQ(numbers(read(t)), (std::vector<double>{1e300}));
  t = tensor(14, {1});
  t.add_float_data(2), t.add_float_data(3);
  EXPECT_EQ(numbers(read(t)), (std::vector<double>{2}));
  t = tensor(17, {2});
  t.add_int32_data(0x38), t.add_int32_data(0xb8);
  EXPECT_EQ(numbers(read(t)), (std::vector<double>{1, -1}));
}

TEST(Tensors, BoolsAreZeroOrOne) {
  pb::Tensor t = tensor(9, {3});
  t.set_raw_data(std::string("\0\2\1", 3));
  const ConstantPtr constant = read(t);
  EXPECT_EQ(std::memcmp(constant->view.data, "\0\1\1", 3), 0);
}

// The format packs a whole tensor; here each row begins at a byte.
TEST(Tensors, NarrowElementsAreSpreadRowByRow) {
  pb::Tensor t = tensor(21, {2, 3});
  t.set_raw_data(std::string("\x21\x43\x65", 3));
  const ConstantPtr nibbles = read(t);
  EXPECT_EQ(ints(nibbles), (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(std::memcmp(nibbles->view.data, "\x21\x03\x54\x06", 4), 0);
  t = tensor(22, {3});
  t.add_int32_data(0xe1), t.add_int32_data(0x03);
  EXPECT_EQ(ints(read(t)), (std::vector<int64_t>{1, -2, 3}));
  t = tensor(25, {2, 3});
  t.set_raw_data(std::string("\xe4\x04", 2));  // 0 1 2 3 0 1
  EXPECT_EQ(ints(read(t)), (std::vector<int64_t>{0, 1, 2, 3, 0, 1}));
  t = tensor(26, {5, 1});
  t.set_raw_data(std::string("\xe4\x02", 2));
  EXPECT_EQ(ints(read(t)), (std::vector<int64_t>{0, 1, -2, -1, -2}));
  t = tensor(21, {0, 3});
  EXPECT_EQ(ints(read(t)).size(), 0u);
}

TEST(Tensors, Strings) {
  pb::Tensor t = tensor(8, {2});
  t.add_string_data("a"), t.add_string_data(std::string("b\0c", 3));
  const ConstantPtr constant = read(t);
  EXPECT_EQ(Elements(constant->view).text(1).view(), std::string_view("b\0c", 3));
}

TEST(Tensors, ContentsMustFitTheShape) {
  pb::Tensor t = tensor(1, {3});
  t.set_raw_data("12345678");
  EXPECT_THAT(why(t), HasSubstr("8 bytes, its shape needs 12"));
  EXPECT_THAT(why(tensor(1, {3})), HasSubstr("0 items"));
  EXPECT_EQ(why(tensor(1, {3, 0})), "");
  EXPECT_THAT(why(tensor(1, {-1})), HasSubstr("dimension of -1"));
  EXPECT_THAT(why(tensor(1, {int64_t{1} << 40, int64_t{1} << 40})), HasSubstr("2^63"));
  EXPECT_THAT(why(tensor(11, {int64_t{1} << 60})), HasSubstr("2^63 bits"));
  EXPECT_THAT(why(tensor(1, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})), HasSubstr("rank 11"));
  EXPECT_THAT(why(tensor(27, {1})), HasSubstr("unknown element type 27"));
  EXPECT_THAT(why(tensor(-5, {1})), HasSubstr("unknown element type -5"));
  t = tensor(1, {1});
  t.mutable_segment()->set_begin(0);
  EXPECT_THAT(why(t), HasSubstr("segments"));
}

TEST(Tensors, LargeContentsAreNotCopied) {
  pb::Tensor t = tensor(1, {1024});
  t.set_raw_data(std::string(4096, '\1'));
  const void* before = t.raw_data().data();
  Tensors tensors({});
  const ConstantPtr constant = tensors.read(t);
  EXPECT_EQ(constant->view.data, before);
  EXPECT_EQ(tensors.read(t), constant);
}

TEST(Tensors, SparseOnesAreWrittenOut) {
  pb::SparseTensor s;
  s.add_dims(2), s.add_dims(3);
  *s.mutable_values() = tensor(1, {2});
  s.mutable_values()->add_float_data(5), s.mutable_values()->add_float_data(7);
  *s.mutable_indices() = tensor(7, {2});
  s.mutable_indices()->add_int64_data(1), s.mutable_indices()->add_int64_data(5);
  EXPECT_EQ(numbers(Tensors({}).read(s)), (std::vector<double>{0, 5, 0, 0, 0, 7}));
  pb::SparseTensor pairs = s;
  *pairs.mutable_indices() = tensor(7, {2, 2});
  for (int64_t i : {0, 2, 1, 0}) pairs.mutable_indices()->add_int64_data(i);
  EXPECT_EQ(numbers(Tensors({}).read(pairs)), (std::vector<double>{0, 0, 5, 7, 0, 0}));
  for (int64_t bad : {6, -1}) {
    pb::SparseTensor wrong = s;
    wrong.mutable_indices()->set_int64_data(1, bad);
    EXPECT_THROW(Tensors({}).read(wrong), Failure);
    wrong = pairs;
    wrong.mutable_indices()->set_int64_data(3, bad);
    EXPECT_THROW(Tensors({}).read(wrong), Failure);
  }
  s.set_dims(0, int64_t{1} << 40);
  EXPECT_THROW(Tensors({}).read(s), Failure);
}

class External : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / ("mica_external_" + std::to_string(::getpid()));
    std::filesystem::create_directories(root_ / "model" / "sub");
    std::vector<float> values(2000);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    for (const char* name : {"model/w.bin", "model/sub/w.bin", "secret.bin"})
      ASSERT_TRUE(write_file((root_ / name).string(), std::as_bytes(std::span(values))).ok());
    std::filesystem::create_symlink("../secret.bin", root_ / "model" / "link.bin");
    std::filesystem::create_symlink("w.bin", root_ / "model" / "inner.bin");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::string folder() const { return (root_ / "model").string(); }

  static pb::Tensor at(const std::string& location, const std::string& offset, const std::string& length,
                       int64_t count = 4) {
    pb::Tensor t = tensor(1, {count});
    t.set_data_location(1);
    const auto add = [&](const std::string& key, const std::string& value) {
      if (value.empty()) return;
      auto* entry = t.add_external_data();
      entry->set_key(key), entry->set_value(value);
    };
    add("location", location), add("offset", offset), add("length", length);
    return t;
  }
  std::filesystem::path root_;
};

TEST_F(External, ReadsWhereItIsTold) {
  EXPECT_EQ(numbers(read(at("w.bin", "8", "16"), folder())), (std::vector<double>{2, 3, 4, 5}));
  EXPECT_EQ(numbers(read(at("sub/w.bin", "", ""), folder())), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(numbers(read(at("inner.bin", "7984", "16"), folder())), (std::vector<double>{1996, 1997, 1998, 1999}));
  EXPECT_EQ(numbers(read(at("w.bin", "1", "16"), folder())).size(), 4u);  // not aligned: copied
}

TEST_F(External, MapsLargeOnesInPlace) {
  Tensors tensors(folder());
  pb::Tensor a = at("w.bin", "0", "", 1000), b = at("w.bin", "4000", "", 1000);
  const ConstantPtr first = tensors.read(a), second = tensors.read(b);
  EXPECT_EQ(first->view.as<char>() + 4000, second->view.as<char>());
}

TEST_F(External, IsNotReadWhereItIsGoingToBeWritten) {
  std::filesystem::create_hard_link(root_ / "model/w.bin", root_ / "hard.bin");
  std::filesystem::create_symlink("hard.bin", root_ / "soft.bin");
  for (const char* target : {"model/w.bin", "model/inner.bin", "hard.bin", "soft.bin"}) {
    Tensors tensors(folder(), {(root_ / "new.bin").string(), (root_ / target).string()});
    pb::Tensor weights = at("w.bin", "", ""), others = at("sub/w.bin", "", "");
    EXPECT_EQ(numbers(tensors.read(others)).size(), 4u);
    try {
      tensors.read(weights);
      ADD_FAILURE() << target;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error->code(), Code::kUsage);
    }
  }
}

TEST_F(External, StaysInTheFolder) {
  for (const char* location :
       {"../secret.bin", "/etc/passwd", "sub/../../secret.bin", "link.bin", "", "..", ".", "sub", "a\\b", "c:w.bin"})
    EXPECT_NE(why(at(location, "", ""), folder()), "") << location;
  EXPECT_THAT(why(at("link.bin", "", ""), folder()), HasSubstr("outside"));
  EXPECT_NE(why(at(std::string("w.bin\0x", 7), "", ""), folder()), "");
  EXPECT_THAT(why(at("w.bin", "", ""), ""), HasSubstr("folder is not known"));
  EXPECT_NE(why(at("missing.bin", "", ""), folder()), "");
}

TEST_F(External, ChecksOffsetsAndLengths) {
  EXPECT_THAT(why(at("w.bin", "7988", ""), folder()), HasSubstr("the file has 8000"));
  EXPECT_THAT(why(at("w.bin", "0", "15"), folder()), HasSubstr("needs 16"));
  EXPECT_THAT(why(at("w.bin", "-1", ""), folder()), HasSubstr("offset"));
  EXPECT_THAT(why(at("w.bin", "9223372036854775807", ""), folder()), HasSubstr("the file has 8000"));
  EXPECT_THAT(why(at("w.bin", "99999999999999999999", ""), folder()), HasSubstr("offset"));
  EXPECT_THAT(why(at("w.bin", "1x", ""), folder()), HasSubstr("offset"));
  EXPECT_NE(why(at("w.bin", "0", "", int64_t{1} << 50), folder()), "");
}

}  // namespace
}  // namespace mica::onnx
