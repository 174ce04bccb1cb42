// What the C interface's opaque types hold, and how results become what C sees.
#pragma once
#include <atomic>

#include "base/arena.h"
#include "base/log.h"
#include "base/threads.h"
#include "mica/mica.h"
#include "runtime/session.h"
#include "types/custom.h"

namespace mica {

// Takes the error over. Never null: when memory is short, a constant that says so.
mica_error* give(Error error);
inline mica_error* give(Status status) { return status.ok() ? nullptr : give(status.take_error()); }

// A growing structure as the library knows it: what an older caller does not have is zero. Errors: kUsage for no size,
// or for fields set that this version does not know.
Status read_struct(const void* from, size_t known, void* to);
template <class T>
Result<T> read_struct(const T* from) {
  T made{};
  if (from) MICA_TRY_STATUS(read_struct(from, sizeof(T), &made));
  made.size = sizeof(T);
  return made;
}
// The other way: writes as much as the caller has room for.
template <class T>
Status write_struct(const T& from, T* to) {
  MICA_CHECK(to && to->size >= sizeof(size_t), kUsage, "a structure to be filled has no size: MICA_INIT sets it");
  const size_t size = to->size;
  std::memcpy(to, &from, std::min(size, sizeof(T)));
  to->size = size;
  return {};
}

// Errors: kUsage, kBadType, kBadRank, kBadShape for what is no tensor.
Result<TensorView> view_of(const mica_tensor* tensor);
mica_tensor tensor_of(const TensorView& view);

struct Operator;  // a caller's

}  // namespace mica

struct mica_context {
  mica_context(mica::Threads pool, const mica::Machine& machine) : threads(std::move(pool)) {
    core.machine = machine;
    core.threads = &threads;
  }
  mica::Threads threads;
  mica::Context core;
  mica::Log log;
  void (*log_fn)(void* user, mica_log_level level, const char* text) = nullptr;
  void* log_user = nullptr;
  std::atomic<int> references{1};
  mica::Vector<mica::Operator*> operators;
};

struct mica_model {
  mica_context* context = nullptr;
  mica::Model* core = nullptr;
  mica::Arena texts;
  std::span<mica_port_info> ports[3];  // by mica_port
  std::span<const char*> metadata;     // key, value, key, value, …
  std::atomic<int> references{1};
};

namespace mica {

void retain(mica_context* context);
void drop(mica_context* context);
// Takes the model over, also on failure.
Result<mica_model*> make_model(mica_context* context, Model* core);
// Gives a model that nobody else has yet its measured choices: from `path`, from beside the model's file when `path` is
// null, or none when it is empty. `beside`: the model's file, or "". Errors: those of reading `path`.
Status take_tuning(const mica_context& context, const char* path, std::string_view beside, Model& model);
void retain(mica_model* model);
void drop(mica_model* model);

// Defined in operator.cc.
Result<Operator*> make_operator(const mica_operator& op);
void destroy_operator(Operator* op);
const CustomOperator& custom_of(const Operator& op);

}  // namespace mica
