// From a tile module to a device module: passes.def lists the passes, each a function of this signature in a file of
// its own. A pass returns at its first failure; run() validates the level after every pass.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "specs/arch.h"

namespace tc::ir {

struct PassContext {
  ArchInfo arch;
  std::vector<Diag>* warnings = nullptr;          // receives what is accepted and not acted on, if set
  std::vector<std::string>* explain = nullptr;  // receives a line for every predicate of every selection, if set
};

#define PASS(name, level, what) Status name(Module& m, const PassContext& cx);
#include "compiler/passes/passes.def"
#undef PASS

struct PassInfo {
  std::string_view name;
  Level level;
  std::string_view what;
  Status (*run)(Module&, const PassContext&);
};
std::span<const PassInfo> passes();

// Runs all passes; `after` sees the module after each one.
Status lower_to_device(Module& m, const PassContext& cx,
                       const std::function<void(const PassInfo&, const Module&)>& after = nullptr);

}  // namespace tc::ir
