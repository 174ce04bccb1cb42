// Source models as models that sessions run, and as `.mica` files.
#include "runtime/load.h"

#include "api/handles.h"
#include "convert/convert.h"
#include "convert/recipe.h"
#include "convert/write.h"
#include "import/import.h"
#include "mica/tools.hpp"
#include "tools_api/options.h"

namespace mica::tools {
namespace {

using Keep = std::shared_ptr<const void>;

Result<Lowered> compile(mica_context* context, const Source& source, const ConvertOptions& options,
                        ConvertReport* report) {
  mica::ConvertOptions full = internal_options(options);
  if (context)
    for (const CustomOperator* custom : context->core.operators) full.import.operators.push_back(custom);
  mica::ConvertReport told;
  MICA_TRY(Lowered lowered, convert(source, full, told));
  if (report) *report = public_report(told);
  return lowered;
}

bool same(const ConvertOptions& options, const ConvertOptions& others) {
  return options.shapes == others.shapes && options.bounds == others.bounds && options.states == others.states &&
         options.outputs == others.outputs && options.keep == others.keep && options.rules_off == others.rules_off &&
         options.preprocess == others.preprocess && options.pixels == others.pixels &&
         options.labels == others.labels && options.strict == others.strict &&
         options.onnx_release == others.onnx_release && options.fuse == others.fuse &&
         options.half_weights == others.half_weights;
}

Status check_none(const ConvertOptions& options, const std::string& name) {
  MICA_CHECK(same(options, {}), kUsage, "`{}` is compiled already: options of the compiler have no place here", name);
  return {};
}

Result<Model*> load_source(mica_context* context, const Source& source, const ConvertOptions& options,
                           ConvertReport* report) {
  MICA_TRY(Lowered lowered, compile(context, source, options, report));
  auto* keep = new Keep(std::move(lowered.keep));
  return Model::create(context->core, std::move(lowered.plan),
                       {keep, [](void* owner) { delete static_cast<Keep*>(owner); }});
}

Result<Model*> compiled_or_not(mica_context* context, const std::string& path, const ConvertOptions& options,
                               ConvertReport* report) {
  MICA_TRY_STATUS(mica::check_not_written(path, options.written));
  MICA_TRY(MappedFile file, MappedFile::open(path));
  if (!looks_like_plan(file.bytes()))  // not from the path, which may be a pipe
    return load_source(context, Source{.path = path, .bytes = file.bytes(), .folder = folder_of(path)}, options,
                       report);
  MICA_TRY_STATUS(check_none(options, path));
  return load_model(context->core, std::move(file), {.name = path});
}

Result<Model*> load_bytes(mica_context* context, const ModelBytes& bytes, const ConvertOptions& options,
                          ConvertReport* report) {
  const std::span<const std::byte> span(static_cast<const std::byte*>(bytes.data), bytes.size);
  if (!looks_like_plan(span)) return load_source(context, {bytes.name, span, bytes.folder}, options, report);
  MICA_TRY_STATUS(check_none(options, bytes.name));
  return load_model_from_memory(context->core, span, true, {.name = bytes.name});
}

// `path`: where the model is from, or "".
mica_error* give_model(mica_context* context, Result<Model*> core, const LoadOptions& options, const std::string& path,
                       mica_model** model) {
  if (!core.ok()) return give(core.take_error());
  if (Status s = take_tuning(*context, options.tuning ? options.tuning->c_str() : nullptr, path, **core); !s.ok()) {
    (*core)->drop();
    return give(s.take_error());
  }
  auto made = make_model(context, *core);
  if (!made.ok()) return give(made.take_error());
  *model = *made;
  return nullptr;
}

Status write(mica_context* context, const std::string& path, const std::string& out, const ConvertOptions& options,
             ConvertReport* report) {
  ConvertReport told;
  ConvertOptions full = options;
  full.written.push_back(out);
  MICA_TRY(Lowered lowered, compile(context, Source{.path = path, .bytes = {}, .folder = {}}, full, &told));
  if (options.half_weights) store_in_half(lowered.plan);
  MICA_TRY(const FileSizes sizes, write_mica(lowered.plan, out, {.graph = {}, .source = path}));
  told.file_bytes = static_cast<int64_t>(sizes.total);
  told.weight_bytes = static_cast<int64_t>(sizes.weights);
  if (report) *report = told;
  return {};
}

}  // namespace

mica_error* parse_recipe(const std::string& json, Recipe& recipe) {
  try {
    const PictureRecipe read = mica::parse_recipe(json);
    recipe = {read.input, read.layout, read.channels, read.fit, read.size, read.short_side, read.mean, read.scale};
    return nullptr;
  } catch (const Failure& failure) {
    return give(failure.error->copy());
  } catch (const std::bad_alloc&) {
    return give(out_of_memory());
  }
}

mica_error* load(mica_context* context, const std::string& path, const LoadOptions& options, mica_model** model,
                 ConvertReport* report) {
  if (!context || !model) return give(error(Code::kUsage, "a context and a place for the model are needed"));
  return give_model(context, compiled_or_not(context, path, options, report), options, path, model);
}

mica_error* load_memory(mica_context* context, const ModelBytes& bytes, const LoadOptions& options, mica_model** model,
                        ConvertReport* report) {
  if (!context || !model || !bytes.data)
    return give(error(Code::kUsage, "a context, the bytes and a place for the model are needed"));
  return give_model(context, load_bytes(context, bytes, options, report), options, {}, model);
}

mica_error* convert_file(mica_context* context, const std::string& path, const std::string& out,
                         const ConvertOptions& options, ConvertReport* report) {
  return give(write(context, path, out, options, report));
}

}  // namespace mica::tools
