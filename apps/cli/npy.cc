// numpy's formats: .npy (numpy.lib.format, versions 1 to 3) and .npz, which is a ZIP archive of those
// (APPNOTE.TXT 6.3).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "array.h"

// The inflater of the picture decoder; its definition is in image.cc.
extern "C" int stbi_zlib_decode_noheader_buffer(char* out, int out_size, const char* in, int in_size);

namespace mica::cli {
namespace {

[[noreturn]] void bad(const std::string& name, const std::string& why) { fail_usage("`" + name + "`: " + why); }

struct NpyType {
  const char* code;
  mica_dtype dtype;
};
constexpr NpyType kTypes[] = {{"f4", MICA_F32}, {"f8", MICA_F64},  {"f2", MICA_F16}, {"i1", MICA_I8},
                              {"i2", MICA_I16}, {"i4", MICA_I32},  {"i8", MICA_I64}, {"u1", MICA_U8},
                              {"u2", MICA_U16}, {"u4", MICA_U32},  {"u8", MICA_U64}, {"b1", MICA_BOOL},
                              {"c8", MICA_C64}, {"c16", MICA_C128}};

// The text between `key` and the next of the ends, in a header that is a Python dictionary.
std::string header_field(const std::string& header, const std::string& key, const std::string& name) {
  const size_t at = header.find("'" + key + "'");
  if (at == std::string::npos) bad(name, "the header has no " + key);
  const size_t begin = header.find_first_not_of(" :", at + key.size() + 2);
  if (begin == std::string::npos) bad(name, "the header ends too early");
  const char first = header[begin];
  const char last = first == '(' ? ')' : first == '\'' ? '\'' : ',';
  const size_t end = header.find(last, begin + 1);
  if (end == std::string::npos) bad(name, "the header ends too early");
  return first == '(' || first == '\'' ? header.substr(begin + 1, end - begin - 1) : header.substr(begin, end - begin);
}

std::vector<int64_t> header_shape(std::string text, const std::string& name) {
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == 'L'; }), text.end());
  if (!text.empty() && text.back() == ',') text.pop_back();
  std::vector<int64_t> dims = parse_dims(text, "the header of `" + name + "`");
  if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < 0; })) bad(name, "a dimension is negative");
  return dims;
}

// Elements in C order, whatever order and byte order the file has.
void copy_elements(Array& to, const char* from, size_t item, bool fortran) {
  const auto count = static_cast<size_t>(to.count());
  if (!fortran || to.dims.size() < 2) {
    if (count) std::memcpy(to.bytes.data(), from, count * item);
    return;
  }
  std::vector<int64_t> index(to.dims.size());
  for (size_t i = 0; i < count; ++i) {  // i counts in Fortran order
    size_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at = at * static_cast<size_t>(to.dims[d]) + static_cast<size_t>(index[d]);
    std::memcpy(to.bytes.data() + at * item, from + i * item, item);
    for (size_t d = 0; d < index.size() && ++index[d] == to.dims[d]; ++d) index[d] = 0;
  }
}

void append_utf8(std::string& text, uint32_t c) {
  if (c < 0x80)
    text += static_cast<char>(c);
  else if (c < 0x800)
    text += {static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 63))};
  else if (c < 0x10000)
    text += {static_cast<char>(0xe0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 63)),
             static_cast<char>(0x80 | (c & 63))};
  else
    text += {static_cast<char>(0xf0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 63)),
             static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
}

// "S12": bytes; "U12": code points of four bytes. Trailing zeros are no part of the text.
Array read_strings(const std::string& code, const char* data, std::vector<int64_t> dims, size_t length) {
  const bool wide = code[0] == 'U';
  std::vector<std::string> texts;
  const auto count = static_cast<size_t>(Tensor(MICA_U8, nullptr, dims).count());
  for (size_t i = 0; i < count; ++i) {
    std::string text;
    if (wide) {
      for (size_t k = 0; k < length; ++k) {
        uint32_t c;
        std::memcpy(&c, data + (i * length + k) * 4, 4);
        if (c) append_utf8(text, c);
      }
    } else {
      text.assign(data + i * length, length);
      text.erase(text.find_last_not_of('\0') + 1);
    }
    texts.push_back(std::move(text));
  }
  return Array::of(texts, std::move(dims));
}

template <class T>
T number(const std::string& bytes, size_t at, const std::string& name) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) bad(name, "the file ends too early");
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

uint32_t crc32(std::string_view bytes) {
  static const auto kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
      table[i] = c;
    }
    return table;
  }();
  uint32_t crc = 0xffffffffu;
  for (char b : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(b)) & 255] ^ crc >> 8;
  return ~crc;
}

struct ZipEntry {
  std::string name;
  uint16_t method = 0;
  uint64_t packed = 0, plain = 0, local = 0;
};

// Sizes and the offset that do not fit into 32 bits stand in the extra field 1.
void read_zip64(ZipEntry& entry, const std::string& bytes, size_t at, size_t end, const std::string& name) {
  while (at + 4 <= end) {
    const auto id = number<uint16_t>(bytes, at, name), size = number<uint16_t>(bytes, at + 2, name);
    size_t field = at + 4;
    if (id == 1)
      for (uint64_t* value : {&entry.plain, &entry.packed, &entry.local})
        if (*value == 0xffffffffu && field + 8 <= at + 4 + size)
          *value = number<uint64_t>(bytes, field, name), field += 8;
    at += 4u + size;
  }
}

std::vector<ZipEntry> read_directory(const std::string& bytes, const std::string& name) {
  const size_t end = bytes.rfind("PK\5\6");
  if (end == std::string::npos) bad(name, "no .npz archive");
  size_t at = number<uint32_t>(bytes, end + 16, name);
  uint64_t count = number<uint16_t>(bytes, end + 10, name);
  if (at == 0xffffffffu || count == 0xffff) {
    const size_t wide = bytes.rfind("PK\6\6", end);
    if (wide == std::string::npos) bad(name, "the archive's directory is missing");
    count = number<uint64_t>(bytes, wide + 32, name);
    at = number<uint64_t>(bytes, wide + 48, name);
  }
  std::vector<ZipEntry> entries;
  for (uint64_t i = 0; i < count; ++i) {
    if (number<uint32_t>(bytes, at, name) != 0x02014b50) bad(name, "the archive's directory is damaged");
    const auto length = number<uint16_t>(bytes, at + 28, name), extra = number<uint16_t>(bytes, at + 30, name),
               comment = number<uint16_t>(bytes, at + 32, name);
    ZipEntry entry;
    entry.method = number<uint16_t>(bytes, at + 10, name);
    entry.packed = number<uint32_t>(bytes, at + 20, name);
    entry.plain = number<uint32_t>(bytes, at + 24, name);
    entry.local = number<uint32_t>(bytes, at + 42, name);
    if (at + 46u + length + extra > bytes.size()) bad(name, "the archive's directory is damaged");
    entry.name = bytes.substr(at + 46, length);
    read_zip64(entry, bytes, at + 46u + length, at + 46u + length + extra, name);
    entries.push_back(entry);
    at += 46u + length + extra + comment;
  }
  return entries;
}

std::string unpack(const ZipEntry& entry, const std::string& bytes, const std::string& name) {
  const auto length = number<uint16_t>(bytes, entry.local + 26, name),
             extra = number<uint16_t>(bytes, entry.local + 28, name);
  const size_t begin = entry.local + 30u + length + extra;
  if (begin > bytes.size() || entry.packed > bytes.size() - begin) bad(name, "`" + entry.name + "` ends too early");
  if (entry.method == 0) return bytes.substr(begin, entry.packed);
  if (entry.method != 8) bad(name, fmt::format("`{}` is packed with method {}", entry.name, entry.method));
  if (entry.plain > (1u << 30) || entry.packed > (1u << 30))
    bad(name, "`" + entry.name + "` is too large to be packed");
  std::string plain(entry.plain, 0);
  // The decoder wants to see some bytes behind the last code, as the checksum in a PNG gives it.
  const std::string packed = bytes.substr(begin, entry.packed) + std::string(8, '\0');
  const int got = stbi_zlib_decode_noheader_buffer(plain.data(), static_cast<int>(plain.size()), packed.data(),
                                                   static_cast<int>(packed.size()));
  if (got != static_cast<int>(plain.size())) bad(name, "`" + entry.name + "` is damaged");
  return plain;
}

// What numpy has no type for goes as the next wider type; strings as bytes of the longest one's length.
std::string npy_body(const Tensor& tensor, std::string& code) {
  for (const NpyType& type : kTypes)
    if (type.dtype == tensor.dtype()) {
      code = (std::string_view(type.code).substr(1) == "1" ? "|" : "<") + std::string(type.code);
      return std::string(static_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.bytes()));
    }
  if (tensor.dtype() == MICA_STRING) {
    size_t longest = 1;
    for (const mica_string& s : tensor.span<mica_string>()) longest = std::max(longest, static_cast<size_t>(s.size));
    code = "|S" + std::to_string(longest);
    std::string body;
    for (const mica_string& s : tensor.span<mica_string>()) {
      body.append(s.data, static_cast<size_t>(s.size));
      body.append(longest - static_cast<size_t>(s.size), '\0');
    }
    return body;
  }
  const bool is_unsigned = tensor.dtype() == MICA_U4 || tensor.dtype() == MICA_U2;
  const bool is_signed = tensor.dtype() == MICA_I4 || tensor.dtype() == MICA_I2;
  Array wide = Array::make(is_unsigned ? MICA_U8 : is_signed ? MICA_I8 : MICA_F32, tensor.dims());
  for (int64_t i = 0, n = tensor.count(); i < n; ++i) set_number(wide, i, number_at(tensor, i));
  return npy_body(wide.tensor(), code);
}

}  // namespace

Array read_npy(const std::string& bytes, const std::string& name) {
  if (bytes.compare(0, 6, "\x93NUMPY") != 0) bad(name, "no .npy file");
  const bool wide = number<uint8_t>(bytes, 6, name) >= 2;
  const size_t length = wide ? number<uint32_t>(bytes, 8, name) : number<uint16_t>(bytes, 8, name),
               start = wide ? 12 : 10;
  if (length > bytes.size() - start) bad(name, "the file ends too early");
  const std::string header = bytes.substr(start, length);
  const std::string type = header_field(header, "descr", name);
  std::vector<int64_t> dims = header_shape(header_field(header, "shape", name), name);
  const char* data = bytes.data() + start + length;
  const size_t room = bytes.size() - start - length;
  if (type.size() < 3) bad(name, "element type `" + type + "`");
  const std::string code = type.substr(1);
  const bool fortran = header_field(header, "fortran_order", name) == "True";
  if (code[0] == 'S' || code[0] == 'U') {
    const int64_t letters = parse_dims(code.substr(1), "a text's length").at(0),
                  item = letters * (code[0] == 'U' ? 4 : 1);
    const Array shape = Array::make(MICA_U8, dims);  // checks the product
    if (fortran || type[0] == '>' || letters < 0 ||
        static_cast<int64_t>(room) / std::max<int64_t>(item, 1) < shape.count())
      bad(name, "texts in this order, or the file ends too early");
    return read_strings(code, data, std::move(dims), static_cast<size_t>(letters));
  }
  for (const NpyType& known : kTypes) {
    if (known.code != code) continue;
    Array array = Array::make(known.dtype, std::move(dims));
    if (room < array.bytes.size()) bad(name, "the file ends too early");
    const auto item = static_cast<size_t>(mica_dtype_bits(known.dtype)) / 8;
    copy_elements(array, data, item, fortran);
    const size_t part = known.dtype == MICA_C64 || known.dtype == MICA_C128 ? item / 2 : item;
    for (size_t i = 0; type[0] == '>' && i < array.bytes.size(); i += part)
      std::reverse(array.bytes.begin() + static_cast<std::ptrdiff_t>(i),
                   array.bytes.begin() + static_cast<std::ptrdiff_t>(i + part));
    return array;
  }
  bad(name, "arrays of type `" + type + "` are not known");
}

std::string write_npy(const Tensor& tensor) {
  std::string code;
  const std::string body = npy_body(tensor, code);
  std::string shape;
  for (int64_t d : tensor.shape()) shape += std::to_string(d) + ", ";
  if (tensor.rank() > 1)
    shape.resize(shape.size() - 2);
  else if (tensor.rank() == 1)
    shape.pop_back();
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", code, shape);
  header.append((64 - (header.size() + 11) % 64) % 64, ' ');
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += {1, 0};
  append(bytes, static_cast<uint16_t>(header.size()));
  return bytes + header + body;
}

std::map<std::string, Array> read_npz(const std::string& bytes, const std::string& name) {
  std::map<std::string, Array> arrays;
  for (const ZipEntry& entry : read_directory(bytes, name)) {
    std::string key = entry.name;
    if (ends_with(key, ".npy")) key.resize(key.size() - 4);
    arrays.emplace(key, read_npy(unpack(entry, bytes, name), name + ":" + key));
  }
  return arrays;
}

std::string write_npz(const std::vector<std::pair<std::string, Tensor>>& arrays) {
  std::string bytes, directory;
  for (const auto& [name, tensor] : arrays) {
    const std::string file = name + ".npy", body = write_npy(tensor);
    if (("/" + name + "/").find("/../") != std::string::npos)
      fail_usage(fmt::format("`{}` would lead out of the folder that an archive is unpacked in", name),
                 "leave it out by --outputs, or save it alone as .npy");
    if (body.size() + bytes.size() > 0xfffffff0u)
      fail_usage("the archive would be larger than 4 GiB", "save fewer outputs");
    std::string common;  // of both headers: version needed … length of the extra field
    append(common, uint16_t{20}), append(common, uint16_t{0x800}), append(common, uint16_t{0});
    append(common, uint16_t{0}), append(common, uint16_t{0x21});  // 1 January 1980
    append(common, crc32(body)), append(common, static_cast<uint32_t>(body.size())),
        append(common, static_cast<uint32_t>(body.size()));
    append(common, static_cast<uint16_t>(file.size())), append(common, uint16_t{0});
    directory += "PK\1\2";
    append(directory, uint16_t{20});
    directory += common;
    directory.append(10, '\0');  // comment's length, disk, attributes
    append(directory, static_cast<uint32_t>(bytes.size()));
    directory += file;
    bytes += "PK\3\4" + common + file + body;
  }
  const size_t start = bytes.size();
  bytes += directory + std::string("PK\5\6\0\0\0\0", 8);
  append(bytes, static_cast<uint16_t>(arrays.size())), append(bytes, static_cast<uint16_t>(arrays.size()));
  append(bytes, static_cast<uint32_t>(directory.size())), append(bytes, static_cast<uint32_t>(start)),
      append(bytes, uint16_t{0});
  return bytes;
}

}  // namespace mica::cli
