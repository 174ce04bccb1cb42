#include "runtime/row_chains.h"

#include <gtest/gtest.h>

#include <string>

namespace mica {
namespace {

RowStage stage(int64_t in_rows, int64_t out_rows, RowWindow window, int32_t maker, int64_t row_bytes) {
  RowStage s;
  s.capable = true;
  s.window = window;
  s.in_rows = in_rows;
  s.out_rows = out_rows;
  s.row_bytes = row_bytes;
  s.weight_bytes = 4096;
  s.row_work = static_cast<double>(row_bytes) * 4;
  if (maker >= 0) s.operands[s.operand_count++] = {maker, true};
  return s;
}

// Expand, depthwise, project: 112 rows of 96 channels between.
std::vector<RowStage> block(int64_t row_bytes) {
  std::vector<RowStage> stages = {stage(112, 112, {}, -1, row_bytes),
                                  stage(112, 56, {.rows = {3, 2, 1}}, 0, row_bytes / 2),
                                  stage(56, 56, {}, 1, row_bytes / 8)};
  stages[0].last_reader = 1;
  stages[1].last_reader = 2;
  stages[2].escapes = true;
  return stages;
}

std::vector<RowChain> choose(const std::vector<RowStage>& stages, const RowLimits& limits) {
  Vector<RowChain> chains;
  EXPECT_TRUE(choose_row_chains(stages, limits, chains).ok());
  return {chains.begin(), chains.end()};
}

TEST(RowChains, ChosenWhereResultsLeaveTheCache) {
  const auto large = choose(block(112 * 96 * 4), {.l2_bytes = 1 << 20});
  ASSERT_EQ(large.size(), 1u);
  EXPECT_EQ(large[0].first, 0u);
  EXPECT_EQ(large[0].last, 2u);
  EXPECT_EQ(large[0].strips, 1);
  EXPECT_GT(large[0].gain_ns, 0);
  EXPECT_TRUE(choose(block(14 * 48 * 4), {.l2_bytes = 1 << 20}).empty());
  EXPECT_TRUE(choose(block(112 * 96 * 4), {.l2_bytes = 1 << 20, .mode = RowChainMode::kNever}).empty());
  EXPECT_EQ(choose(block(14 * 48 * 4), {.l2_bytes = 1 << 20, .mode = RowChainMode::kAlways}).size(), 1u);
  EXPECT_EQ(choose(block(112 * 96 * 4), {.l2_bytes = 1 << 20, .threads = 2}).at(0).strips, 4);
}

// Three rows of 640 places and 96 channels fit the cache with what is made of them; three of 1280 do not.
TEST(RowChains, ChosenAsLongAsABandsRowsFitTheCache) {
  const auto whole = [](int64_t places) {
    const auto chains = choose(block(places * 96 * 4), {.l2_bytes = 1 << 20});
    return !chains.empty() && chains[0].first == 0 && chains[0].last == 2;
  };
  EXPECT_TRUE(whole(112));
  EXPECT_TRUE(whole(640));
  EXPECT_FALSE(whole(1280));
}

// Longer rows are made in parts side by side.
TEST(RowChains, LongRowsAreParted) {
  const auto parts = [](int64_t places, int64_t columns) {
    auto stages = block(places * 96 * 4);
    for (RowStage& s : stages) s.in_columns = s.out_columns = columns;
    stages[1].window.columns = {3, 2, 1};
    stages[1].out_columns = stages[2].in_columns = stages[2].out_columns = columns / 2;
    const auto chains = choose(stages, {.l2_bytes = 1 << 20});
    return !chains.empty() && chains[0].first == 0 && chains[0].last == 2 ? chains[0].parts : 0;
  };
  EXPECT_EQ(parts(640, 640), 1);
  EXPECT_EQ(parts(1280, 1280), 2);
  EXPECT_EQ(parts(2560, 2560), 4);
  EXPECT_EQ(parts(1280, 100), 0);  // parts of fewer than 28 columns
  EXPECT_EQ(parts(1280, 0), 0);
}

// Of seven rows, one of two threads has four: the other one's wait costs more than the chain saves; of eight it does
// not wait.
TEST(RowChains, ThreadsWithFewerRowsWait) {
  const auto chosen = [](int64_t rows, int threads) {
    auto stages = block(14 * 576 * 4);
    stages[0].in_rows = stages[0].out_rows = stages[1].in_rows = 2 * rows;
    stages[1].out_rows = stages[2].in_rows = stages[2].out_rows = rows;
    for (RowStage& stage : stages) stage.row_work *= 20;
    return !choose(stages, {.l2_bytes = 1 << 20, .threads = threads}).empty();
  };
  EXPECT_TRUE(chosen(7, 1));
  EXPECT_FALSE(chosen(7, 2));
  EXPECT_TRUE(chosen(8, 2));
}

TEST(RowChains, ResultsThatAreReadElsewhereEndThem) {
  auto stages = block(112 * 96 * 4);
  stages[1].escapes = true;
  const auto chains = choose(stages, {.mode = RowChainMode::kAlways});
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].last, 1u);
  stages[0].escapes = true;
  EXPECT_EQ(choose(stages, {.mode = RowChainMode::kAlways}).size(), 0u);
}

TEST(RowChains, Prints) {
  const auto stages = block(112 * 96 * 4);
  char text[128];
  const size_t n = print(stages, {.first = 0, .last = 2, .band_rows = 4, .strips = 2, .gain_ns = 5000}, text, 128);
  EXPECT_EQ(std::string(text, n), "stages 0..2: 56 rows, 4 at a time, 2 strips of 1 parts, gain 5 us");
}

// Runs a schedule on row numbers: every row that is read stands in its window, every row of the result is made once.
void simulate(const std::vector<RowStage>& stages, const RowChain& chain) {
  RowSchedule schedule;
  ASSERT_TRUE(schedule_rows(stages, chain, schedule).ok());
  ASSERT_EQ(schedule.strip_begin.size(), static_cast<size_t>(chain.strips) + 1);
  std::vector<int> made(static_cast<size_t>(stages[chain.last].out_rows));
  for (int64_t s = 0; s < chain.strips; ++s) {
    struct Window {
      bool begun = false;
      int64_t base = 0;
      std::vector<int64_t> rows;  // which row stands where
    };
    std::vector<Window> windows(chain.last - chain.first);
    for (size_t i = 0; i < windows.size(); ++i)
      windows[i].rows.assign(static_cast<size_t>(schedule.window_rows[i]), -1);
    for (uint32_t a = schedule.strip_begin[static_cast<size_t>(s)];
         a < schedule.strip_begin[static_cast<size_t>(s) + 1]; ++a) {
      const RowAction& action = schedule.actions[a];
      const RowStage& stage = stages[chain.first + action.stage];
      if (action.slide) {
        Window& w = windows[action.stage];
        for (int64_t r = action.rows.begin; r < action.rows.end; ++r) {
          EXPECT_EQ(w.rows.at(static_cast<size_t>(r - w.base)), r);
          w.rows.at(static_cast<size_t>(r - action.rows.begin)) = r;
        }
        w.base = action.rows.begin;
        continue;
      }
      for (int k = 0; k < stage.operand_count; ++k) {
        if (stage.operands[k].maker < static_cast<int32_t>(chain.first)) continue;
        const Window& w = windows[static_cast<size_t>(stage.operands[k].maker) - chain.first];
        const RowRange read = rows_read(stage, stage.operands[k].windowed, action.rows);
        for (int64_t r = read.begin; r < read.end; ++r)
          EXPECT_EQ(w.rows.at(static_cast<size_t>(r - w.base)), r) << "stage " << action.stage;
      }
      for (int64_t r = action.rows.begin; r < action.rows.end; ++r) {
        if (action.stage == chain.last - chain.first) {
          ++made[static_cast<size_t>(r)];
          continue;
        }
        Window& w = windows[action.stage];
        if (!w.begun) w.base = action.rows.begin;
        w.begun = true;
        w.rows.at(static_cast<size_t>(r - w.base)) = r;
      }
    }
  }
  for (int n : made) EXPECT_EQ(n, 1);
}

TEST(RowChains, SchedulesMakeEveryRowOnceAndReadNoneThatIsGone) {
  for (int64_t stride : {1, 2, 3})
    for (int64_t extent : {1, 2, 3, 5, 9})
      for (int64_t pad : {0, 1, 4})
        for (int64_t rows : {1, 2, 7, 30}) {
          const int64_t middle = (rows + 2 * pad - extent) / stride + 1;
          if (rows + 2 * pad < extent) continue;
          std::vector<RowStage> stages = {stage(rows, rows, {}, -1, 64),
                                          stage(rows, middle, {.rows = {extent, stride, pad}}, 0, 64),
                                          stage(middle, middle, {.rows = {.extent = 3, .pad = 1}}, 1, 64)};
          stages.push_back(stage(middle, middle, {}, 2, 64));  // reads two results, one of them late
          stages[3].operands[stages[3].operand_count++] = {1, false};
          for (int64_t band : {1, 2, 3, 8})
            for (int64_t strips : {1, 2, 3})
              if (strips <= middle) simulate(stages, {.first = 0, .last = 3, .band_rows = band, .strips = strips});
        }
}

// Parts make every column of the result once, and of each other stage all that is read.
TEST(RowChains, PartsMakeEveryColumnThatIsRead) {
  for (const Reach window : {Reach{1, 1, 0}, Reach{3, 1, 1}, Reach{3, 2, 1}, Reach{9, 1, 4}, Reach{2, 3, 0}})
    for (int64_t columns : {4, 7, 30})
      for (int64_t parts : {1, 2, 3}) {
        const int64_t middle = (columns + 2 * window.pad - window.extent) / window.stride + 1;
        if (columns + 2 * window.pad < window.extent || middle < parts) continue;
        std::vector<RowStage> stages = {stage(9, 9, {}, -1, 64), stage(9, 9, {.columns = window}, 0, 64),
                                        stage(9, 9, {}, 1, 64)};
        stages[0].in_columns = stages[0].out_columns = stages[1].in_columns = columns;
        stages[1].out_columns = stages[2].in_columns = stages[2].out_columns = middle;
        const RowChain chain{.first = 0, .last = 2, .parts = parts};
        int64_t end = 0;
        for (int64_t part = 0; part < parts; ++part) {
          RowRange made[kMostChainStages];
          columns_of_part(stages, chain, part, made);
          EXPECT_EQ(made[2].begin, end);
          end = made[2].end;
          for (uint32_t i = 1; i < 3; ++i) {
            const RowRange read = columns_read(stages[i], true, made[i]);
            EXPECT_LE(made[i - 1].begin, read.begin);
            EXPECT_GE(made[i - 1].end, read.end);
            EXPECT_LE(made[i - 1].end, stages[i - 1].out_columns);
          }
        }
        EXPECT_EQ(end, middle);
      }
}

}  // namespace
}  // namespace mica
