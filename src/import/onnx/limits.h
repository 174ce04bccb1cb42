// What a model may be, at most. Everything else that an import allocates is proportional to the bytes that are there.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mica::onnx {

inline constexpr size_t kMaxModelBytes = 0x7fffffff;  // protobuf's own limit for one message
inline constexpr int kMaxMessageDepth = 100;          // messages in messages
inline constexpr int64_t kMaxNodes = int64_t{1}
                                     << 18;    // with regions, and with functions at each place they are called from
inline constexpr int kMaxNesting = 16;         // graphs in graphs
inline constexpr int kMaxCalls = 32;           // functions in functions
inline constexpr size_t kMaxNameBytes = 4096;  // of a node, value, operator, attribute or dimension
inline constexpr int kMaxOperands = 1 << 16;   // inputs or outputs of one node or graph
inline constexpr int64_t kMaxSparseBytes = int64_t{1} << 28;  // a sparse tensor when written out in full
inline constexpr size_t kMaxListedNames = 100;                // node names per problem in a message

}  // namespace mica::onnx
