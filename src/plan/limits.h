// What a plan may hold at most. The writer refuses more and the reader does not believe more, so that a damaged file
// costs neither much memory nor much time. Each limit is far above what networks need: the largest of them, unrolled
// language models, have some ten thousand stages and values.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mica {

inline constexpr uint32_t kMaxDimEntries = 1u << 16;  // expressions of dimensions and their parts
inline constexpr uint32_t kMaxDimDepth = 256;         // nesting of one: evaluation recurses
inline constexpr uint64_t kMaxDimSize = 1u << 16;     // parts of one, shared parts counted each time they are reached
inline constexpr uint32_t kMaxNames = 1u << 22;
inline constexpr uint32_t kMaxNameBytes = 64u << 20;  // of one: labels and pre-processing are metadata
inline constexpr uint32_t kMaxConstants = 1u << 22;
inline constexpr uint32_t kMaxFunctions = 1u << 16;
inline constexpr uint32_t kMaxValues = 1u << 24;        // of one function
inline constexpr uint32_t kMaxStages = 1u << 22;        // of one function
inline constexpr uint32_t kMaxOperands = 1u << 16;      // of one stage, and ports of one function
inline constexpr uint32_t kMaxPlanDepth = 64;           // functions within functions
inline constexpr uint64_t kMaxNestedStages = 1u << 24;  // of a function and those it calls, counted at each call
inline constexpr uint32_t kMaxSections = 64;

}  // namespace mica
