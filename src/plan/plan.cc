#include "plan/plan.h"

namespace mica {

Result<uint32_t> Plan::add_name(std::string_view text) {
  String name;
  MICA_TRY_STATUS(name.assign(text));
  MICA_TRY_STATUS(names.push_back(std::move(name)));
  return static_cast<uint32_t>(names.size() - 1);
}

}  // namespace mica
