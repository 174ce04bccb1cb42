#include "base/os.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/file.h"

namespace mica {
namespace {

namespace fs = std::filesystem;

TEST(Os, ClocksGoForward) {
  const int64_t start = now_ns(), cpu = thread_cpu_ns(), process = process_cpu_ns();
  volatile double sum = 0;
  while (thread_cpu_ns() - cpu < 2000000) sum = sum + 1;
  EXPECT_GE(now_ns() - start, 2000000);
  EXPECT_GE(process_cpu_ns() - process, 1900000);
}

TEST(Os, ResidentMemoryFollowsTouching) {
  const size_t bytes = size_t{32} << 20, before = current_rss_bytes();
  char* memory = static_cast<char*>(map_memory(bytes, true));
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % (size_t{2} << 20), 0u);
  EXPECT_EQ(memory[bytes - 1], 0);
  std::memset(memory, 1, bytes);
  EXPECT_GE(current_rss_bytes(), before + bytes * 9 / 10);
  EXPECT_GE(peak_rss_bytes(), before + bytes * 9 / 10);
  unmap_memory(memory, bytes);
  EXPECT_LT(current_rss_bytes(), before + bytes / 2);
}

TEST(Os, MapMemorySizes) {
  for (size_t bytes : {size_t{1}, page_size() + 1, (size_t{2} << 20) - 1, (size_t{2} << 20) + 5}) {
    for (bool huge : {false, true}) {
      char* memory = static_cast<char*>(map_memory(bytes, huge));
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % page_size(), 0u);
      memory[0] = memory[bytes - 1] = 1;
      unmap_memory(memory, bytes);
    }
  }
  EXPECT_EQ(map_memory(0, false), nullptr);
  EXPECT_EQ(map_memory(PTRDIFF_MAX, true), nullptr);
  EXPECT_EQ(map_memory(SIZE_MAX, false), nullptr);
  unmap_memory(nullptr, 100);
}

TEST(Os, Environment) {
  ASSERT_EQ(setenv("MICA_TEST_VARIABLE", "a b", 1), 0);
  EXPECT_EQ(environment("MICA_TEST_VARIABLE"), "a b");
  unsetenv("MICA_TEST_VARIABLE");
  EXPECT_EQ(environment("MICA_TEST_VARIABLE"), "");
}

TEST(Os, AffinityCounts) {
  cpu_set_t old, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof old, &old), 0);
  EXPECT_EQ(usable_cpus(), CPU_COUNT(&old));
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &old)) CPU_SET(i, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cpus(), 1);
  EXPECT_EQ(default_threads(), 1);
  sched_setaffinity(0, sizeof old, &old);
  EXPECT_GE(default_threads(), 1);
  EXPECT_LE(default_threads(), usable_cpus());
}

TEST(Os, ThreadsMoveOffAProcessor) {
  std::atomic<bool> stop{false};
  std::atomic<int> at{-1};
  std::thread thread([&] {
    while (!stop.load()) at.store(current_processor());
  });
  const pthread_t handle = thread.native_handle();
  cpu_set_t all, one, now;
  ASSERT_EQ(pthread_getaffinity_np(handle, sizeof all, &all), 0);
  const int from = current_processor();
  CPU_ZERO(&one);
  CPU_SET(from, &one);
  bool moved = false;
  for (int i = 0; i < 50 && !moved; ++i) {  // the system may bring it back at any time
    pthread_setaffinity_np(handle, sizeof one, &one);
    pthread_setaffinity_np(handle, sizeof all, &all);
    move_off_processor(handle, from);
    at.store(-1);
    while (at.load() < 0) sched_yield();
    moved = at.load() != from;
  }
  EXPECT_EQ(moved, usable_cpus() > 1);
  ASSERT_EQ(pthread_getaffinity_np(handle, sizeof now, &now), 0);
  EXPECT_TRUE(CPU_EQUAL(&all, &now));
  move_off_processor(handle, -1);
  move_off_processor(handle, 1 << 20);
  stop.store(true);
  thread.join();
}

class SystemFiles : public testing::Test {
 protected:
  void SetUp() override { root = fs::path(testing::TempDir()) / ("mica_quota_" + std::to_string(now_ns())); }
  void TearDown() override { fs::remove_all(root); }
  void put(const std::string& path, const std::string& text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  double quota() { return cpu_quota(root.string()); }
  fs::path root;
};

TEST_F(SystemFiles, CacheSizes) {
  EXPECT_EQ(cache_bytes(1, root.string()), 0u);
  const auto cache = [&](const char* index, const char* level, const char* type, const char* size) {
    const std::string folder = std::string("sys/devices/system/cpu/cpu0/cache/index") + index;
    put(folder + "/level", level);
    put(folder + "/type", type);
    put(folder + "/size", size);
  };
  cache("0", "1\n", "Instruction\n", "64K\n");
  cache("1", "1\n", "Data\n", "48K\n");
  cache("2", "2\n", "Unified\n", "2M\n");
  EXPECT_EQ(cache_bytes(1, root.string()), 48u << 10);
  EXPECT_EQ(cache_bytes(2, root.string()), 2u << 20);
  EXPECT_EQ(cache_bytes(3, root.string()), 0u);
  EXPECT_EQ(cache_bytes(9), 0u);
}

TEST_F(SystemFiles, NoneWithoutGroups) {
  EXPECT_EQ(quota(), 0);
  put("proc/self/cgroup", "garbage");
  EXPECT_EQ(quota(), 0);
  put("proc/self/cgroup", "::::\n\n0::relative\n");
  EXPECT_EQ(quota(), 0);
}

TEST_F(SystemFiles, Version2TakesTheTightestAncestor) {
  put("proc/self/cgroup", "0::/outer/inner\n");
  put("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), 0);
  put("sys/fs/cgroup/outer/cpu.max", "250000 100000\n");
  EXPECT_EQ(quota(), 2.5);
  put("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(quota(), 0.5);
}

TEST_F(SystemFiles, Version2InAContainer) {
  put("proc/self/cgroup", "0::/\n");
  put("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(SystemFiles, Version1) {
  put("proc/self/cgroup", "5:memory:/m\n3:cpu,cpuacct:/docker/abc\n1:cpuset:/\n");
  put("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "-1\n");
  put("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 0);
  put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n");
  put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 3);
}

}  // namespace
}  // namespace mica
