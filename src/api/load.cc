// Loading through the C interface.
#include "runtime/load.h"

#include "api/handles.h"

namespace mica {
namespace {

// A loaded model; with `path` the file that it is from.
Result<mica_model*> finish(mica_context* context, Result<Model*> core, const mica_load_options& options,
                           std::string_view path = {}) {
  if (!core.ok()) return core.take_error();
  if (Status status = take_tuning(*context, options.tuning, path, **core); !status.ok()) {
    (*core)->drop();
    return status.take_error();
  }
  return make_model(context, *core);
}

LoadOptions options_of(const mica_load_options& options) {
  return {options.name ? options.name : std::string_view(), options.verify_weights != 0};
}

Result<mica_model*> load_file(mica_context* context, const char* path, const mica_load_options* given) {
  MICA_CHECK(context && path, kUsage, "a context and a path are needed");
  MICA_TRY(const mica_load_options options, read_struct(given));
  return finish(context, load_model(context->core, path, options_of(options)), options, path);
}

Result<mica_model*> load_memory(mica_context* context, Bytes bytes, const mica_load_options* given) {
  MICA_CHECK(context && (bytes.data() || bytes.empty()), kUsage, "a context and bytes are needed");
  MICA_TRY(const mica_load_options options, read_struct(given));
  return finish(context, load_model_from_memory(context->core, bytes, options.copy != 0, options_of(options)), options);
}

int64_t read_piece(void* user, uint64_t offset, void* to, size_t bytes) {
  const auto& reader = *static_cast<const mica_reader*>(user);
  return reader.read(reader.user, offset, to, bytes) == 0 ? static_cast<int64_t>(bytes) : -1;
}

Result<mica_model*> load_reader(mica_context* context, const mica_reader* given, const mica_load_options* how) {
  MICA_CHECK(context && given, kUsage, "a context and a reader are needed");
  MICA_TRY(mica_reader reader, read_struct(given));
  MICA_CHECK(reader.read, kUsage, "a reader needs its function");
  MICA_TRY(const mica_load_options options, read_struct(how));
  return finish(context,
                load_model_from_reader(context->core, {read_piece, &reader, reader.bytes}, options_of(options)),
                options);
}

mica_error* hand_over(Result<mica_model*> made, mica_model** model) {
  if (!made.ok()) return give(made.take_error());
  *model = *made;
  return nullptr;
}

mica_error* no_place() { return give(error(Code::kUsage, "there is no place for the model")); }

}  // namespace
}  // namespace mica

extern "C" {

mica_error* mica_model_load_file(mica_context* context, const char* path, const mica_load_options* options,
                                 mica_model** model) {
  return model ? mica::hand_over(mica::load_file(context, path, options), model) : mica::no_place();
}
mica_error* mica_model_load_memory(mica_context* context, const void* bytes, size_t size,
                                   const mica_load_options* options, mica_model** model) {
  const mica::Bytes span(static_cast<const std::byte*>(bytes), size);
  return model ? mica::hand_over(mica::load_memory(context, span, options), model) : mica::no_place();
}
mica_error* mica_model_load_reader(mica_context* context, const mica_reader* reader, const mica_load_options* options,
                                   mica_model** model) {
  return model ? mica::hand_over(mica::load_reader(context, reader, options), model) : mica::no_place();
}

}  // extern "C"
