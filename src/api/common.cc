// Errors, element types and structures at the C door.
#include <cstring>
#include <new>

#include "api/handles.h"
#include "base/version.h"

struct mica_error {
  mica::Error* error;  // null: out of memory
  char* text;
  mica_error* cause;
};

namespace mica {
namespace {

constinit const mica_error kNoMemory = {nullptr, nullptr, nullptr};

const char* text_of(std::string_view text) {
  return text.empty() ? "" : text.data();
}  // an Error's texts end with a zero

void destroy(mica_error* error) {
  while (error && error != &kNoMemory) {
    mica_error* cause = error->cause;
    if (error->error) {
      error->error->~Error();
      deallocate(error->error);
    }
    deallocate(error->text);
    deallocate(error);
    error = cause;
  }
}

}  // namespace

mica_error* give(Error error) {
  auto* const no_memory = const_cast<mica_error*>(&kNoMemory);
  if (error.code() == Code::kOutOfMemory && !error.cause()) return no_memory;
  auto* made = static_cast<mica_error*>(allocate(sizeof(mica_error)));
  if (!made) return no_memory;
  const size_t length = error.print(nullptr, 0);
  *made = {static_cast<Error*>(allocate(sizeof(Error))), static_cast<char*>(allocate(length + 1)), nullptr};
  if (!made->error || !made->text) {
    deallocate(made->error);
    made->error = nullptr;
    destroy(made);
    return no_memory;
  }
  error.print(made->text, length + 1);
  if (error.cause()) made->cause = give(error.cause()->copy());
  new (made->error) Error(std::move(error));
  return made;
}

Status read_struct(const void* from, size_t known, void* to) {
  size_t size;
  std::memcpy(&size, from, sizeof size);
  MICA_CHECK(size >= sizeof(size_t), kUsage, "a structure has no size: MICA_INIT sets it");
  const auto* bytes = static_cast<const unsigned char*>(from);
  for (size_t i = known; i < size; ++i)
    MICA_CHECK(bytes[i] == 0, kUsage, "a structure has a field set that version {} does not know", MICA_VERSION);
  std::memcpy(to, from, std::min(size, known));
  return {};
}

Result<TensorView> view_of(const mica_tensor* tensor) {
  MICA_CHECK(tensor, kUsage, "the tensor is null");
  MICA_CHECK(tensor->dtype > MICA_NONE && tensor->dtype <= MICA_C128, kBadType, "{} is no element type",
             static_cast<int>(tensor->dtype));
  MICA_CHECK(tensor->rank >= 0 && tensor->rank <= MICA_MAX_RANK, kBadRank, "a tensor's rank is 0 to {}, got {}",
             MICA_MAX_RANK, tensor->rank);
  const int64_t bytes = mica_tensor_bytes(tensor);
  MICA_CHECK(bytes >= 0, kBadShape, "a tensor's dimension is negative, or its size too large");
  MICA_CHECK(tensor->data || bytes == 0, kUsage, "the tensor has no data");
  return dense_view(tensor->data, static_cast<DType>(tensor->dtype), {tensor->dims, static_cast<size_t>(tensor->rank)});
}

mica_tensor tensor_of(const TensorView& view) {
  mica_tensor made{};
  made.data = view.data;
  made.dtype = static_cast<mica_dtype>(view.dtype);
  made.rank = view.rank;
  for (int i = 0; i < view.rank; ++i) made.dims[i] = view.dim(i);
  return made;
}

static_assert(MICA_MAX_RANK == kMaxRank);
static_assert(static_cast<int>(MICA_C128) + 1 == kDTypeCount);
static_assert(static_cast<int>(MICA_BOOL) == static_cast<int>(DType::kBool));
static_assert(static_cast<int>(MICA_F32) == static_cast<int>(DType::kF32) &&
              static_cast<int>(MICA_BF16) == static_cast<int>(DType::kBf16));
static_assert(static_cast<int>(MICA_I8) == static_cast<int>(DType::kI8) &&
              static_cast<int>(MICA_U64) == static_cast<int>(DType::kU64));
static_assert(static_cast<int>(MICA_I4) == static_cast<int>(DType::kI4) &&
              static_cast<int>(MICA_U2) == static_cast<int>(DType::kU2));
static_assert(static_cast<int>(MICA_F8E4M3FN) == static_cast<int>(DType::kF8E4m3fn));
static_assert(static_cast<int>(MICA_F8E5M2) == static_cast<int>(DType::kF8E5m2));
static_assert(static_cast<int>(MICA_F8E8M0) == static_cast<int>(DType::kF8E8m0));
static_assert(static_cast<int>(MICA_F4E2M1) == static_cast<int>(DType::kF4E2m1));
static_assert(static_cast<int>(MICA_STRING) == static_cast<int>(DType::kString));
static_assert(sizeof(mica_string) == sizeof(StringRef) && offsetof(mica_string, size) == offsetof(StringRef, size));
static_assert(static_cast<int>(MICA_LOG_DEBUG) == static_cast<int>(LogLevel::kDebug));

}  // namespace mica

extern "C" {

const char* mica_version(void) { return MICA_VERSION; }

int mica_error_code(const mica_error* error) {
  if (!error) return 0;
  return static_cast<int>(error->error ? error->error->code() : mica::Code::kOutOfMemory);
}
const char* mica_error_what(const mica_error* error) {
  if (!error) return "";
  return error->error ? mica::text_of(error->error->what()) : "out of memory";
}
const char* mica_error_where(const mica_error* error) {
  return error && error->error ? mica::text_of(error->error->where()) : "";
}
const char* mica_error_hint(const mica_error* error) {
  return error && error->error ? mica::text_of(error->error->hint()) : "";
}
const mica_error* mica_error_cause(const mica_error* error) { return error ? error->cause : nullptr; }
const char* mica_error_text(const mica_error* error) {
  if (!error) return "";
  return error->text ? error->text : "error[MICA5001]: out of memory\n";
}
void mica_error_free(mica_error* error) { mica::destroy(error); }

const char* mica_dtype_name(mica_dtype dtype) {
  const auto index = static_cast<unsigned>(dtype) <= static_cast<unsigned>(MICA_C128) ? dtype : MICA_NONE;
  return mica::name_of(static_cast<mica::DType>(index)).data();  // the table's texts are literals
}
int mica_dtype_bits(mica_dtype dtype) {
  return static_cast<unsigned>(dtype) <= static_cast<unsigned>(MICA_C128)
             ? mica::bits_of(static_cast<mica::DType>(dtype))
             : 0;
}

int64_t mica_tensor_bytes(const mica_tensor* tensor) {
  if (!tensor || tensor->rank < 0 || tensor->rank > MICA_MAX_RANK) return -1;
  // Eight times the elements, at 16 bytes each, must still be a number.
  int64_t count = 128;
  for (int i = 0; i < tensor->rank; ++i)
    if (tensor->dims[i] < 0 || __builtin_mul_overflow(count, std::max<int64_t>(tensor->dims[i], 1), &count)) return -1;
  return mica::dense_bytes(static_cast<mica::DType>(tensor->dtype), {tensor->dims, static_cast<size_t>(tensor->rank)});
}

}  // extern "C"
