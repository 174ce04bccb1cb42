#include "symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

namespace mica::suite {
namespace {

constexpr Isa kEveryIsa[] = {Isa::kPortable, Isa::kSse2, Isa::kAvx2, Isa::kAvx512, Isa::kNeon};

// Where the program's addresses of 0 lie.
uintptr_t load_address() {
  uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* found) {
        *static_cast<uintptr_t*>(found) = info->dlpi_addr;
        return 1;  // the program comes first
      },
      &base);
  return base;
}

// The set in whose namespace a mangled name begins: _ZN4mica4avx2..., also of locals, constants and lambdas.
bool isa_of(std::string_view mangled, Isa& isa) {
  for (Isa one : kEveryIsa) {
    const std::string space = "4mica" + std::to_string(name_of(one).size()) + std::string(name_of(one));
    const size_t at = mangled.find(space);
    if (!mangled.starts_with("_Z") || at == std::string_view::npos || at > 6) continue;
    isa = one;
    return true;
  }
  return false;
}

std::string demangled(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : mangled;
}

void erase_all(std::string& text, std::string_view part) {
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) text.erase(at, part.size());
}

// Local symbols follow the name of their source in the table.
void read_table(const std::string& image, const Elf64_Shdr& table, const char* texts, std::vector<KernelSymbol>& out) {
  const uintptr_t base = load_address();
  std::string file;
  for (size_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
    const auto& symbol = *reinterpret_cast<const Elf64_Sym*>(image.data() + table.sh_offset + at);
    const char* name = texts + symbol.st_name;
    const auto type = ELF64_ST_TYPE(symbol.st_info);
    if (type == STT_FILE) file = std::string_view(name).substr(std::string_view(name).find_last_of('/') + 1);
    KernelSymbol found;
    if (type != STT_FUNC || symbol.st_shndx == SHN_UNDEF || !isa_of(name, found.isa)) continue;
    if (std::string_view(name).find(".cold") != std::string_view::npos) continue;
    found.address = reinterpret_cast<uint8_t*>(base + symbol.st_value);
    found.file = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL ? file : "";
    found.name = short_name(demangled(name), found.isa);
    out.push_back(std::move(found));
  }
}

}  // namespace

std::string short_name(std::string_view demangled, Isa isa) {
  std::string text(demangled);
  erase_all(text, "(anonymous namespace)::");
  erase_all(text, "mica::" + std::string(name_of(isa)) + "::");
  erase_all(text, "mica::");
  // The name lies between the result's type and the parameters, both outside of angle brackets.
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '<' ? 1 : text[i] == '>' ? -1 : 0;
    if (depth == 0 && text[i] == ' ') begin = i + 1;
    if (depth == 0 && text[i] == '(') return text.substr(begin, i - begin);
  }
  return text;
}

std::vector<KernelSymbol> kernel_symbols() {
  std::ifstream in("/proc/self/exe", std::ios::binary);
  const std::string image((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::vector<KernelSymbol> out;
  if (image.size() < sizeof(Elf64_Ehdr)) return out;
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(image.data());
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(image.data() + header.e_shoff);
  for (int i = 0; i < header.e_shnum; ++i)
    if (sections[i].sh_type == SHT_SYMTAB)
      read_table(image, sections[i], image.data() + sections[sections[i].sh_link].sh_offset, out);
  std::ranges::sort(out, {}, &KernelSymbol::address);
  // Several names of one function: the first stands for all.
  const auto same = [](const KernelSymbol& a, const KernelSymbol& b) { return a.address == b.address; };
  out.erase(std::unique(out.begin(), out.end(), same), out.end());
  return out;
}

}  // namespace mica::suite
