// Errors as values. Nothing in the library throws: a function that can fail returns Status or Result<T>.
//
//   Result<Shape> f() { MICA_TRY(Dims d, g()); MICA_CHECK(d.ok, kBadShape, "rank {} is not {}", a, b); return shape; }
#pragma once
#include <cstdint>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/format.h"
#include "base/memory.h"

namespace mica {

// The number is what a person looks up: docs/errors.md has an entry for each. Groups: 1 model, 2 file, 3 type and
// shape, 4 running, 5 resources, 6 usage, 7 the operating system.
enum class Code : uint16_t {
  kOk = 0,
  kBadModel = 1001,             // the source model contradicts its own format
  kUnsupportedModel = 1002,     // a whole model cannot be imported; the text lists every reason
  kUnsupportedOperator = 1042,  // an operator, or an attribute or type of it, has no implementation
  kBadAttribute = 1043,
  kLimit = 1050,     // a count, size or depth over a written limit
  kInternal = 1099,  // a stage's result broke the verifier's rules: a defect of Mica
  kBadFile = 2001,   // not a .mica file, truncated, or inconsistent
  kFileVersion = 2002,
  kFileFeature = 2003,
  kBadText = 2010,  // the text form does not parse
  kBadShape = 3001,
  kBadType = 3002,
  kBadRank = 3003,
  kBadValue = 4001,  // a value that steers memory is out of range
  kCancelled = 4002,
  kDeadline = 4003,
  kDepth = 4004,     // calls nested too deep
  kMismatch = 4010,  // a comparison failed
  kOutOfMemory = 5001,
  kMemoryCap = 5002,
  kUsage = 6001,
  kNotFound = 6002,
  kState = 6003,  // the call does not fit the object's state
  kIo = 7001,
  kSystem = 7002,
  kNoDevice = 7010,
};

// One problem as a person reads it. Move-only, one pointer wide; out of memory needs no memory.
class [[nodiscard]] Error {
 public:
  Error(Code code, std::string_view what, std::string_view where = {}, std::string_view hint = {});
  Error(Error&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  Error& operator=(Error&& other) noexcept {
    std::swap(record_, other.record_);
    return *this;
  }
  ~Error() { release(); }
  Error(const Error&) = delete;
  Error& operator=(const Error&) = delete;

  Code code() const { return record_ ? record_->code : Code::kOutOfMemory; }
  std::string_view what() const { return record_ ? view(record_->what) : std::string_view("out of memory"); }
  std::string_view where() const { return record_ ? view(record_->where) : std::string_view(); }
  std::string_view hint() const { return record_ ? view(record_->hint) : std::string_view(); }
  const Error* cause() const { return record_ ? record_->cause : nullptr; }

  Error copy() const;
  // Adds the place when none is known yet; an outer place is put before an inner one.
  Error&& at(std::string_view place) &&;
  Error&& hinting(std::string_view hint) &&;
  Error&& because(Error cause) &&;

  // "error[MICA3001]: what\n  --> where\nhint: hint\n", with causes below. Returns the length needed; writes at most
  // `size`.
  size_t print(char* out, size_t size) const;

 private:
  struct Record {
    Code code;
    char* what;
    char* where;
    char* hint;
    Error* cause;
  };
  static std::string_view view(const char* s) { return s ? std::string_view(s) : std::string_view(); }
  void release();
  friend Error format_error(Code code, std::string_view pattern, const FormatArg* args, size_t count);
  Record* record_;
};

// The text is as long as it has to be. Out of line, because there is a call of `error` for everything that can go
// wrong; and by types that stand for several, so that few lists of types have code.
Error format_error(Code code, std::string_view pattern, const FormatArg* args, size_t count);

template <class... Passed>
Error error_of(Code code, std::string_view pattern, Passed... args) {
  const FormatArg list[sizeof...(args) + 1] = {FormatArg(args)..., FormatArg(0)};
  return format_error(code, pattern, list, sizeof...(args));
}
template <class... Args>
[[gnu::always_inline]] inline Error error(Code code, std::string_view pattern, const Args&... args) {
  return error_of<FormatPassed<Args>...>(code, pattern, args...);
}
inline Error out_of_memory() { return Error(Code::kOutOfMemory, "out of memory"); }

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)), failed_(true) {}
  bool ok() const { return !failed_; }
  const Error& error() const { return error_; }
  Error take_error() { return std::move(error_); }
  Status copy() const { return failed_ ? Status(error_.copy()) : Status(); }

 private:
  struct None {};
  Error error_{Code::kOk, {}};
  bool failed_ = false;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : ok_(true) { new (&value_) T(std::move(value)); }
  Result(Error error) : ok_(false) { new (&error_) Error(std::move(error)); }
  Result(Result&& other) noexcept : ok_(other.ok_) {
    if (ok_)
      new (&value_) T(std::move(other.value_));
    else
      new (&error_) Error(std::move(other.error_));
  }
  Result& operator=(Result&& other) noexcept {
    if (this != &other) {
      this->~Result();
      new (this) Result(std::move(other));
    }
    return *this;
  }
  ~Result() {
    if (ok_)
      value_.~T();
    else
      error_.~Error();
  }

  bool ok() const { return ok_; }
  T& operator*() { return value_; }
  const T& operator*() const { return value_; }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }
  T take() { return std::move(value_); }
  const Error& error() const { return error_; }
  Error take_error() { return std::move(error_); }

 private:
  union {
    T value_;
    Error error_;
  };
  bool ok_;
};

}  // namespace mica

#define MICA_CONCAT2(a, b) a##b
#define MICA_CONCAT(a, b) MICA_CONCAT2(a, b)
// Returns the error of a Status, or goes on.
#define MICA_TRY_STATUS(expression)                                                          \
  do {                                                                                       \
    if (auto mica_status = (expression); !mica_status.ok()) return mica_status.take_error(); \
  } while (0)
// Declares a variable from a Result, or returns its error: MICA_TRY(Graph graph, import(bytes));
#define MICA_TRY(declaration, expression)                                                                 \
  auto MICA_CONCAT(mica_result_, __LINE__) = (expression);                                                \
  if (!MICA_CONCAT(mica_result_, __LINE__).ok()) return MICA_CONCAT(mica_result_, __LINE__).take_error(); \
  declaration = std::move(*MICA_CONCAT(mica_result_, __LINE__))
// Returns an error with a formatted text unless the condition holds.
#define MICA_CHECK(condition, code, ...)                                     \
  do {                                                                       \
    if (!(condition)) return ::mica::error(::mica::Code::code, __VA_ARGS__); \
  } while (0)
