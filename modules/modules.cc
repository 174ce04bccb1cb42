// The table of the modules in this build; the build writes its rows.
#include "modules/modules.h"

#include "modules_table.inc"

mica_error* mica_add_modules(mica_context* context) {
  constexpr int kKnownAlready = 6003;  // the application's own operator of the name goes first
  static constexpr decltype(&mica_add_modules) kModules[] = {MICA_MODULES nullptr};
  for (const auto add : kModules) {
    mica_error* error = add ? add(context) : nullptr;
    if (error && mica_error_code(error) != kKnownAlready) return error;
    mica_error_free(error);
  }
  return nullptr;
}
