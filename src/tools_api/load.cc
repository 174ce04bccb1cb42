// Source models as models that sessions run.
#include "api/handles.h"
#include "convert/convert.h"
#include "mica/tools.hpp"
#include "tools_api/options.h"

namespace mica::tools {

mica_error* load(mica_context* context, const std::string& path, const ConvertOptions& options, mica_model** model,
                 ConvertReport* report) {
  mica::ConvertReport full;
  auto lowered = convert(Source{.path = path}, internal_options(options), full);
  if (!lowered.ok()) return give(lowered.take_error());
  if (report) *report = public_report(full);
  auto* keep = new std::shared_ptr<const void>(lowered->keep);
  const auto release = [](void* owner) { delete static_cast<std::shared_ptr<const void>*>(owner); };
  auto made = make_model(context, std::move(lowered->plan), keep, release);
  if (!made.ok()) return give(made.take_error());
  *model = *made;
  return nullptr;
}

}  // namespace mica::tools
