#include "export/layout.h"

#include <algorithm>
#include <numeric>

namespace mica {
namespace {

constexpr double kLetter = 6.6, kPadding = 16, kHeight = 36, kGapX = 24, kGapY = 44;
constexpr size_t kMostLetters = 34;
constexpr int kSweeps = 6;

size_t letters(const std::string& text) {
  return std::min(kMostLetters,
                  static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; })));
}

struct Layers {
  std::vector<size_t> layer_of;
  std::vector<std::vector<size_t>> rows;
  std::vector<std::vector<size_t>> up, down;  // neighbours by box
};

// Boxes come after those that they need, except what stands in regions, whose arrows stay among themselves.
Layers make_layers(const Diagram& diagram) {
  const size_t n = diagram.boxes.size();
  Layers made{std::vector<size_t>(n, 0), {}, std::vector<std::vector<size_t>>(n), std::vector<std::vector<size_t>>(n)};
  for (const Diagram::Arrow& arrow : diagram.arrows) {
    made.down[arrow.from].push_back(arrow.to);
    made.up[arrow.to].push_back(arrow.from);
  }
  for (size_t i = 0; i < n; ++i)
    for (size_t from : made.up[i])
      if (from < i) made.layer_of[i] = std::max(made.layer_of[i], made.layer_of[from] + 1);
  // Boxes that nothing leads into, such as constants, go down to just above their reader.
  for (size_t i = n; i-- > 0;) {
    if (!made.up[i].empty() || made.down[i].empty() || diagram.boxes[i].kind == Diagram::Kind::kInput) continue;
    size_t least = SIZE_MAX;
    for (size_t to : made.down[i]) least = std::min(least, made.layer_of[to]);
    if (least > 0 && least != SIZE_MAX) made.layer_of[i] = std::max(made.layer_of[i], least - 1);
  }
  for (size_t i = 0; i < n; ++i) {
    if (made.rows.size() <= made.layer_of[i]) made.rows.resize(made.layer_of[i] + 1);
    made.rows[made.layer_of[i]].push_back(i);
  }
  return made;
}

class Placer {
 public:
  Placer(const Layers& layers, std::vector<Position>& at) : layers_(layers), at_(at) {}

  void run() {
    rows_ = layers_.rows;
    for (auto& row : rows_) pack(row);
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (size_t i = 0; i < rows_.size(); ++i)
        settle(rows_[sweep % 2 ? rows_.size() - 1 - i : i], sweep % 2 ? layers_.down : layers_.up);
    }
    double y = 0;
    for (const auto& row : rows_) {
      for (size_t box : row) at_[box].y = y;
      y += kHeight + kGapY;
    }
  }

 private:
  void pack(const std::vector<size_t>& row) {
    double x = 0;
    for (size_t box : row) at_[box].x = x, x += at_[box].width + kGapX;
    for (size_t box : row) at_[box].x -= x / 2;  // around the middle
  }

  // Orders a row by where its neighbours are, and moves boxes there as far as they do not overlap.
  void settle(std::vector<size_t>& row, const std::vector<std::vector<size_t>>& neighbours) {
    std::vector<double> wish(at_.size(), 0);
    for (size_t box : row) {
      double sum = 0;
      for (size_t other : neighbours[box]) sum += at_[other].x + at_[other].width / 2;
      const auto count = static_cast<double>(neighbours[box].size());
      wish[box] = count > 0 ? sum / count : at_[box].x + at_[box].width / 2;
    }
    std::ranges::stable_sort(row, {}, [&](size_t box) { return wish[box]; });
    double right = -1e18;
    double drift = 0;
    for (size_t box : row) {
      at_[box].x = std::max(wish[box] - at_[box].width / 2, right);
      right = at_[box].x + at_[box].width + kGapX;
      drift += wish[box] - (at_[box].x + at_[box].width / 2);
    }
    drift /= static_cast<double>(std::max<size_t>(row.size(), 1));
    for (size_t box : row) at_[box].x += drift;
  }

  const Layers& layers_;
  std::vector<Position>& at_;
  std::vector<std::vector<size_t>> rows_;
};

}  // namespace

std::vector<Position> layout(const Diagram& diagram) {
  std::vector<Position> at(diagram.boxes.size());
  for (size_t i = 0; i < at.size(); ++i) {
    const auto wide = static_cast<double>(std::max(letters(diagram.boxes[i].title), letters(diagram.boxes[i].name)));
    at[i].width = wide * kLetter + kPadding;
    at[i].height = kHeight;
  }
  const Layers layers = make_layers(diagram);
  Placer(layers, at).run();
  double left = 0;
  for (const Position& p : at) left = std::min(left, p.x);
  for (Position& p : at) p.x -= left;
  return at;
}

}  // namespace mica
