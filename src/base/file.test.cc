#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/os.h"

namespace mica {
namespace {

namespace fs = std::filesystem;

Bytes as_bytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }
std::string text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

class File : public testing::Test {
 protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) / ("mica_file_" + std::to_string(now_ns()));
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string at(const char* name) const { return (folder / name).string(); }
  void put(const char* name, const std::string& text) { std::ofstream(folder / name, std::ios::binary) << text; }
  std::string get(const char* name) {
    std::ifstream in(folder / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  size_t entries() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {})); }
  fs::path folder;
};

TEST_F(File, MapsAndReadsAwkwardSizes) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{4095}, size_t{4096}, size_t{4097}, size_t{300001}}) {
    std::string text(size, 'x');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31);
    put("data", text);
    auto mapped = MappedFile::open(at("data"));
    ASSERT_TRUE(mapped.ok());
    EXPECT_EQ(mapped->mapped(), size > 0);
    EXPECT_EQ(text_of(mapped->bytes()), text);
    MappedFile moved = std::move(*mapped);
    EXPECT_EQ(text_of(moved.bytes()), text);
    auto read = read_file(at("data"), size);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(text_of(*read), text);
    if (size == 0) continue;
    auto limited = read_file(at("data"), size - 1);
    ASSERT_FALSE(limited.ok());
    EXPECT_EQ(limited.error().code(), Code::kLimit);
  }
}

TEST_F(File, ErrorsNameThePathAndTheReason) {
  auto missing = read_file(at("no_such"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code(), Code::kIo);
  EXPECT_EQ(missing.error().where(), at("no_such"));
  EXPECT_EQ(missing.error().what(), "cannot open: No such file or directory");
  EXPECT_FALSE(MappedFile::open(at("no_such")).ok());
  EXPECT_FALSE(MappedFile::open(folder.string()).ok());
  EXPECT_FALSE(read_file("").ok());
  EXPECT_FALSE(read_file(std::string_view("a\0b", 3)).ok());
  EXPECT_FALSE(read_file(std::string(5000, 'a')).ok());
  EXPECT_FALSE(write_file(at("none/x"), as_bytes("1")).ok());
  EXPECT_FALSE(write_file(folder.string(), as_bytes("1")).ok());
  EXPECT_FALSE(write_file("/dev/null", as_bytes("1")).ok());
}

TEST_F(File, ReadsFromAPipe) {
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  for (size_t limit : {size_t{200000}, size_t{199999}}) {
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGPIPE, SIG_IGN);
      const std::string text(200000, 'p');
      std::ofstream(at("pipe")) << text;
      _exit(0);
    }
    auto read = read_file(at("pipe"), limit);
    EXPECT_EQ(read.ok(), limit == 200000);
    EXPECT_EQ(read.ok() ? read->size() : limit + 1, 200000u);
    waitpid(child, nullptr, 0);
  }
}

TEST_F(File, WhatHasNoEndIsReadUpToALimit) {
  const auto endless = MappedFile::open("/dev/zero", 100000);
  ASSERT_FALSE(endless.ok());
  EXPECT_EQ(endless.error().code(), Code::kLimit);
  EXPECT_EQ(endless.error().where(), "/dev/zero");
  put("data", std::string(5000, 'x'));
  EXPECT_TRUE(MappedFile::open(at("data"), 10).ok());  // mapped: nothing is read
  EXPECT_FALSE(read_file("/dev/zero", 0).ok());
}

TEST_F(File, WritesAndReplaces) {
  for (const char* text : {"first", "", "another text"}) {
    ASSERT_TRUE(write_file(at("out"), as_bytes(text)).ok());
    EXPECT_EQ(get("out"), text);
    EXPECT_EQ(entries(), 1u);
  }
}

TEST_F(File, KeepsPermissionsAndLinks) {
  put("real", "old");
  fs::permissions(folder / "real", fs::perms::owner_all | fs::perms::group_write);
  fs::create_symlink("real", folder / "link");
  ASSERT_TRUE(write_file(at("link"), as_bytes("new")).ok());
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(get("real"), "new");
  EXPECT_EQ(fs::status(folder / "real").permissions(), fs::perms::owner_all | fs::perms::group_write);
  EXPECT_EQ(entries(), 2u);
}

TEST_F(File, NothingIsSeenBeforeCommit) {
  put("out", "old");
  {
    auto writer = FileWriter::create(at("out"));
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->write(as_bytes("half")).ok());
    EXPECT_EQ(get("out"), "old");
    FileWriter moved = std::move(*writer);
    EXPECT_EQ(entries(), 2u);
  }
  EXPECT_EQ(get("out"), "old");
  EXPECT_EQ(entries(), 1u);
  auto writer = FileWriter::create(at("out"));
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->commit().ok());
  EXPECT_EQ(get("out"), "");
  EXPECT_EQ(writer->write(as_bytes("more")).error().code(), Code::kState);
  EXPECT_EQ(writer->commit().error().code(), Code::kState);
}

// A limit on file sizes stands for a full disk: the write fails part of the way.
TEST_F(File, AFullDiskLeavesTheOldFile) {
  put("out", "old");
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string text(100000, 'x');
    const Status status = write_file(at("out"), as_bytes(text));
    const bool right = !status.ok() && status.error().code() == Code::kIo &&
                       status.error().where().find("out") != std::string_view::npos;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(get("out"), "old");
  EXPECT_EQ(entries(), 1u);
}

}  // namespace
}  // namespace mica
