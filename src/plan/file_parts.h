// What the writer and the reader of a file share.
#pragma once
#include "plan/bytes.h"
#include "plan/file.h"
#include "plan/limits.h"

namespace mica {

// Seven bits and a line ending that a transfer as text would change, as PNG's signature has them.
inline constexpr unsigned char kFileMagic[8] = {0x8d, 'M', 'I', 'C', 'A', '\r', '\n', 0x1a};
inline constexpr size_t kHeaderBytes = 64;
inline constexpr size_t kHeaderSummed = 60;  // the rest is the header's own checksum
inline constexpr size_t kSectionEntryBytes = 48;
inline constexpr uint32_t kSectionOptional = 1;  // flag

// Flags of a value.
inline constexpr uint8_t kValueChannelsLast = 1, kValueKeep = 2;

// Least bytes of items in lists.
inline constexpr size_t kMinDimBytes = 2, kMinTextBytes = 4, kMinConstantBytes = 72, kMinValueBytes = 16,
                        kMinStageBytes = 23, kMinFunctionBytes = 16;

}  // namespace mica
