#include "passes/declutter/declutter.h"

namespace mica {

std::vector<RuleInfo> all_rules() { return {}; }

RuleCounts declutter(Graph&, const DeclutterOptions&) { return {}; }

}  // namespace mica
