#include "counts.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace mica::fuzz {
namespace {

constexpr int kName = 24, kDigits = 12, kRow = kName + kDigits + 1;  // bytes; a row ends its line
constexpr int kRows = kStages + 1;
constexpr size_t kBytes = size_t{kRows} * kRow;

}  // namespace

Counts::Counts(const char* path) {
  if (!path) return;
  const int file = open(path, O_RDWR | O_CREAT, 0644);
  struct stat found {};
  if (file < 0 || fstat(file, &found) != 0 || ftruncate(file, kBytes) != 0) std::exit(3);
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) std::exit(3);
  rows_ = static_cast<char*>(memory);
  if (static_cast<size_t>(found.st_size) == kBytes) return;
  for (int row = 0; row < kRows; ++row) {
    std::memset(rows_ + row * kRow, ' ', kName);
    const char* const name = row < kStages ? kStageNames[row] : "longest, ms";
    std::memcpy(rows_ + row * kRow, name, std::strlen(name));
    rows_[(row + 1) * kRow - 1] = '\n';
    set(row, 0);
  }
}
Counts::~Counts() {
  if (rows_) munmap(rows_, kBytes);
}

void Counts::set(int row, long value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%*ld", kDigits, value);
  std::memcpy(rows_ + row * kRow + kName, digits, kDigits);
}
long Counts::get(int row) const { return std::strtol(rows_ + row * kRow + kName, nullptr, 10); }

void Counts::add(Stage stage) {
  if (rows_) set(static_cast<int>(stage), get(static_cast<int>(stage)) + 1);
}
void Counts::longest(int64_t ns) {
  if (rows_) set(kStages, std::max(get(kStages), static_cast<long>(ns / 1'000'000)));
}

}  // namespace mica::fuzz
