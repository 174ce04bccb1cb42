// File → plan. Constants stay where they are; strings, which are addresses in memory, and halves are built anew.
#include "base/checked.h"
#include "base/half.h"
#include "base/nearest.h"
#include "base/os.h"
#include "base/parts.h"
#include "plan/file_parts.h"

namespace mica {
namespace {

Status read_dims(Bytes bytes, DimTable& dims) {
  ByteCursor in(bytes, "DIMS");
  const uint32_t count = in.count(kMaxDimEntries, kMinDimBytes);
  for (uint32_t i = 0; i < count; ++i) {
    DimTable::Entry entry;
    entry.op = in.u8();
    SymbolInfo symbol;
    int64_t args[256];
    if (entry.op == 0) {
      symbol.kind = static_cast<SymbolKind>(in.u8());
      symbol.bound = in.i64();
      const std::string_view name = in.text();
      MICA_CHECK(name.find('\0') == std::string_view::npos && symbol.name.assign(name), kBadFile,
                 "the name of dimension {} is damaged", i);
      entry.symbol = &symbol;
    } else {
      const size_t n = in.u8();
      for (size_t a = 0; a < n; ++a) args[a] = in.i64();
      entry.args = {args, n};
    }
    MICA_TRY_STATUS(in.status());
    MICA_TRY_STATUS(dims.restore(entry));
  }
  return in.finish();
}

Status read_names(Bytes bytes, Plan& plan) {
  ByteCursor in(bytes, "NAME");
  const uint32_t count = in.count(kMaxNames, kMinTextBytes);
  MICA_TRY_STATUS(plan.names.reserve(count));
  for (uint32_t i = 0; i < count; ++i) {
    const std::string_view name = in.text();
    MICA_TRY_STATUS(in.status());
    MICA_TRY(const uint32_t index, plan.add_name(name));
    static_cast<void>(index);
  }
  return in.finish();
}

Status read_main(Bytes bytes, Plan& plan) {
  ByteCursor in(bytes, "MAIN");
  for (Vector<PlanPort>* ports : {&plan.inputs, &plan.outputs})
    for (uint32_t i = 0, n = in.count(kMaxOperands, 4); i < n; ++i) MICA_TRY_STATUS(ports->push_back({in.u32()}));
  for (uint32_t i = 0, n = in.count(kMaxOperands, 8); i < n; ++i) {
    const uint32_t input = in.u32(), output = in.u32();
    MICA_TRY_STATUS(plan.states.push_back({input, output}));
  }
  for (uint32_t i = 0, n = in.count(kMaxNames, 8); i < n; ++i) {
    const uint32_t key = in.u32(), value = in.u32();
    MICA_TRY_STATUS(plan.metadata.push_back({key, value}));
  }
  return in.finish();
}

Status read_shape(ByteCursor& in, int rank, Shape& shape) {
  MICA_CHECK(rank >= -1 && rank <= kMaxRank, kBadFile, "a shape has rank {}", rank);
  shape.rank = static_cast<int8_t>(rank);
  for (int i = 0; i < rank; ++i) shape[i] = Dim::from_raw(in.i64());
  return {};
}

// Lengths, then bytes → StringRefs with their bytes behind them.
Status read_strings(PlanConstant& constant, Bytes stored) {
  MICA_TRY(const int64_t count, element_count(constant.shape));
  ByteCursor in(stored, "WGTS");
  MICA_CHECK(count >= 0 && static_cast<uint64_t>(count) <= stored.size() / 8, kBadFile,
             "a string constant has fewer bytes than its {} lengths take", count);
  Vector<StringRef> list;
  MICA_TRY_STATUS(list.reserve(static_cast<size_t>(count)));
  ByteCursor chars(stored.subspan(static_cast<size_t>(count) * 8), "WGTS");
  for (int64_t i = 0; i < count; ++i) {
    const Bytes text = chars.take(in.u64());
    MICA_TRY_STATUS(list.push_back({reinterpret_cast<const char*>(text.data()), static_cast<int64_t>(text.size())}));
  }
  MICA_TRY_STATUS(chars.finish());
  int64_t dims[kMaxRank];
  for (int i = 0; i < constant.shape.rank; ++i) dims[i] = constant.shape[i].value();
  MICA_TRY(constant.owned, OwnedTensor::copy_of(dense_view(list.data(), DType::kString,
                                                           {dims, static_cast<size_t>(constant.shape.rank)})));
  constant.data = constant.owned.view().data;
  constant.bytes = list.size() * sizeof(StringRef);
  return {};
}

// Half precision → single, in memory of the plan's own.
Status read_half(PlanConstant& constant, Bytes stored, bool pages) {
  MICA_CHECK(constant.dtype == DType::kF32 && constant.stored == DType::kF16 && stored.size() % 2 == 0, kBadFile,
             "a constant of {} is stored as {}", name_of(constant.dtype), name_of(constant.stored));
  const auto count = static_cast<int64_t>(stored.size() / 2);
  MICA_TRY(constant.owned, OwnedTensor::make(DType::kF32, {&count, 1}));
  const auto* from = reinterpret_cast<const uint16_t*>(stored.data());
  auto* to = static_cast<float*>(constant.owned.view().data);
  for (int64_t i = 0; i < count; ++i) to[i] = f16_to_float(from[i]);
  constant.data = to;
  constant.bytes = static_cast<size_t>(count) * sizeof(float);
  if (pages) forget_pages(stored.data(), stored.size());
  return {};
}

Status read_constants(Bytes bytes, Bytes weights, bool pages, Plan& plan) {
  ByteCursor in(bytes, "CNST");
  const uint32_t count = in.count(kMaxConstants, kMinConstantBytes);
  MICA_TRY_STATUS(plan.constants.reserve(count));
  uint64_t end = 0;  // they stand in order and share no bytes: what is made of them stays in proportion to the file
  for (uint32_t i = 0; i < count; ++i) {
    PlanConstant constant;
    const uint8_t dtype = in.u8();
    const int rank = in.u8();
    const uint8_t stored = in.u8(), reserved = in.u8();
    constant.packing.kind = in.u32();
    for (int64_t& parameter : constant.packing.parameters) parameter = in.i64();
    const uint64_t offset = in.u64(), size = in.u64();
    MICA_TRY_STATUS(read_shape(in, rank, constant.shape));
    MICA_TRY_STATUS(in.status());
    MICA_CHECK(dtype < kDTypeCount && stored < kDTypeCount && reserved == 0 && offset % kSectionAlign == 0 &&
                   offset >= end && within(offset, size, weights.size()) && constant.shape.fixed(),
               kBadFile, "constant {} does not lie in the weights, or its type is damaged", i);
    end = offset + size;
    constant.dtype = static_cast<DType>(dtype);
    constant.stored = static_cast<DType>(stored);
    constant.data = weights.data() + offset;
    constant.bytes = static_cast<size_t>(size);
    if (constant.dtype == DType::kString) MICA_TRY_STATUS(read_strings(constant, weights.subspan(offset, size)));
    if (stored != 0) MICA_TRY_STATUS(read_half(constant, weights.subspan(offset, size), pages));
    MICA_TRY_STATUS(plan.constants.push_back(std::move(constant)));
  }
  return in.finish();
}

class FunctionReader {
 public:
  FunctionReader(Bytes bytes, const ReadOptions& options, Plan& plan)
      : in_(bytes, "FUNC"), options_(options), plan_(plan) {}

  Status run() {
    for (uint32_t i = 0, n = in_.count(kMaxStages, kMinTextBytes); i < n; ++i)
      MICA_TRY_STATUS(words_.push_back({in_.text(), nullptr}));
    const uint32_t count = in_.count(kMaxFunctions, kMinFunctionBytes);
    MICA_TRY_STATUS(plan_.functions.resize(count));
    for (uint32_t f = 0; f < count; ++f) MICA_TRY_STATUS(read_function(plan_.functions[f]));
    return in_.finish();
  }

 private:
  struct Word {
    std::string_view text;
    const OpDef* op;
  };

  Status read_function(PlanFunction& function) {
    const uint32_t values = in_.count(kMaxValues, kMinValueBytes);
    MICA_TRY_STATUS(function.values.resize(values));
    for (uint32_t v = 0; v < values; ++v) MICA_TRY_STATUS(read_value(function.values[v]));
    const uint32_t stages = in_.count(kMaxStages, kMinStageBytes);
    MICA_TRY_STATUS(function.stages.resize(stages));
    for (uint32_t s = 0; s < stages; ++s)
      if (Status status = read_stage(function.stages[s]); !status.ok())
        return status.take_error().at(plan_.name(function.stages[s].name));
    MICA_TRY_STATUS(in_.list(kMaxOperands, function.inputs));
    return in_.list(kMaxOperands, function.outputs);
  }

  Status read_value(PlanValue& value) {
    value.kind = static_cast<ValueKind>(in_.u8());
    const uint8_t flags = in_.u8();
    value.channels_last = flags & kValueChannelsLast;
    value.keep = flags & kValueKeep;
    value.type.kind = static_cast<Kind>(in_.u8());
    value.type.of = static_cast<Kind>(in_.u8());
    const uint8_t dtype = in_.u8(), key = in_.u8();
    const int rank = static_cast<int8_t>(in_.u8());
    const uint8_t reserved = in_.u8();
    MICA_CHECK(
        dtype < kDTypeCount && key < kDTypeCount && reserved == 0 && (flags & ~(kValueChannelsLast | kValueKeep)) == 0,
        kBadFile, "a value's type is damaged");
    value.type.dtype = static_cast<DType>(dtype);
    value.type.key = static_cast<DType>(key);
    value.constant = in_.u32();
    value.name = in_.u32();
    MICA_TRY_STATUS(read_shape(in_, rank, value.type.shape));
    return in_.status();
  }

  Status read_stage(Stage& stage) {
    const uint32_t op = in_.u32();
    stage.name = in_.u32();
    MICA_TRY(stage.op, operator_of(op));
    for (Vector<uint32_t>* list : {&stage.inputs, &stage.outputs, &stage.functions})
      MICA_TRY_STATUS(in_.list(kMaxOperands, *list));
    MICA_TRY_STATUS(read_epilogue(stage.epilogue));
    const Bytes stored = in_.take(in_.u16());
    MICA_TRY_STATUS(in_.status());
    const AttrClass& cls = stage.op->attributes;
    MICA_CHECK(cls.bytes <= kMaxAttrBytes, kBadFile, "`{}` has attributes of {} bytes", stage.op->name, cls.bytes);
    MICA_TRY_STATUS(stage.attributes.resize(cls.bytes));
    std::span<const char> chars(reinterpret_cast<const char*>(stored.data()), stored.size());
    MICA_TRY_STATUS(read_attributes(cls, stage.attributes.data(), chars, plan_.dims.entries()));
    MICA_CHECK(chars.empty(), kBadFile, "the stored attributes of `{}` have {} bytes too many", stage.op->name,
               chars.size());
    return {};
  }

  Status read_epilogue(Epilogue& epilogue) {
    const int count = in_.u8();
    MICA_CHECK(count <= kMaxPostOps, kBadFile, "an epilogue has {} functions, more than {}", count, kMaxPostOps);
    epilogue.count = count;
    for (int i = 0; i < count; ++i) {
      PostOp& op = epilogue.ops[i];
      const uint32_t word = in_.u32();
      op.operand = static_cast<int8_t>(in_.u8());
      const uint8_t swapped = in_.u8();
      op.a = in_.f32();
      op.b = in_.f32();
      MICA_TRY_STATUS(in_.status());
      MICA_CHECK(word < words_.size() && swapped <= 1, kBadFile, "an epilogue is damaged");
      op.swapped = swapped != 0;
      MICA_TRY(op.function, function_of(words_[word].text));
    }
    return {};
  }

  static Error no_operator(std::string_view name) {
    if (kTrimmed) return left_out("operator", name);
    Error unknown = error(Code::kUnsupportedOperator, "this program has no operator `{}`", name);
    Nearest nearest(name);
    for (const auto& row : all_op()) nearest.offer(row.name);
    if (nearest.best().empty()) return unknown;
    char hint[160];
    return std::move(unknown).hinting(
        {hint, format_to(hint, sizeof hint, "the nearest it has is `{}`", nearest.best())});
  }

  static Error left_out(std::string_view kind, std::string_view name) {
    return error(Code::kUnsupportedOperator, "{} `{}` is not in this build", kind, name)
        .hinting("the build was trimmed to other models: add this one's list to MICA_TRIM");
  }

  Result<const OpDef*> operator_of(uint32_t index) {
    MICA_TRY_STATUS(in_.status());
    MICA_CHECK(index < words_.size(), kBadFile, "a stage's operator has the number {}", index);
    Word& word = words_[index];
    if (!word.op) word.op = options_.find ? options_.find(options_.self, word.text) : find_op(word.text);
    if (word.op) return word.op;
    return no_operator(slice(word.text, 0, 64));
  }

  static Result<Pointwise> function_of(std::string_view name) {
    for (int i = 1; i < kPointwiseCount; ++i) {
      const auto f = static_cast<Pointwise>(i);
      if (info_of(f).name != name) continue;
      if (!in_build(f)) return left_out("element-wise function", name);
      return f;
    }
    return error(Code::kUnsupportedOperator, "this program has no element-wise function `{}`", slice(name, 0, 64));
  }

  ByteCursor in_;
  const ReadOptions& options_;
  Plan& plan_;
  Vector<Word> words_;
};

}  // namespace

Result<Plan> read_plan(Bytes bytes, const ReadOptions& options) {
  MICA_CHECK(reinterpret_cast<uintptr_t>(bytes.data()) % kSectionAlign == 0, kUsage,
             "a .mica file in memory must be aligned to {} bytes", kSectionAlign);
  MICA_TRY(const FileLayout layout, read_layout(bytes));
  constexpr uint32_t kRequired[] = {kSectionDims,      kSectionNames, kSectionConstants,
                                    kSectionFunctions, kSectionMain,  kSectionWeights};
  Bytes parts[std::size(kRequired)];
  for (size_t i = 0; i < std::size(kRequired); ++i) {
    const FileSection* section = layout.find(kRequired[i]);
    MICA_CHECK(section, kBadFile, "the file lacks one of its sections (number {})", i);
    const bool weights = kRequired[i] == kSectionWeights;
    if (weights && !options.verify_weights) {
      parts[i] = layout.unchecked(*section);
    } else {
      MICA_TRY(parts[i], layout.checked(kRequired[i]));
    }
  }
  for (const FileSection& section : layout.sections) {
    const bool known = std::ranges::find(kRequired, section.id) != std::end(kRequired);
    MICA_CHECK(known || section.optional, kFileFeature,
               "the file has a section that this program does not know and has to");
  }
  Plan plan;
  MICA_TRY_STATUS(read_dims(parts[0], plan.dims));
  MICA_TRY_STATUS(read_names(parts[1], plan));
  MICA_TRY_STATUS(read_constants(parts[2], parts[5], options.pages, plan));
  MICA_TRY_STATUS(FunctionReader(parts[3], options, plan).run());
  MICA_TRY_STATUS(read_main(parts[4], plan));
  MICA_TRY_STATUS(validate(plan));
  // In a huge page, what fills up the way to aligned weights came with the small sections. Weights that begin in that
  // page keep it.
  const auto before = static_cast<size_t>(parts[5].data() - bytes.data());
  if (options.pages && before >= kHugeAlign) forget_pages(bytes.data(), before);
  return plan;
}

}  // namespace mica
