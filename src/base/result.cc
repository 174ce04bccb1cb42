#include "base/result.h"

#include <cstring>

namespace mica {
namespace {

char* duplicate(std::string_view text) {
  if (text.empty()) return nullptr;
  char* copy = static_cast<char*>(allocate(text.size() + 1));
  if (!copy) return nullptr;
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = 0;
  return copy;
}

void replace(char*& field, std::string_view text) {
  char* fresh = duplicate(text);
  if (!fresh) return;  // the older text is better than none
  deallocate(field);
  field = fresh;
}

}  // namespace

Error::Error(Code code, std::string_view what, std::string_view where, std::string_view hint) : record_(nullptr) {
  if (code == Code::kOk || code == Code::kOutOfMemory) return;
  record_ = static_cast<Record*>(allocate(sizeof(Record)));
  if (record_) *record_ = {code, duplicate(what), duplicate(where), duplicate(hint), nullptr};
}

Error format_error(Code code, std::string_view pattern, const FormatArg* args, size_t count) {
  Error made(code, {});
  const size_t need = format_args(nullptr, 0, pattern, args, count);
  char* text = made.record_ ? static_cast<char*>(allocate(need + 1)) : nullptr;
  if (!text) return made;
  format_args(text, need + 1, pattern, args, count);
  made.record_->what = text;
  return made;
}

void Error::release() {
  for (Record* record = std::exchange(record_, nullptr); record;) {
    Error* cause = record->cause;
    deallocate(record->what);
    deallocate(record->where);
    deallocate(record->hint);
    deallocate(record);
    record = cause ? std::exchange(cause->record_, nullptr) : nullptr;
    deallocate(cause);
  }
}

Error Error::copy() const {
  if (!record_) return Error(Code::kOutOfMemory, {});
  Error made(code(), what(), where(), hint());
  return cause() ? std::move(made).because(cause()->copy()) : std::move(made);
}

Error&& Error::at(std::string_view place) && {
  if (!record_) return std::move(*this);
  if (!record_->where) {
    record_->where = duplicate(place);
  } else {
    const size_t need = format_to(nullptr, 0, "{}: {}", place, where());
    char* joined = static_cast<char*>(allocate(need + 1));
    if (!joined) return std::move(*this);
    format_to(joined, need + 1, "{}: {}", place, where());
    deallocate(std::exchange(record_->where, joined));
  }
  return std::move(*this);
}

Error&& Error::hinting(std::string_view hint) && {
  if (record_) replace(record_->hint, hint);
  return std::move(*this);
}

Error&& Error::because(Error cause) && {
  if (!record_) return std::move(*this);
  Error** tail = &record_->cause;
  while (*tail && (*tail)->record_) tail = &(*tail)->record_->cause;
  if (void* place = *tail ? nullptr : allocate(sizeof(Error))) *tail = new (place) Error(std::move(cause));
  return std::move(*this);
}

size_t Error::print(char* out, size_t size) const {
  size_t length = 0;
  const auto add = [&](std::string_view pattern, const auto&... args) {
    if (length < size) format_to(out + length, size - length, pattern, args...);
    length += format_to(nullptr, 0, pattern, args...);
  };
  add("error[MICA{}]: {}\n", static_cast<int>(code()), what());
  if (!where().empty()) add("  --> {}\n", where());
  for (const Error* inner = cause(); inner; inner = inner->cause()) {
    add("  = because: {}{}{}\n", inner->what(), inner->where().empty() ? "" : ", at ", inner->where());
  }
  if (!hint().empty()) add("hint: {}\n", hint());
  return length;
}

}  // namespace mica
