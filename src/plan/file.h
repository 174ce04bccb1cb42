// The `.mica` file: a plan and its weights as sections that a program maps and uses in place. docs/file-format.md has
// the bytes.
//
// Goals: opening costs the small sections only, whatever the weights' size; a damaged or hostile file is an error and
// nothing else. Non-goals: compatibility with other versions of the format before 1.0.
#pragma once
#include "base/file.h"
#include "plan/plan.h"

namespace mica {

inline constexpr uint32_t kFileVersion = 1;
inline constexpr uint64_t kKnownFeatures = 0;  // bits of features that a reader has to know, of those that exist
inline constexpr size_t kSectionAlign = 64;
// Weights begin at a page, and large ones at a huge page: at these sizes the gap before them stays below a sixteenth.
inline constexpr size_t kPageAlign = 4096, kHugeAlign = size_t{2} << 20;
constexpr size_t weights_align(uint64_t bytes) {
  return bytes >= 16 * kHugeAlign ? kHugeAlign : bytes >= 16 * kPageAlign ? kPageAlign : kSectionAlign;
}

// Four letters; the first stands in the lowest byte.
constexpr uint32_t section_id(const char (&letters)[5]) {
  uint32_t id = 0;
  for (int i = 3; i >= 0; --i) id = id << 8 | static_cast<unsigned char>(letters[i]);
  return id;
}
inline constexpr uint32_t kSectionDims = section_id("DIMS"), kSectionNames = section_id("NAME"),
                          kSectionConstants = section_id("CNST"), kSectionFunctions = section_id("FUNC"),
                          kSectionMain = section_id("MAIN"), kSectionWeights = section_id("WGTS");
// Optional ones.
inline constexpr uint32_t kSectionGraph = section_id("GRPH");   // the decluttered graph as text
inline constexpr uint32_t kSectionSource = section_id("SRCE");  // where the model came from, as text

struct FileSection {
  uint32_t id = 0;
  bool optional = false;  // a reader that does not know it goes on without it
  uint64_t offset = 0, size = 0, align = 0;
  uint32_t checksum = 0;  // CRC-32C of its bytes
};

// Header and table, checked: sections lie within the file, aligned, without overlaps, and no id stands twice.
struct FileLayout {
  Bytes bytes;
  Vector<FileSection> sections;
  const FileSection* find(uint32_t id) const;
  // Its bytes, empty when there is none. Errors: kBadFile when the checksum differs.
  Result<Bytes> checked(uint32_t id) const;
  Bytes unchecked(const FileSection& section) const { return bytes.subspan(section.offset, section.size); }
};
// Whether the bytes begin as a `.mica` file does.
bool looks_like_plan(Bytes bytes);
// Errors: kBadFile (no .mica file, truncated, damaged), kFileVersion, kFileFeature, kLimit.
Result<FileLayout> read_layout(Bytes bytes);

struct ReadOptions {
  // Operators by name, the caller's own first; without it the built-in ones.
  const OpDef* (*find)(const void* self, std::string_view name) = nullptr;
  const void* self = nullptr;
  bool verify_weights = false;  // reads all of them
  bool pages = false;           // `bytes` are a mapped file's: what the plan has a copy of leaves RAM
};
// `bytes` are 64-byte aligned and outlive the plan, whose constants point into them. What is returned passed
// `validate`. Errors: as read_layout; kUnsupportedOperator for operators that are not known; kUsage for unaligned
// bytes; kOutOfMemory.
Result<Plan> read_plan(Bytes bytes, const ReadOptions& options = {});

// Where a file's bytes go, in order.
class Sink {
 public:
  virtual Status write(Bytes bytes) = 0;

 protected:
  ~Sink() = default;
};

struct ExtraSection {
  uint32_t id;
  Bytes bytes;
};
struct WriteOptions {
  std::span<const ExtraSection> extra = {};  // optional sections
};
struct FileSizes {
  uint64_t total = 0, weights = 0;  // bytes of the file and of its weights
};
// Validates, then writes. Weights are read where they are, twice: for the checksum and for the file. Equal plans give
// equal bytes. Errors: kBadFile for a plan that is not valid, those of the sink, kOutOfMemory.
Result<FileSizes> write_plan(const Plan& plan, Sink& sink, const WriteOptions& options = {});

}  // namespace mica
