#include "specs/rule.h"

#include <algorithm>

namespace tc {
namespace {
constexpr Rule kRules[] = {
#define RULE(id, defect, obligation, source, text) Rule{id, defect, obligation, source, text},
#include "specs/rule.def"
#undef RULE
};

consteval bool ids_are_unique() {
  for (size_t i = 0; i < std::size(kRules); ++i)
    for (size_t j = 0; j < i; ++j)
      if (kRules[i].id == kRules[j].id) return false;
  return true;
}
static_assert(ids_are_unique(), "a rule id is given twice");
static_assert(std::ranges::all_of(kRules,
                                  [](const Rule& r) {
                                    return std::ranges::find(kDefectClasses, r.defect) != kDefectClasses.end();
                                  }),
              "a rule has a class that is not in kDefectClasses");
}  // namespace

std::span<const Rule> all_rules() { return kRules; }

const Rule* find_rule(std::string_view id) {
  auto it = std::ranges::find(kRules, id, &Rule::id);
  return it == std::end(kRules) ? nullptr : &*it;
}

bool is_defect_class(std::string_view name) { return std::ranges::find(kDefectClasses, name) != kDefectClasses.end(); }

}  // namespace tc
