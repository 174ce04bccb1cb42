// Header and section table of a file.
#include <bit>

#include "base/checked.h"
#include "base/hash.h"
#include "plan/file_parts.h"

namespace mica {
namespace {

struct Name {
  char text[5] = {};
};
Name name_of(uint32_t id) {
  Name name;
  for (int i = 0; i < 4; ++i) {
    const char c = static_cast<char>(id >> (8 * i));
    name.text[i] = c >= ' ' && c <= '~' ? c : '?';
  }
  return name;
}

struct Header {
  uint32_t sections = 0;
  uint64_t table = 0;
  uint32_t table_checksum = 0;
};

Result<Header> read_header(Bytes bytes) {
  const size_t seen = std::min(bytes.size(), sizeof kFileMagic);
  MICA_CHECK(!bytes.empty(), kBadFile, "the file is empty");
  MICA_CHECK(std::memcmp(bytes.data(), kFileMagic, seen) == 0, kBadFile, "this is no .mica file");
  MICA_CHECK(bytes.size() >= kHeaderBytes, kBadFile, "the file is truncated: it has {} bytes, less than its header",
             bytes.size());
  ByteCursor in(bytes.subspan(sizeof kFileMagic, kHeaderBytes - sizeof kFileMagic), "header");
  const uint32_t version = in.u32();
  Header header;
  header.sections = in.u32();
  const uint64_t features = in.u64(), size = in.u64();
  header.table = in.u64();
  header.table_checksum = in.u32();
  ByteCursor last(bytes.subspan(kHeaderSummed, 4), "header");
  const bool sound = last.u32() == crc32c(bytes.first(kHeaderSummed));
  // The version comes first: another one may have another header.
  MICA_CHECK(version == kFileVersion, kFileVersion,
             "the file has version {} of the format; this program reads version {}", version, kFileVersion);
  MICA_CHECK(sound, kBadFile, "the file's header is damaged");
  MICA_CHECK((features & ~kKnownFeatures) == 0, kFileFeature,
             "the file needs features that this program does not have (bits {})", features & ~kKnownFeatures);
  MICA_CHECK(size == bytes.size(), kBadFile, "the file is {}: it has {} bytes instead of {}",
             size > bytes.size() ? "truncated" : "too long", bytes.size(), size);
  MICA_CHECK(header.sections <= kMaxSections, kLimit, "the file has {} sections, more than {}", header.sections,
             kMaxSections);
  MICA_CHECK(header.table % 8 == 0 && header.table >= kHeaderBytes &&
                 within(header.table, header.sections * kSectionEntryBytes, bytes.size()),
             kBadFile, "the file's section table does not lie in it");
  return header;
}

Result<FileSection> read_section(ByteCursor& in, size_t file_size) {
  FileSection section;
  section.id = in.u32();
  const uint32_t flags = in.u32();
  section.offset = in.u64();
  section.size = in.u64();
  section.align = in.u64();
  section.checksum = in.u32();
  const uint32_t encoding = in.u32();
  const uint64_t reserved = in.u64();
  section.optional = flags & kSectionOptional;
  const Name name = name_of(section.id);
  MICA_CHECK((flags & ~kSectionOptional) == 0 && reserved == 0, kFileFeature,
             "the section `{}` has flags that this program does not know", name.text);
  MICA_CHECK(encoding == 0, kFileFeature,
             "the section `{}` is stored in the encoding {}, which this program does not know", name.text, encoding);
  MICA_CHECK(std::has_single_bit(section.align) && section.align >= kSectionAlign &&
                 section.offset % section.align == 0 && section.offset >= kHeaderBytes &&
                 within(section.offset, section.size, file_size),
             kBadFile, "the section `{}` does not lie in the file", name.text);
  return section;
}

bool overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size) { return a < b + b_size && b < a + a_size; }

}  // namespace

bool looks_like_plan(Bytes bytes) {
  return bytes.size() >= sizeof kFileMagic && std::memcmp(bytes.data(), kFileMagic, sizeof kFileMagic) == 0;
}

Result<FileLayout> read_layout(Bytes bytes) {
  MICA_TRY(const Header header, read_header(bytes));
  const Bytes table = bytes.subspan(header.table, header.sections * kSectionEntryBytes);
  MICA_CHECK(crc32c(table) == header.table_checksum, kBadFile, "the file's section table is damaged");
  FileLayout layout;
  layout.bytes = bytes;
  ByteCursor in(table, "section table");
  for (uint32_t i = 0; i < header.sections; ++i) {
    MICA_TRY(const FileSection section, read_section(in, bytes.size()));
    bool apart = !overlap(section.offset, section.size, header.table, table.size());
    for (const FileSection& other : layout.sections)
      apart = apart && other.id != section.id && !overlap(section.offset, section.size, other.offset, other.size);
    MICA_CHECK(apart, kBadFile, "the section `{}` stands twice, or shares bytes with another",
               name_of(section.id).text);
    MICA_TRY_STATUS(layout.sections.push_back(section));
  }
  return layout;
}

const FileSection* FileLayout::find(uint32_t id) const {
  for (const FileSection& section : sections)
    if (section.id == id) return &section;
  return nullptr;
}

Result<Bytes> FileLayout::checked(uint32_t id) const {
  const FileSection* section = find(id);
  if (!section) return Bytes();
  const Bytes part = unchecked(*section);
  MICA_CHECK(crc32c(part) == section->checksum, kBadFile, "the section `{}` is damaged: its checksum differs",
             name_of(id).text);
  return part;
}

}  // namespace mica
