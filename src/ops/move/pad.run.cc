// A pad as copies of parts: the input itself, and what stands around it. Every part is a copy with strides of its own:
// repeated edges step by 0, reflections backwards.
#include "ops/move/pad.h"

#include "step/copy_step.h"

namespace mica {
namespace {

// Elements of one axis of the output: where they stand and where they come from.
struct Segment {
  int64_t to, length, from, step;
};
struct Segments {
  int count = 0;
  Segment list[3];
};

// The parts of an axis of `size` elements in an output of `length`, `before` of them in front. False when a part would
// come from more than one run of the input.
bool cut_axis(PadMode mode, int64_t size, int64_t before, int64_t length, Segments& s) {
  const int64_t first = std::max<int64_t>(before, 0), last = std::min(length, before + size);
  if (last <= first) return false;
  const int64_t front = first, back = length - last;
  s.list[s.count++] = {first, last - first, first - before, 1};
  if (mode == PadMode::kReflect && (front >= size || back >= size)) return false;
  if (mode == PadMode::kWrap && (front > size || back > size)) return false;
  if (mode == PadMode::kConstant) return true;
  if (front > 0)
    s.list[s.count++] = mode == PadMode::kEdge      ? Segment{0, front, 0, 0}
                        : mode == PadMode::kReflect ? Segment{0, front, front, -1}
                                                    : Segment{0, front, size - front, 1};
  if (back > 0)
    s.list[s.count++] = mode == PadMode::kEdge      ? Segment{last, back, size - 1, 0}
                        : mode == PadMode::kReflect ? Segment{last, back, size - 2, -1}
                                                    : Segment{last, back, 0, 1};
  return true;
}

// Copies every combination of the axes' parts.
Status copy_parts(BindScope& scope, const Segments* axes) {
  const move::Side from = move::input_side(scope, 0), to = move::output_side(scope, 0);
  const int rank = to.view.rank;
  int64_t counts[kMaxRank], at[kMaxRank] = {};
  for (int i = 0; i < rank; ++i) counts[i] = axes[i].count;
  do {
    move::Side source = from, target = to;
    for (int i = 0; i < rank; ++i) {
      const Segment& s = axes[i].list[at[i]];
      source = move::part_of(source, i, s.from, s.length, s.step);
      target = move::part_of(target, i, s.to, s.length);
    }
    MICA_TRY_STATUS(move::add_copy_step(scope, source, target));
  } while (next_index(at, std::span<const int64_t>(counts, static_cast<size_t>(rank))));
  return {};
}

// Fills slabs around the middle with the constant: of each axis what stands before and after, over the middle of
// earlier axes.
Status fill_around(BindScope& scope, const Segments* axes, const move::Side& value) {
  move::Side rest = move::output_side(scope, 0);
  const TensorView whole = rest.view;
  for (int i = 0; i < whole.rank; ++i) {
    const Segment& middle = axes[i].list[0];
    const int64_t after = middle.to + middle.length;
    for (const auto& [begin, length] : {std::pair<int64_t, int64_t>{0, middle.to}, {after, whole.dim(i) - after}}) {
      if (length <= 0) continue;
      const move::Side slab = move::part_of(rest, i, begin, length);
      move::Side source = value;
      source.view = slab.view;
      source.view.strides.fill(0);
      MICA_TRY_STATUS(move::add_copy_step(scope, source, slab));
    }
    rest = move::part_of(rest, i, middle.to, middle.length);
  }
  return {};
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  if (!move::can_copy(scope) || !scope.input(1).constant || (scope.has(3) && !scope.input(3).constant)) return false;
  const TensorView &in = scope.input(0).view, &out = scope.output(0).view;
  const PadMode mode = scope.attributes<Pad>().mode;
  const TensorView* axes = scope.has(3) ? &scope.input(3).view : nullptr;
  MICA_TRY(const Padding padding, read_padding(scope.input(1).view, axes, in.rank));
  Segments segments[kMaxRank];
  int64_t parts = 1;
  for (int i = 0; i < in.rank; ++i) {
    if (!cut_axis(mode, in.dim(i), padding.before[i], out.dim(i), segments[i])) return false;
    parts *= segments[i].count;
  }
  if (parts > 27) return false;  // three padded axes; more would be many tiny steps
  if (mode == PadMode::kConstant) {
    MICA_TRY_STATUS(fill_around(scope, segments, {.operand = scope.has(2) ? 2 : move::kZero, .view = {}, .offset = 0}));
  }
  if (!scope.stands_in_output) MICA_TRY_STATUS(copy_parts(scope, segments));
  return true;
}

}  // namespace

MICA_RUN(pad) = {.bind = bind};

}  // namespace mica
