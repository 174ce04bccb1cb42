// Source models as models that sessions run, and as `.mica` files.
#include "runtime/load.h"

#include "api/handles.h"
#include "convert/convert.h"
#include "convert/write.h"
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
         options.preprocess == others.preprocess && options.labels == others.labels &&
         options.strict == others.strict && options.fuse == others.fuse;
}

Result<Model*> load_any(mica_context* context, const std::string& path, const ConvertOptions& options,
                        ConvertReport* report) {
  MICA_TRY(MappedFile file, MappedFile::open(path));
  if (looks_like_plan(file.bytes())) {
    MICA_CHECK(same(options, {}), kUsage, "`{}` is compiled already: options of the compiler have no place here", path);
    return load_model(context->core, std::move(file), {.name = path});
  }
  MICA_TRY(Lowered lowered, compile(context, Source{.path = path, .bytes = {}, .folder = {}}, options, report));
  auto* keep = new Keep(std::move(lowered.keep));
  return Model::create(context->core, std::move(lowered.plan), keep,
                       [](void* owner) { delete static_cast<Keep*>(owner); });
}

Status write(mica_context* context, const std::string& path, const std::string& out, const ConvertOptions& options,
             ConvertReport* report) {
  ConvertReport told;
  MICA_TRY(Lowered lowered, compile(context, Source{.path = path, .bytes = {}, .folder = {}}, options, &told));
  MICA_TRY(const FileSizes sizes, write_mica(lowered.plan, out, {.graph = {}, .source = path}));
  told.file_bytes = static_cast<int64_t>(sizes.total);
  told.weight_bytes = static_cast<int64_t>(sizes.weights);
  if (report) *report = told;
  return {};
}

}  // namespace

mica_error* load(mica_context* context, const std::string& path, const ConvertOptions& options, mica_model** model,
                 ConvertReport* report) {
  if (!context || !model) return give(error(Code::kUsage, "a context and a place for the model are needed"));
  auto core = load_any(context, path, options, report);
  if (!core.ok()) return give(core.take_error());
  auto made = make_model(context, *core);
  if (!made.ok()) return give(made.take_error());
  *model = *made;
  return nullptr;
}

mica_error* convert_file(mica_context* context, const std::string& path, const std::string& out,
                         const ConvertOptions& options, ConvertReport* report) {
  return give(write(context, path, out, options, report));
}

}  // namespace mica::tools
