// A plan with one of everything, for the tests of files, validation and text.
#pragma once
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/memory.h"
#include "kernels/pack/form.h"
#include "plan/file.h"

namespace mica {

enum class TestMode : uint8_t { kNearest, kLinear };
inline constexpr std::string_view kTestModes[] = {"nearest", "linear"};
constexpr std::span<const std::string_view> names_of(TestMode) { return kTestModes; }

// A field of each kind.
struct TestAttributes {
  bool flag = false;
  int64_t number = 0;
  float scale = 1;
  DType to = DType::kF32;
  Ints ints;
  Floats floats;
  Dims dims;
  Name text;
  TestMode mode = TestMode::kNearest;
  template <class V>
  void visit(V&& v) {
    v("flag", flag, "");
    v("number", number, "");
    v("scale", scale, "");
    v("to", to, "");
    v("ints", ints, "");
    v("floats", floats, "");
    v("dims", dims, "");
    v("text", text, "");
    v("mode", mode, "");
  }
};

class AlignedBytes {
 public:
  explicit AlignedBytes(Bytes bytes)
      : data_(static_cast<std::byte*>(allocate(bytes.size(), 64)), deallocate), size_(bytes.size()) {
    if (size_) std::memcpy(data_.get(), bytes.data(), size_);
  }
  Bytes view() const { return {data_.get(), size_}; }
  std::byte* data() { return data_.get(); }

 private:
  std::unique_ptr<std::byte, void (*)(void*)> data_;
  size_t size_;
};

struct BytesSink final : Sink {
  std::vector<std::byte> bytes;
  Status write(Bytes part) override {
    bytes.insert(bytes.end(), part.begin(), part.end());
    return {};
  }
};

inline AlignedBytes written(const Plan& plan, const WriteOptions& options = {}) {
  BytesSink sink;
  Result<FileSizes> sizes = write_plan(plan, sink, options);
  if (!sizes.ok() || sizes->total != sink.bytes.size()) sink.bytes.clear();
  return AlignedBytes(sink.bytes);
}

// main(x f32[batch,3,8,time], y seq): a custom operator with all attributes, a stage with an epilogue, one with a
// region; constants of numbers, strings, packed numbers, sub-byte elements and none; states, metadata.
struct TestPlan {
  OpDef op_all = {.name = "all_attributes", .attributes = attr_class<TestAttributes>()};
  OpDef op_relu = {.name = "reluu", .inputs = {1, 3}};
  OpDef op_call = {.name = "call", .inputs = {0, kAnyNumber}, .outputs = {1, kAnyNumber}, .regions = 1};
  TestAttributes attributes;
  std::vector<float> numbers = {1, 2, 3, 4, 5, 6}, packed;
  std::vector<std::byte> nibbles = std::vector<std::byte>(6, std::byte{0x21});
  Plan plan;

  const OpDef* find(std::string_view name) const {
    for (const OpDef* op : {&op_all, &op_relu, &op_call})
      if (op->name == name) return op;
    return nullptr;
  }
  ReadOptions reading() const {
    return {
        .find = [](const void* self, std::string_view name) { return static_cast<const TestPlan*>(self)->find(name); },
        .self = this};
  }

  TestPlan() {
    const Dim batch = plan.dims.symbol("batch"), time = plan.dims.symbol("time", SymbolKind::kBounded);
    plan.dims.symbol_info(1).bound = 256;
    const Dim half = plan.dims.floor_div(plan.dims.add(time, 3), 2),
              both = plan.dims.max(plan.dims.mul(batch, half), time);
    const Type image = Type::tensor(DType::kF32, {batch, 3, 8, time}), other = Type::tensor(DType::kF32, {both, 1});
    for (const char* name : {"x", "y", "out", "first", "key", "value"}) ok(plan.add_name(name).ok());
    add_constants();
    ok(plan.functions.resize(2).ok());
    PlanFunction& main = plan.functions[0];
    add(main, {.kind = ValueKind::kArgument, .type = image, .name = 0});  // 0
    add(main, {.type = image, .channels_last = true});                    // 1
    add(main, {.type = other, .name = 2, .keep = true});                  // 2
    for (uint32_t c = 0; c < plan.constants.size(); ++c)                  // 3 ...
      add(main, {.kind = ValueKind::kConstant,
                 .type = Type::tensor(plan.constants[c].dtype, plan.constants[c].shape),
                 .constant = c});
    add(main, {.kind = ValueKind::kArgument, .type = Type::optional(Type::sequence(DType::kI64, {Dim(2), half}))});
    const auto last = static_cast<uint32_t>(main.values.size() - 1);
    fill(main.inputs, {0, last});
    fill(main.outputs, {2, 1});
    add_stages(main, both);
    PlanFunction& region = plan.functions[1];
    add(region, {.kind = ValueKind::kArgument, .type = Type::tensor(DType::kBool)});
    fill(region.inputs, {0});
    fill(region.outputs, {0});
    ok(plan.inputs.push_back({0}).ok() && plan.inputs.push_back({1}).ok());
    ok(plan.outputs.push_back({2}).ok() && plan.outputs.push_back({kNoIndex}).ok());
    ok(plan.states.push_back({0, 1}).ok() && plan.metadata.push_back({4, 5}).ok());
  }

 private:
  static void ok(bool good) {
    if (!good) std::abort();
  }
  static void add(PlanFunction& function, PlanValue value) { ok(function.values.push_back(std::move(value)).ok()); }
  static void fill(Vector<uint32_t>& list, std::initializer_list<uint32_t> items) {
    for (uint32_t item : items) ok(list.push_back(item).ok());
  }

  void add_constants() {
    const auto constant = [&](DType dtype, Shape shape, const void* data, size_t bytes, PackKey key = {}) {
      PlanConstant made;
      made.dtype = dtype;
      made.shape = shape;
      made.packing = key;
      made.data = data;
      made.bytes = bytes;
      ok(plan.constants.push_back(std::move(made)).ok());
    };
    constant(DType::kF32, {2, 3}, numbers.data(), 24);
    static const StringRef kTexts[] = {{"a", 1}, {nullptr, 0}, {"b\0c", 3}};
    constant(DType::kString, {3}, kTexts, sizeof kTexts);
    const PackKey key = key_of({.kind = PackKind::kPanels16, .layout = PackLayout::kMatrix});
    const int64_t dims[] = {3, 2};
    packed.resize(static_cast<size_t>(packed_floats(key, dims)));
    pack_by_key(key, dims, numbers.data(), packed.data());
    constant(DType::kF32, {3, 2}, packed.data(), packed.size() * 4, key);
    constant(DType::kU4, {3, 3}, nibbles.data(), 6);
    constant(DType::kI64, {0, 5}, nullptr, 0);
  }

  void add_stages(PlanFunction& main, Dim both) {
    attributes.flag = true;
    attributes.number = -7;
    attributes.scale = 0.5f;
    attributes.to = DType::kBf16;
    attributes.ints = {1, -2, 3};
    attributes.floats = {0.25f, -0.0f};
    attributes.dims = {both, Dim(4)};
    attributes.text.assign("ij->ji");
    attributes.mode = TestMode::kLinear;
    ok(main.stages.resize(3).ok());
    Stage& first = main.stages[0];
    first.op = &op_all;
    ok(first.attributes.append(std::as_bytes(std::span(&attributes, 1))).ok());
    first.name = 3;
    fill(first.inputs, {0});
    fill(first.outputs, {1});
    Stage& second = main.stages[1];
    second.op = &op_relu;
    fill(second.inputs, {1, kNoIndex, 3, 1});
    fill(second.outputs, {2});
    second.epilogue.count = 2;
    second.epilogue.ops[0] = {.function = Pointwise::kClip, .a = 0, .b = 6};
    second.epilogue.ops[1] = {.function = Pointwise::kAdd, .operand = 3, .swapped = true};
    Stage& third = main.stages[2];
    third.op = &op_call;
    fill(third.inputs, {4, 5, 6});
    fill(third.outputs, {kNoIndex});
    fill(third.functions, {1});
  }
};

}  // namespace mica
