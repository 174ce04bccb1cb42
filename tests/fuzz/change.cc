#include "change.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/hash.h"
#include "plan/file_parts.h"

namespace mica::fuzz {
namespace {

template <class T>
void put(std::string& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}
template <class T>
T get(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

constexpr size_t kFileBytes = 24, kSectionCount = 12, kTableSum = 40;                   // in the header
constexpr size_t kEntryOffset = 8, kEntryBytes = 16, kEntryAlign = 24, kEntrySum = 32;  // in an entry

size_t section_count(const std::string& bytes) {
  if (bytes.size() < kHeaderBytes) return 0;
  return std::min<size_t>(get<uint32_t>(bytes, kSectionCount), (bytes.size() - kHeaderBytes) / kSectionEntryBytes);
}

// All checksums and the size of the file.
void repair(std::string& bytes) {
  if (bytes.size() < kHeaderBytes + kSectionEntryBytes) return;
  const Bytes view = std::as_bytes(std::span(bytes.data(), bytes.size()));
  put<uint64_t>(bytes, kFileBytes, bytes.size());
  const size_t sections = section_count(bytes);
  for (size_t i = 0; i < sections; ++i) {
    const size_t entry = kHeaderBytes + i * kSectionEntryBytes;
    const uint64_t offset = get<uint64_t>(bytes, entry + kEntryOffset),
                   length = get<uint64_t>(bytes, entry + kEntryBytes);
    if (offset <= bytes.size() && length <= bytes.size() - offset)
      put(bytes, entry + kEntrySum, crc32c(view.subspan(offset, length)));
  }
  put(bytes, kTableSum, crc32c(view.subspan(kHeaderBytes, sections * kSectionEntryBytes)));
  put(bytes, kHeaderSummed, crc32c(view.first(kHeaderSummed)));
}

// In place; indices and counts are small numbers of four bytes, dimensions have eight.
void change_section(std::string& section, Random& random) {
  if (section.size() < 16) return;
  const size_t at = below(section.size() - 8, random);
  switch (below(7, random)) {
    case 0: section[at] = static_cast<char>(below(12, random)); break;
    case 1: section[at] = static_cast<char>(any_number(random)); break;
    case 2: put(section, at, static_cast<uint32_t>(below(12, random))); break;
    case 3: put(section, at, static_cast<uint32_t>(any_number(random))); break;
    case 4: put(section, at, any_number(random)); break;
    case 5: {
      const size_t n = 1 + below(8, random), from = below(section.size() - 8, random);
      std::memmove(section.data() + at, section.data() + from, n);
      break;
    }
    default:
      for (size_t i = 0; i + 4 <= section.size(); ++i)  // the next small number
        if (const size_t k = (at + i) % (section.size() - 4); get<uint32_t>(section, k) < 16) {
          put(section, k, static_cast<uint32_t>(below(16, random)));
          break;
        }
  }
}

void resize_section(std::string& section, Random& random) {
  const size_t at = below(section.size() + 1, random), n = std::min(section.size() - at, 1 + below(40, random));
  switch (below(3, random)) {
    case 0: section.erase(at, n); break;
    case 1: section.insert(at, section.substr(at, n)); break;
    default: section.resize(at);
  }
}

// The file again from changed sections, each aligned as its entry says.
std::string with_other_sizes(const std::string& bytes, Random& random) {
  const size_t sections = section_count(bytes);
  std::string made = bytes.substr(0, kHeaderBytes + sections * kSectionEntryBytes);
  const size_t changed = below(sections, random);
  for (size_t i = 0; i < sections; ++i) {
    const size_t entry = kHeaderBytes + i * kSectionEntryBytes;
    const uint64_t offset = get<uint64_t>(bytes, entry + kEntryOffset),
                   length = get<uint64_t>(bytes, entry + kEntryBytes),
                   align = get<uint64_t>(bytes, entry + kEntryAlign);
    if (offset > bytes.size() || length > bytes.size() - offset || !align || align > (1 << 22)) return bytes;
    std::string section = bytes.substr(offset, length);
    if (i == changed) resize_section(section, random);
    made.resize((made.size() + align - 1) / align * align);
    put<uint64_t>(made, entry + kEntryOffset, made.size());
    put<uint64_t>(made, entry + kEntryBytes, section.size());
    made += section;
  }
  return made;
}

// One section, seldom that of the weights: they are the bulk and mean nothing to the reader.
void change_sections(std::string& bytes, Random& random) {
  const size_t sections = section_count(bytes);
  if (!sections) return;
  const size_t entry = kHeaderBytes + below(sections, random) * kSectionEntryBytes;
  const uint64_t offset = get<uint64_t>(bytes, entry + kEntryOffset),
                 length = get<uint64_t>(bytes, entry + kEntryBytes);
  if (offset > bytes.size() || length > bytes.size() - offset || (length > 100000 && random() % 4)) return;
  std::string section = bytes.substr(offset, length);
  change_section(section, random);
  bytes.replace(offset, length, section);
}

constexpr std::string_view kDigits = "-0123456789";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1);
    lines.push_back(text.substr(at, end + 1 - at));
    at = end + 1;
  }
  return lines;
}

// Some number of the line.
void change_number(std::string& line, Random& random) {
  const size_t at = line.find_first_of(kDigits, below(line.size(), random));
  if (at == std::string::npos) return;
  const size_t end = std::min(line.find_first_not_of(kDigits, at), line.size());
  line.replace(at, end - at,
               std::to_string(random() % 2 ? static_cast<int64_t>(below(6, random)) : any_number(random)));
}

// From one word on, as another line goes on from one of its words.
void cross(std::string& line, const std::string& other, Random& random) {
  const size_t a = line.find(' ', below(line.size(), random)), b = other.find(' ', below(other.size(), random));
  if (a != std::string::npos && b != std::string::npos) line = line.substr(0, a) + other.substr(b);
}

}  // namespace

int64_t any_number(Random& random) {
  constexpr int64_t kNumbers[] = {0,
                                  1,
                                  -1,
                                  2,
                                  3,
                                  7,
                                  127,
                                  255,
                                  65536,
                                  1 << 20,
                                  INT32_MAX,
                                  INT32_MIN,
                                  -2,
                                  -3,
                                  5,
                                  INT64_MAX,
                                  INT64_MIN,
                                  int64_t{1} << 32,
                                  int64_t{1} << 40,
                                  int64_t{1} << 62};
  return random() % 4 ? kNumbers[below(std::size(kNumbers), random)] : static_cast<int64_t>(random());
}

std::string change_bytes(std::string bytes, Random& random) {
  for (size_t i = 1 + below(6, random); i > 0 && !bytes.empty(); --i) {
    const size_t at = below(bytes.size(), random);
    switch (below(6, random)) {
      case 0: bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8, random)); break;
      case 1: bytes[at] = static_cast<char>(random()); break;
      case 2: bytes.insert(at, 1 + below(9, random), static_cast<char>(random())); break;
      case 3: bytes.erase(at, 1 + below(9, random)); break;
      case 4:
        if (random() % 4 == 0) bytes.resize(at);
        break;
      default:  // the largest numbers of both formats
        for (size_t k = at; k < std::min(at + 5, bytes.size()); ++k) bytes[k] = k + 1 == at + 5 ? '\x0f' : '\xff';
    }
  }
  return bytes;
}

std::string change_text(std::string text, Random& random) {
  if (random() % 10 == 0) return change_bytes(std::move(text), random);
  std::vector<std::string> lines = lines_of(text);
  do {
    const size_t a = below(lines.size(), random), b = below(lines.size(), random);
    switch (below(6, random)) {
      case 0: std::swap(lines[a], lines[b]); break;
      case 1: lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(a), lines[b]); break;
      case 2: lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(a)); break;
      case 3: cross(lines[a], lines[b], random); break;
      default: change_number(lines[a], random);
    }
  } while (!lines.empty() && random() % 5 < 2);
  text.clear();
  for (const std::string& line : lines) text += line;
  return text;
}

std::string change_mica(std::string bytes, Random& random) {
  const size_t way = below(10, random);
  if (way == 0) {
    bytes = change_bytes(std::move(bytes), random);
  } else if (way == 1) {
    bytes = with_other_sizes(bytes, random);
  } else if (way == 2) {  // header and table
    std::string front = bytes.substr(0, kHeaderBytes + section_count(bytes) * kSectionEntryBytes);
    change_section(front, random);
    bytes.replace(0, front.size(), front);
  } else {
    do change_sections(bytes, random);
    while (random() % 2);
  }
  if (random() % 20) repair(bytes);
  return bytes;
}

}  // namespace mica::fuzz
