#include <array>

#include "compiler/passes/passes.h"

namespace tc::ir {
namespace {
constexpr std::array kPasses = {
#define PASS(name, level, what) PassInfo{#name, Level::level, what, name},
#include "compiler/passes/passes.def"
#undef PASS
};
}  // namespace

std::span<const PassInfo> passes() { return kPasses; }

Status lower_to_device(Module& m, const PassContext& cx,
                       const std::function<void(const PassInfo&, const Module&)>& after) {
  for (const PassInfo& pass : kPasses) {
    if (Status s = pass.run(m, cx); !s) return s;
    m.level = pass.level;
    if (Status s = validate(m); !s) {
      Diag d = s.error();
      d.kind = DiagKind::internal;
      d.message = "after pass " + std::string(pass.name) + ": " + d.message;
      return d;
    }
    if (after) after(pass, m);
  }
  return {};
}

}  // namespace tc::ir
