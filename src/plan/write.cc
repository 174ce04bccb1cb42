// Plan → file: the small sections in memory, then everything in order to the sink.
#include <algorithm>

#include "base/checked.h"
#include "base/half.h"
#include "base/hash.h"
#include "plan/file_parts.h"

namespace mica {
namespace {

std::string_view section_name(uint32_t id, char (&text)[5]) {
  for (int i = 0; i < 4; ++i) text[i] = static_cast<char>(id >> (8 * i));
  return {text, 4};
}

void write_dims(const DimTable& dims, ByteList& out) {
  out.count(dims.entries());
  for (size_t i = 0; i < dims.entries(); ++i) {
    const DimTable::Entry entry = dims.entry(i);
    out.u8(entry.op);
    if (entry.symbol) {
      out.u8(static_cast<uint8_t>(entry.symbol->kind));
      out.i64(entry.symbol->bound);
      out.text(entry.symbol->name);
    } else {
      out.u8(static_cast<uint8_t>(entry.args.size()));
      for (int64_t arg : entry.args) out.i64(arg);
    }
  }
}

void write_names(const Plan& plan, ByteList& out) {
  out.count(plan.names.size());
  for (const String& name : plan.names) out.text(name);
}

void write_main(const Plan& plan, ByteList& out) {
  out.count(plan.inputs.size());
  for (const PlanPort& port : plan.inputs) out.u32(port.name);
  out.count(plan.outputs.size());
  for (const PlanPort& port : plan.outputs) out.u32(port.name);
  out.count(plan.states.size());
  for (const PlanState& state : plan.states) {
    out.u32(state.input);
    out.u32(state.output);
  }
  out.count(plan.metadata.size());
  for (const PlanMetadata& entry : plan.metadata) {
    out.u32(entry.key);
    out.u32(entry.value);
  }
}

// Operators and functions of epilogues by name, each once.
class Words {
 public:
  Result<uint32_t> index(std::string_view word) {
    for (uint32_t i = 0; i < words_.size(); ++i)
      if (words_[i] == word) return i;
    MICA_TRY_STATUS(words_.push_back(word));
    return static_cast<uint32_t>(words_.size() - 1);
  }
  void write(ByteList& out) const {
    out.count(words_.size());
    for (std::string_view word : words_) out.text(word);
  }

 private:
  Vector<std::string_view> words_;
};

class FunctionWriter {
 public:
  Status run(const Plan& plan, ByteList& out) {
    body_.count(plan.functions.size());
    for (const PlanFunction& function : plan.functions) {
      body_.count(function.values.size());
      for (const PlanValue& value : function.values) write_value(value);
      body_.count(function.stages.size());
      for (const Stage& stage : function.stages) MICA_TRY_STATUS(write_stage(stage));
      body_.list(function.inputs);
      body_.list(function.outputs);
    }
    words_.write(out);
    out.raw(body_.bytes());
    return body_.status();
  }

 private:
  void write_value(const PlanValue& value) {
    body_.u8(static_cast<uint8_t>(value.kind));
    body_.u8(static_cast<uint8_t>((value.channels_last ? kValueChannelsLast : 0) | (value.keep ? kValueKeep : 0)));
    body_.u8(static_cast<uint8_t>(value.type.kind));
    body_.u8(static_cast<uint8_t>(value.type.of));
    body_.u8(static_cast<uint8_t>(value.type.dtype));
    body_.u8(static_cast<uint8_t>(value.type.key));
    body_.u8(static_cast<uint8_t>(value.type.shape.rank));
    body_.u8(0);
    body_.u32(value.constant);
    body_.u32(value.name);
    for (Dim d : value.type.shape.span()) body_.i64(d.raw());
  }

  Status write_stage(const Stage& stage) {
    MICA_TRY(const uint32_t op, words_.index(stage.op->name));
    body_.u32(op);
    body_.u32(stage.name);
    body_.list(stage.inputs);
    body_.list(stage.outputs);
    body_.list(stage.functions);
    body_.u8(static_cast<uint8_t>(stage.epilogue.count));
    for (int i = 0; i < stage.epilogue.count; ++i) {
      const PostOp& op_at = stage.epilogue.ops[i];
      MICA_TRY(const uint32_t function, words_.index(info_of(op_at.function).name));
      body_.u32(function);
      body_.u8(static_cast<uint8_t>(op_at.operand));
      body_.u8(op_at.swapped);
      body_.f32(op_at.a);
      body_.f32(op_at.b);
    }
    attributes_.clear();
    MICA_TRY_STATUS(write_attributes(stage.op->attributes, stage.attributes.data(), attributes_));
    body_.u16(static_cast<uint16_t>(attributes_.size()));
    body_.raw(std::as_bytes(std::span(attributes_.data(), attributes_.size())));
    return {};
  }

  Words words_;
  ByteList body_;
  Vector<char> attributes_;
};

// --- Weights: one after the other, each at a multiple of 64 bytes. ---

std::span<const StringRef> strings_of(const PlanConstant& constant) {
  return {static_cast<const StringRef*>(constant.data), constant.bytes / sizeof(StringRef)};
}

// Strings are stored as their lengths and then their bytes.
Result<uint64_t> stored_bytes(const PlanConstant& constant) {
  if (constant.stored == DType::kF16) return uint64_t{constant.bytes / 2};
  if (constant.dtype != DType::kString) return uint64_t{constant.bytes};
  uint64_t total = uint64_t{constant.bytes} / sizeof(StringRef) * 8;
  for (const StringRef& text : strings_of(constant))
    MICA_CHECK(
        text.size >= 0 && (text.data || text.size == 0) && checked_add(total, static_cast<uint64_t>(text.size), total),
        kBadFile, "a string constant is damaged");
  return total;
}

Result<uint64_t> write_constants(const Plan& plan, ByteList& out) {
  uint64_t end = 0;
  out.count(plan.constants.size());
  for (const PlanConstant& constant : plan.constants) {
    MICA_TRY(const uint64_t bytes, stored_bytes(constant));
    uint64_t offset = 0;
    MICA_CHECK(
        checked_round_up(end, uint64_t{kSectionAlign}, offset) && checked_add(offset, bytes, end) && end < INT64_MAX,
        kLimit, "the weights are too large");
    out.u8(static_cast<uint8_t>(constant.dtype));
    out.u8(static_cast<uint8_t>(constant.shape.rank));
    out.u8(static_cast<uint8_t>(constant.stored));
    out.u8(0);
    out.u32(constant.packing.kind);
    for (int64_t parameter : constant.packing.parameters) out.i64(parameter);
    out.u64(offset);
    out.u64(bytes);
    for (Dim d : constant.shape.span()) out.i64(d.raw());
  }
  return end;
}

// Single precision, rounded to half.
template <class Put>
Status put_half(const PlanConstant& constant, const Put& put) {
  const auto* from = static_cast<const float*>(constant.data);
  uint16_t block[2048];
  for (size_t i = 0, left = constant.bytes / sizeof(float); left > 0;) {
    const size_t n = std::min(left, std::size(block));
    for (size_t k = 0; k < n; ++k) block[k] = float_to_f16(from[i + k]);
    MICA_TRY_STATUS(put(std::as_bytes(std::span(block, n))));
    i += n, left -= n;
  }
  return {};
}

// Calls put(bytes) with all of the weights section in order.
template <class Put>
Status visit_weights(const Plan& plan, const Put& put) {
  static constexpr std::byte kZeros[kSectionAlign] = {};
  uint64_t at = 0;
  for (const PlanConstant& constant : plan.constants) {
    const size_t gap = static_cast<size_t>(-at % kSectionAlign);
    MICA_TRY_STATUS(put(Bytes(kZeros, gap)));
    MICA_TRY(const uint64_t bytes, stored_bytes(constant));
    at += gap + bytes;
    if (constant.stored == DType::kF16) {
      MICA_TRY_STATUS(put_half(constant, put));
      continue;
    }
    if (constant.dtype != DType::kString) {
      MICA_TRY_STATUS(put(Bytes(static_cast<const std::byte*>(constant.data), constant.bytes)));
      continue;
    }
    ByteList lengths;
    for (const StringRef& text : strings_of(constant)) lengths.u64(static_cast<uint64_t>(text.size));
    MICA_TRY_STATUS(lengths.status());
    MICA_TRY_STATUS(put(lengths.bytes()));
    for (const StringRef& text : strings_of(constant))
      MICA_TRY_STATUS(put(std::as_bytes(std::span(text.data, static_cast<size_t>(text.size)))));
  }
  return {};
}

// --- The whole ---

struct Part {
  FileSection section;
  Bytes bytes;  // not of the weights
};

class FileWrite {
 public:
  FileWrite(const Plan& plan, Sink& sink) : plan_(plan), sink_(sink) {}

  Result<FileSizes> run(const WriteOptions& options) {
    MICA_TRY_STATUS(validate(plan_));
    ByteList dims, names, constants, functions, main;
    write_dims(plan_.dims, dims);
    write_names(plan_, names);
    MICA_TRY(const uint64_t weights, write_constants(plan_, constants));
    MICA_TRY_STATUS(FunctionWriter().run(plan_, functions));
    write_main(plan_, main);
    for (const ByteList* list : {&dims, &names, &constants, &functions, &main}) MICA_TRY_STATUS(list->status());
    MICA_TRY_STATUS(add(kSectionDims, dims.bytes()));
    MICA_TRY_STATUS(add(kSectionNames, names.bytes()));
    MICA_TRY_STATUS(add(kSectionConstants, constants.bytes()));
    MICA_TRY_STATUS(add(kSectionFunctions, functions.bytes()));
    MICA_TRY_STATUS(add(kSectionMain, main.bytes()));
    for (const ExtraSection& extra : options.extra) MICA_TRY_STATUS(add(extra.id, extra.bytes, true));
    MICA_TRY_STATUS(add_weights(weights));
    MICA_TRY(const uint64_t total, place());
    MICA_TRY_STATUS(write_all(total));
    return FileSizes{total, weights};
  }

 private:
  Status add(uint32_t id, Bytes bytes, bool optional = false) {
    MICA_CHECK(bytes.size() <= UINT32_MAX, kLimit, "a small section has {} bytes", bytes.size());
    Part part;
    part.section = {
        .id = id, .optional = optional, .size = bytes.size(), .align = kSectionAlign, .checksum = crc32c(bytes)};
    part.bytes = bytes;
    for (const Part& other : parts_) {
      char text[5];
      MICA_CHECK(other.section.id != id, kUsage, "there are two sections `{}`", section_name(id, text));
    }
    return parts_.push_back(part);
  }

  Status add_weights(uint64_t size) {
    Part part;
    part.section = {.id = kSectionWeights, .size = size, .align = weights_align(size)};
    MICA_TRY_STATUS(visit_weights(plan_, [&](Bytes bytes) {
      part.section.checksum = crc32c(bytes, part.section.checksum);
      return Status();
    }));
    return parts_.push_back(part);
  }

  Result<uint64_t> place() {
    MICA_CHECK(parts_.size() <= kMaxSections, kLimit, "a file has {} sections, more than {}", parts_.size(),
               kMaxSections);
    uint64_t end = kHeaderBytes + parts_.size() * kSectionEntryBytes;
    for (Part& part : parts_) {
      part.section.offset = round_up(end, part.section.align);
      end = part.section.offset + part.section.size;
    }
    return end;
  }

  Status write_all(uint64_t total) {
    ByteList table;
    for (const Part& part : parts_) {
      table.u32(part.section.id);
      table.u32(part.section.optional ? kSectionOptional : 0);
      table.u64(part.section.offset);
      table.u64(part.section.size);
      table.u64(part.section.align);
      table.u32(part.section.checksum);
      table.u32(0);  // encoding: as it is
      table.u64(0);
    }
    MICA_TRY_STATUS(table.status());
    ByteList header;
    header.raw(std::as_bytes(std::span(kFileMagic)));
    header.u32(kFileVersion);
    header.count(parts_.size());
    header.u64(0);  // required features
    header.u64(total);
    header.u64(kHeaderBytes);
    header.u32(crc32c(table.bytes()));
    while (header.bytes().size() < kHeaderSummed && header.status().ok()) header.u32(0);
    header.u32(crc32c(header.bytes()));
    MICA_TRY_STATUS(header.status());
    MICA_TRY_STATUS(put(header.bytes()));
    MICA_TRY_STATUS(put(table.bytes()));
    for (const Part& part : parts_) {
      MICA_TRY_STATUS(pad_to(part.section.offset));
      if (part.section.id == kSectionWeights)
        MICA_TRY_STATUS(visit_weights(plan_, [&](Bytes bytes) { return put(bytes); }));
      else
        MICA_TRY_STATUS(put(part.bytes));
    }
    MICA_CHECK(at_ == total, kInternal, "the file has {} bytes instead of {}", at_, total);
    return {};
  }

  Status pad_to(uint64_t offset) {
    static constexpr std::byte kZeros[4096] = {};
    while (at_ < offset)
      MICA_TRY_STATUS(put(Bytes(kZeros, static_cast<size_t>(std::min<uint64_t>(offset - at_, sizeof kZeros)))));
    return {};
  }

  Status put(Bytes bytes) {
    at_ += bytes.size();
    return bytes.empty() ? Status() : sink_.write(bytes);
  }

  const Plan& plan_;
  Sink& sink_;
  Vector<Part> parts_;
  uint64_t at_ = 0;
};

}  // namespace

Result<FileSizes> write_plan(const Plan& plan, Sink& sink, const WriteOptions& options) {
  return FileWrite(plan, sink).run(options);
}

}  // namespace mica
