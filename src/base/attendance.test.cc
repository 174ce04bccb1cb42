#include "base/attendance.h"

#include <gtest/gtest.h>

namespace mica {
namespace {

constexpr int64_t kMs = 1000000;

TEST(Attendance, SmallLossesAreBorne) {
  Attendance attendance(4);
  for (int64_t i = 1; i <= 1000; ++i) EXPECT_FALSE(attendance.lost(kMs, i * 10 * kMs, i * 10 * kMs)) << i;
  EXPECT_TRUE(attendance.complete());
  Attendance fresh(2);
  EXPECT_FALSE(fresh.lost(kMs / 4, kMs / 4, kMs / 4));  // a quarter of a millisecond is nobody's fault
}

TEST(Attendance, OneThreadLessForEachGreatLoss) {
  Attendance attendance(3);
  EXPECT_TRUE(attendance.lost(5 * kMs, 10 * kMs, 10 * kMs));
  EXPECT_EQ(attendance.admitted(), 2);
  EXPECT_TRUE(attendance.lost(5 * kMs, 20 * kMs, 20 * kMs));
  EXPECT_EQ(attendance.admitted(), 1);
  EXPECT_FALSE(attendance.lost(5 * kMs, 30 * kMs, 30 * kMs));  // the caller stays
  EXPECT_EQ(attendance.admitted(), 1);
}

// Of a minute beside a process that takes a worker's processor for half of the time, few milliseconds are lost.
TEST(Attendance, PausesDoubleWhileNothingChanges) {
  Attendance attendance(2);
  int64_t now = 0, lost = 0, trials = 0;
  while (now < 60000 * kMs) {
    now += kMs;
    if (!attendance.complete()) {
      if (!attendance.due(now)) continue;
      attendance.admit_all(now);
    }
    now += 8 * kMs;  // a slice with a processor, one without
    lost += 4 * kMs;
    ++trials;
    EXPECT_TRUE(attendance.lost(4 * kMs, now, now));
  }
  EXPECT_LT(lost, 1200 * kMs);
  EXPECT_GT(trials, 60000 / 300);  // and all threads are tried several times a second
}

TEST(Attendance, GoodWorkShortensThePause) {
  Attendance attendance(2);
  int64_t now = 0;
  for (int i = 0; i < 10; ++i) {
    now += 8 * kMs;
    EXPECT_TRUE(attendance.lost(4 * kMs, now, now));
    now += 300 * kMs;
    EXPECT_TRUE(attendance.due(now));
    attendance.admit_all(now);
  }
  now += 1000 * kMs;  // without a loss
  EXPECT_FALSE(attendance.lost(kMs, now, now));
  now += 4 * kMs;
  EXPECT_TRUE(attendance.lost(1000 * kMs, now, now));
  EXPECT_FALSE(attendance.due(now + 3 * kMs));
  EXPECT_TRUE(attendance.due(now + 4 * kMs));
}

}  // namespace
}  // namespace mica
