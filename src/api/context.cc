// Contexts of the C interface.
#include <cstring>
#include <new>

#include "api/handles.h"
#include "base/parts.h"

namespace mica {
namespace {

void write_log(void* user, LogLevel level, std::string_view text) {
  const auto* context = static_cast<const mica_context*>(user);
  char line[1025];  // a remark has at most 1023 bytes
  const size_t size = std::min(text.size(), sizeof line - 1);
  std::memcpy(line, text.data(), size);
  line[size] = 0;
  context->log_fn(context->log_user, static_cast<mica_log_level>(level), line);
}

Result<Threads> make_threads(const mica_context_options& options) {
  if (!options.executor) return Threads::create({.threads = options.threads});
  MICA_TRY(const mica_executor given, read_struct(options.executor));
  const Executor executor{given.user, given.concurrency, given.parallel};
  return Threads::create({.threads = options.threads, .executor = &executor});
}

Result<mica_context*> make_context(const mica_context_options* given) {
  MICA_TRY(const mica_context_options options, read_struct(given));
  MICA_CHECK(options.threads >= 0, kUsage, "the number of threads is negative");
  MICA_TRY(Threads threads, make_threads(options));
  MICA_TRY(const Machine machine,
           describe_machine({.isa = options.isa ? options.isa : "", .threads = threads.concurrency()}));
  void* place = allocate(sizeof(mica_context), alignof(mica_context));
  if (!place) return out_of_memory();
  auto* context = new (place) mica_context(std::move(threads), machine);
  context->log_fn = options.log;
  context->log_user = options.log_user;
  if (options.log) context->log = {write_log, context, static_cast<LogLevel>(options.log_most)};
  context->log.info("{} with {}, {} threads", machine.model, name_of(machine.isa), machine.threads);
  return context;
}

Status add_operator(mica_context* context, const mica_operator* given) {
  MICA_CHECK(context && given, kUsage, "a context and an operator are needed");
  MICA_TRY(const mica_operator op, read_struct(given));
  if constexpr (!has_part("custom", "operators"))
    return error(Code::kUnsupportedOperator, "operators of the caller's are not in this build")
        .hinting("the build was trimmed to models without: add the list of one that has such to MICA_TRIM");
  MICA_CHECK(op.domain && op.name && *op.name && op.infer && op.compute, kUsage,
             "an operator needs a domain (perhaps empty), a name, `infer` and `compute`");
  for (const Operator* other : context->operators)
    MICA_CHECK(custom_of(*other).domain != op.domain || custom_of(*other).name != op.name, kState,
               "the context has an operator `{}` of the domain `{}` already", op.name, op.domain);
  MICA_TRY(Operator * made, make_operator(op));
  Status status = context->core.operators.push_back(&custom_of(*made));
  if (status.ok()) status = context->operators.push_back(made);
  if (!status.ok()) {
    if (context->core.operators.size() > context->operators.size()) context->core.operators.pop_back();
    destroy_operator(made);
  }
  return status;
}

}  // namespace

void retain(mica_context* context) { context->references.fetch_add(1, std::memory_order_relaxed); }

void drop(mica_context* context) {
  if (!context || context->references.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  for (Operator* op : context->operators) destroy_operator(op);
  context->~mica_context();
  deallocate(context);
}

}  // namespace mica

extern "C" {

mica_error* mica_context_create(const mica_context_options* options, mica_context** context) {
  if (!context) return mica::give(mica::error(mica::Code::kUsage, "there is no place for the context"));
  auto made = mica::make_context(options);
  if (!made.ok()) return mica::give(made.take_error());
  *context = *made;
  return nullptr;
}
void mica_context_free(mica_context* context) { mica::drop(context); }
int mica_context_threads(const mica_context* context) { return context ? context->threads.concurrency() : 0; }
const char* mica_context_isa(const mica_context* context) {
  return context ? mica::name_of(context->core.machine.isa).data() : "";  // literals
}
const char* mica_context_processor(const mica_context* context) {
  return context ? context->core.machine.model.chars : "";
}
mica_error* mica_context_add_operator(mica_context* context, const mica_operator* op) {
  return mica::give(mica::add_operator(context, op));
}

}  // extern "C"
