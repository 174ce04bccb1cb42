#include "runtime/place.h"

#include <algorithm>

#include "base/memory.h"
#include "step/run.h"

namespace mica {
namespace {

// Views are computed on addresses; a made-up base stands for memory that has none yet.
char* const kBase = reinterpret_cast<char*>(uintptr_t{1} << 44);

constexpr size_t kMaxParts = 64;  // concatenations of more are copied by their own kernel

class ViewScope final : public RunScope {
 public:
  Status allocate_output(int, std::span<const int64_t>) override { return out_of_memory(); }
  Status adopt_output(int, OwnedTensor) override { return out_of_memory(); }
  Result<void*> allocate(size_t) override { return out_of_memory(); }
  Result<StringRef> keep(std::string_view) override { return out_of_memory(); }
  Status call(int, std::span<const RunValue>, std::span<CallResult>) override { return out_of_memory(); }
  Status check_stop() override { return {}; }
};

class Placer {
 public:
  Placer(const PlanFunction& function, const FunctionTypes& types, const PlaceOptions& options, Placement& out)
      : function_(function), types_(types), options_(options), out_(out) {}
  Status run() {
    MICA_TRY_STATUS(prepare());
    if (options_.compose)
      for (uint32_t s = options_.end_stage; s-- > options_.first_stage;) MICA_TRY_STATUS(compose(s));
    for (uint32_t s = options_.first_stage; s < options_.end_stage; ++s) MICA_TRY_STATUS(place_stage(s));
    for (size_t v = 0; v < out_.values.size(); ++v) finish_lifetime(static_cast<uint32_t>(v));
    return {};
  }

 private:
  using Kind = Placed::Kind;
  Placed& at(uint32_t v) { return out_.values[v]; }
  // The chain that stage s is in, or null.
  const RowChain* chain_of(uint32_t s) const {
    for (const RowChain& chain : options_.chains)
      if (s - options_.first_stage >= chain.first && s - options_.first_stage <= chain.last) return &chain;
    return nullptr;
  }
  // The stage with which stage s runs.
  uint32_t time_of(uint32_t s) const {
    const RowChain* chain = chain_of(s);
    return chain ? options_.first_stage + chain->last : s;
  }
  bool skipped(uint32_t s) const { return out_.skipped[s - options_.first_stage]; }

  Status prepare() {
    const size_t n = function_.values.size();
    MICA_TRY_STATUS(out_.values.resize(n));
    MICA_TRY_STATUS(out_.skipped.resize(options_.end_stage - options_.first_stage));
    MICA_TRY_STATUS(last_use_.resize(n));
    MICA_TRY_STATUS(uses_.resize(n));
    MICA_TRY_STATUS(producer_.resize(n));
    MICA_TRY_STATUS(wanted_.resize(n));
    MICA_TRY_STATUS(viewed_.resize(n));
    MICA_TRY_STATUS(reader_.resize(n));
    for (uint32_t& p : producer_) p = kNoIndex;
    for (uint32_t v : options_.live_out) wanted_[v] = true;
    for (uint32_t v = 0; v < n; ++v) MICA_TRY_STATUS(place_known(v));
    for (uint32_t s = options_.first_stage; s < options_.end_stage; ++s) {
      const Stage& stage = function_.stages[s];
      out_.skipped[s - options_.first_stage] = all_known(stage);
      for (uint32_t v : stage.outputs)
        if (v != kNoIndex) producer_[v] = s;
      if (skipped(s)) continue;
      for (uint32_t v : stage.inputs)
        if (v != kNoIndex) {
          last_use_[v] = time_of(s);
          ++uses_[v];
          reader_[v] = s;
        }
      if (stage.op->view && !stage.inputs.empty() && stage.inputs[0] != kNoIndex) viewed_[stage.inputs[0]] = true;
    }
    // What this segment does not make and does not know comes from the frame.
    for (uint32_t v = 0; v < n; ++v) {
      const InferValue& known = types_.value(v);
      if (producer_[v] != kNoIndex || at(v).kind != Kind::kNone || !known.present) continue;
      if (!known.type.is_tensor()) {
        at(v).kind = Kind::kObject;
        continue;
      }
      if (!known.type.shape.fixed()) continue;
      at(v).kind = Kind::kSlot;
      at(v).slot = v;
      at(v).view = shape_view(known.type);
    }
    return {};
  }

  Status place_known(uint32_t v) {
    const InferValue& known = types_.value(v);
    if (known.constant) {
      at(v).kind = Kind::kConstant;
      at(v).view = *known.constant;
    } else if (function_.values[v].kind == ValueKind::kConstant) {  // packed: only its type is there to see
      at(v).kind = Kind::kConstant;
      at(v).view = shape_view(known.type);
    }
    return {};
  }

  bool all_known(const Stage& stage) const {
    for (uint32_t v : stage.outputs)
      if (v != kNoIndex && !types_.value(v).constant) return false;
    return true;
  }

  static TensorView shape_view(const Type& type) {
    TensorView view;
    view.dtype = type.dtype;
    view.rank = type.shape.rank;
    for (int i = 0; i < view.rank; ++i) view.dims[static_cast<size_t>(i)] = type.shape[i].value();
    set_dense_strides(view);
    return view;
  }

  // A fresh view of value v in the order that the plan chose for it.
  TensorView ordered_view(uint32_t v) const {
    TensorView view = shape_view(types_.value(v).type);
    set_order(view, function_.values[v].channels_last && !wanted_[v]);
    return view;
  }

  // How value v stands in a block of its own. Views of it may want its rows side by side.
  TensorView own_view(uint32_t v) const {
    TensorView view = ordered_view(v);
    if (options_.spread && !viewed_[v]) spread_rows(view, function_.values[v].channels_last && !wanted_[v]);
    return view;
  }

  Status own_block(uint32_t v, uint32_t s, bool composed) {
    at(v).kind = Kind::kBlock;
    at(v).view = own_view(v);
    at(v).offset = 0;
    at(v).block = static_cast<int32_t>(out_.blocks.size());
    MICA_TRY_STATUS(out_.blocks.push_back({extent_bytes(at(v).view), s, s, composed}));
    join(v);
    return {};
  }

  // Value v stands in a block since now: the block knows when its values are read last.
  void join(uint32_t v) {
    if (at(v).kind != Kind::kBlock || !uses_[v]) return;
    Block& block = out_.blocks[static_cast<size_t>(at(v).block)];
    const int64_t last = last_use_[v];
    block.second = std::max(block.second, std::min(block.latest, last));
    block.latest = std::max(block.latest, last);
  }

  // The concatenation of stage s gets a block, and inputs that can be written there directly get parts of it.
  Status compose(uint32_t s) {
    const Stage& stage = function_.stages[s];
    if (!stage.op->compose || skipped(s) || stage.epilogue.count || stage.outputs.empty() ||
        stage.outputs[0] == kNoIndex)
      return {};
    const uint32_t v = stage.outputs[0];
    if (!types_.value(v).type.shape.fixed() || is_sub_byte(types_.value(v).type.dtype)) return {};
    bool any = false;
    for (uint32_t i = 0; i < stage.inputs.size(); ++i) any = any || composable(stage, i, s);
    if (!any) return {};
    if (at(v).kind == Kind::kNone) {
      if (wanted_[v])
        place_in_slot(v);
      else
        MICA_TRY_STATUS(own_block(v, s, true));
    }
    if (at(v).kind == Kind::kBlock) out_.blocks[static_cast<size_t>(at(v).block)].composed = true;
    for (uint32_t i = 0; i < stage.inputs.size(); ++i)
      if (composable(stage, i, s)) try_compose(stage, i, v);
    return {};
  }

  bool composable(const Stage& stage, uint32_t i, uint32_t s) const {
    const uint32_t u = stage.inputs[i];
    if (u == kNoIndex || producer_[u] == kNoIndex || producer_[u] >= s || out_.values[u].kind != Kind::kNone)
      return false;
    if (wanted_[u] || std::count(stage.inputs.begin(), stage.inputs.end(), u) != 1 ||
        !types_.value(u).type.shape.fixed())
      return false;
    const Stage& maker = function_.stages[producer_[u]];
    return !maker.op->view && function_.values[u].channels_last == function_.values[stage.outputs[0]].channels_last;
  }

  void try_compose(const Stage& stage, uint32_t i, uint32_t v) {
    const uint32_t u = stage.inputs[i];
    if (stage.inputs.size() > kMaxParts) return;
    TensorView sizes[kMaxParts], part;
    for (size_t k = 0; k < stage.inputs.size(); ++k) {
      const uint32_t input = stage.inputs[k];
      if (input == kNoIndex) continue;
      sizes[k] = at(input).kind == Kind::kConstant ? at(input).view : shape_view(types_.value(input).type);
    }
    if (!part_of(stage, {sizes, stage.inputs.size()}, at(v).view, part, i)) return;
    at(u) = at(v);
    at(u).offset += reinterpret_cast<intptr_t>(part.data);
    part.data = nullptr;
    at(u).view = part;
    join(u);
  }

  void place_in_slot(uint32_t v) {
    at(v).kind = Kind::kSlot;
    at(v).slot = v;
    at(v).view = ordered_view(v);
  }

  Status place_stage(uint32_t s) {
    const Stage& stage = function_.stages[s];
    if (skipped(s)) return {};
    const uint32_t time = time_of(s);
    if (time != s) {  // its result stands in a window of rows
      for (uint32_t v : stage.inputs)
        if (v != kNoIndex) touch(v, time);
      return {};
    }
    bool all_views = stage.op->view != nullptr && stage.epilogue.count == 0 && options_.views;
    for (uint32_t k = 0; k < stage.outputs.size(); ++k) {
      const uint32_t v = stage.outputs[k];
      if (v == kNoIndex) continue;
      const Type& type = types_.value(v).type;
      if (!type.is_tensor()) {
        at(v).kind = Kind::kObject;
        all_views = false;
        continue;
      }
      if (!type.shape.fixed()) {
        at(v).kind = Kind::kDynamic;
        at(v).slot = v;
        all_views = false;
        continue;
      }
      if (at(v).kind == Kind::kBlock || at(v).kind == Kind::kSlot) {
        all_views = false;
        touch(v, s);
        continue;
      }
      if (all_views && !wanted_[v] && try_view(stage, s, k)) continue;
      all_views = false;
      if (wanted_[v]) {
        place_in_slot(v);
        continue;
      }
      if (k == 0 && options_.in_place && !chain_of(s) && try_in_place(stage, s, v)) continue;
      MICA_TRY_STATUS(own_block(v, s, false));
    }
    if (all_views) out_.skipped[s - options_.first_stage] = true;
    for (uint32_t v : stage.inputs)
      if (v != kNoIndex) touch(v, s);
    return {};
  }

  // A block lives from its first part's producer to its last reader.
  void touch(uint32_t v, uint32_t s) {
    if (at(v).kind != Kind::kBlock) return;
    Block& block = out_.blocks[static_cast<size_t>(at(v).block)];
    block.first = std::min(block.first, s);
    block.last = std::max(block.last, s);
  }
  void finish_lifetime(uint32_t v) {
    if (at(v).kind == Kind::kBlock && uses_[v]) touch(v, last_use_[v]);
  }

  // Most kernels take pitched tensors, not permuted ones: a view must keep its elements' order and a dense innermost
  // run.
  static bool orderly(const TensorView& view, bool channels_last) {
    TensorView dense = view;
    set_order(dense, channels_last);
    int64_t previous = 0;
    for (int step = 0; step < view.rank; ++step) {
      const int i = channels_last && view.rank >= 3 ? (step == 0               ? 1
                                                       : step == view.rank - 1 ? 0
                                                                               : view.rank - step)
                                                    : view.rank - 1 - step;
      if (view.dim(i) == 1) continue;
      if (view.stride(i) < previous || view.stride(i) < dense.stride(i)) return false;
      if (previous == 0 && view.stride(i) != dense.stride(i)) return false;
      previous = view.stride(i);
    }
    return true;
  }

  // Whether the only reader of value v takes it as a view with its axes in any order.
  bool reader_takes(uint32_t v, const TensorView& view) const {
    if (!kWithPermuted || uses_[v] != 1) return false;
    const Stage& reader = function_.stages[reader_[v]];
    const RunDef* hook = find_run(*reader.op);
    TensorView inputs[8];
    const size_t own = own_input_count(reader);
    if (!hook || !hook->takes_permuted || own > std::size(inputs)) return false;
    size_t place = own;
    for (size_t i = 0; i < own; ++i) {
      const uint32_t u = reader.inputs[i];
      if (u == kNoIndex) continue;
      if (!types_.value(u).type.shape.fixed()) return false;
      inputs[i] = u == v ? view : shape_view(types_.value(u).type);
      if (u == v) place = i;
    }
    return place < own && hook->takes_permuted(reader.attributes.data(), {inputs, own}, place);
  }

  bool try_view(const Stage& stage, uint32_t s, uint32_t k) {
    const uint32_t u = stage.inputs.empty() ? kNoIndex : stage.inputs[0], v = stage.outputs[k];
    if (u == kNoIndex || stage.inputs.size() > 8 || stage.outputs.size() > 64) return false;
    const Placed& from = at(u);
    if (from.kind != Kind::kBlock && from.kind != Kind::kSlot) return false;
    ViewScope scope;
    RunValue in[8], out[64];
    for (size_t i = 0; i < stage.inputs.size(); ++i) {
      in[i].present = stage.inputs[i] != kNoIndex;
      if (in[i].present) in[i].tensor = at(stage.inputs[i]).view;
    }
    for (size_t i = 0; i < stage.outputs.size(); ++i) {
      out[i].present = stage.outputs[i] != kNoIndex;
      if (out[i].present) out[i].tensor = shape_view(types_.value(stage.outputs[i]).type);
    }
    scope.inputs = {in, stage.inputs.size()};
    scope.outputs = {out, stage.outputs.size()};
    scope.attributes_blob = stage.attributes.data();
    TensorView source = from.view, view = out[k].tensor;
    source.data = kBase;
    view.data = kBase;
    if (!stage.op->view(scope, source, view, static_cast<int>(k))) return false;
    if (!orderly(view, function_.values[v].channels_last) && !reader_takes(v, view)) return false;
    const int64_t offset = from.offset + (static_cast<char*>(view.data) - kBase);
    view.data = nullptr;
    at(v) = from;
    at(v).offset = offset;
    at(v).view = view;
    join(v);
    touch(v, s);
    return true;
  }

  bool try_in_place(const Stage& stage, uint32_t s, uint32_t v) {
    const auto inputs = static_cast<uint32_t>(stage.inputs.size());
    if (stage.op->in_place)  // what moves elements reads its other operands, indices say, while it writes
      return try_place_of(stage, s, v, 0, std::min(inputs, stage.op->dim_rule == DimRule::kMove ? 1u : 2u));
    const uint32_t i = s - options_.first_stage;
    if (i >= options_.shares_residual.size() || !options_.shares_residual[i]) return false;
    return try_place_of(stage, s, v, own_input_count(stage), inputs);
  }

  // Value v in the place of one of the inputs first to last - 1, if that one dies here.
  bool try_place_of(const Stage& stage, uint32_t s, uint32_t v, uint32_t first, uint32_t last) {
    const TensorView want = own_view(v);
    for (uint32_t i = first; i < last; ++i) {
      const uint32_t u = stage.inputs[i];
      if (u == kNoIndex || at(u).kind != Kind::kBlock || at(u).offset != 0 || producer_[u] == kNoIndex) continue;
      const Block& block = out_.blocks[static_cast<size_t>(at(u).block)];
      const bool same = at(u).view.dtype == want.dtype && at(u).view.rank == want.rank &&
                        at(u).view.dims == want.dims && at(u).view.strides == want.strides &&
                        block.bytes == extent_bytes(want);
      if (!same || block.composed || !only_reader(u, s) || std::count(stage.inputs.begin(), stage.inputs.end(), u) != 1)
        continue;
      at(v) = at(u);
      join(v);
      touch(v, s);
      return true;
    }
    return false;
  }

  // Stage s reads u last, and nobody reads another value of its block then or later.
  bool only_reader(uint32_t u, uint32_t s) const {
    const Block& block = out_.blocks[static_cast<size_t>(out_.values[u].block)];
    return last_use_[u] == s && block.latest == s && block.second < s;
  }

  const PlanFunction& function_;
  const FunctionTypes& types_;
  const PlaceOptions& options_;
  Placement& out_;
  Vector<uint32_t>&last_use_ = out_.last_use, &uses_ = out_.uses, &producer_ = out_.producer, &reader_ = out_.reader;
  Vector<bool>&wanted_ = out_.wanted, &viewed_ = out_.viewed;
};

}  // namespace

bool part_of(const Stage& stage, std::span<const TensorView> sizes, const TensorView& whole, TensorView& part,
             uint32_t i) {
  if (sizes.size() > kMaxParts) return false;
  ViewScope scope;
  RunValue in[kMaxParts];
  for (size_t k = 0; k < sizes.size(); ++k) {
    in[k].present = sizes[k].dtype != DType::kNone;
    in[k].tensor = sizes[k];
  }
  scope.inputs = {in, sizes.size()};
  scope.attributes_blob = stage.attributes.data();
  TensorView all = whole;
  all.data = kBase;
  part = sizes[i];
  if (!stage.op->compose(scope, all, part, static_cast<int>(i))) return false;
  part.data = reinterpret_cast<void*>(static_cast<char*>(part.data) - kBase);
  return true;
}

void set_order(TensorView& view, bool channels_last) {
  set_dense_strides(view);
  if (!channels_last || view.rank < 3 || is_sub_byte(view.dtype)) return;
  int64_t stride = element_bytes(view.dtype);
  view.strides[1] = stride;
  stride *= view.dim(1);
  for (int i = view.rank - 1; i >= 2; --i) {
    view.strides[static_cast<size_t>(i)] = stride;
    stride *= view.dim(i);
  }
  view.strides[0] = stride;
}

void spread_rows(TensorView& view, bool channels_last) {
  constexpr int64_t kSharedBytes = 512, kFewRows = 8, kLine = static_cast<int64_t>(kCacheLine);
  if (view.rank < 2 || view.empty() || is_sub_byte(view.dtype)) return;
  const int inner = channels_last && view.rank >= 3 ? 1 : view.rank - 1;
  const int64_t row = view.dim(inner) * element_bytes(view.dtype);
  if (row % kSharedBytes != 0 || view.count() / view.dim(inner) <= kFewRows) return;
  for (int i = 0; i < view.rank; ++i)
    if (i != inner) view.strides[static_cast<size_t>(i)] = view.stride(i) / row * (row + kLine);
}

int64_t extent_bytes(const TensorView& view) {
  if (view.empty()) return 0;
  if (is_sub_byte(view.dtype)) return dense_bytes(view.dtype, view.shape());
  int64_t last = element_bytes(view.dtype);
  for (int i = 0; i < view.rank; ++i) last += (view.dim(i) - 1) * view.stride(i);
  return last;
}

void Placement::clear() {
  values.clear();
  blocks.clear();
  skipped.clear();
  last_use.clear();
  uses.clear();
  producer.clear();
  reader.clear();
  wanted.clear();
  viewed.clear();
}

Status place_values(const PlanFunction& function, const FunctionTypes& types, const PlaceOptions& options,
                    Placement& out) {
  out.clear();
  return Placer(function, types, options, out).run();
}

}  // namespace mica
