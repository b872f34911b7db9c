// Rebuilding a module: ops are copied one by one into a new module through a value map; a hook may write something else
// for an op. Most passes are such a hook.
//   hook(cloner, op, block): true = the hook has written what stands for `op` into `block` (and mapped its results).
#pragma once
#include <functional>
#include <unordered_map>

#include "compiler/ir/ir.h"

namespace tc::ir {

class Cloner {
 public:
  using Hook = std::function<bool(Cloner&, OpId, BlockId)>;
  Cloner(const Module& from, Module& to, Hook hook) : from(from), to(to), hook_(std::move(hook)) {}

  const Module& from;
  Module& to;
  std::unordered_map<ValueId, ValueId> values;

  // All functions; parameters first. `to` keeps level and arch of `from` unless already changed.
  void clone_functions();
  void clone_function(const Func& f);
  void clone_op(OpId id, BlockId at);  // through the hook
  OpId copy_op(OpId id, BlockId at);   // as it is; nested blocks through the hook
  BlockId clone_block(BlockId id);     // new block with mapped arguments
  void clone_ops(BlockId from_block, BlockId at);
  ValueId value(ValueId v) const;  // the new value that stands for v

 private:
  Hook hook_;
};

// The same module, level and meta expressions, with empty function bodies: what a pass writes into.
Module empty_like(const Module& m);

}  // namespace tc::ir
