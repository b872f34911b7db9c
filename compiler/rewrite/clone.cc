#include "compiler/rewrite/clone.h"

#include <cassert>

namespace tc::ir {

Module empty_like(const Module& m) {
  Module to;
  to.level = m.level;
  to.arch = m.arch;
  to.metas = m.metas;  // so meta ids stay as they are
  return to;
}

ValueId Cloner::value(ValueId v) const {
  auto it = values.find(v);
  assert(it != values.end() && "an operand is cloned before its use");
  return it->second;
}

void Cloner::clone_functions() {
  for (const Func& f : from.funcs) clone_function(f);
}

void Cloner::clone_function(const Func& f) {
  Func g = f;
  for (std::vector<ValueId>* list : {&g.params, &g.symbols})
    for (ValueId& p : *list) {
      ValueId q = to.new_value(from[p].type, from[p].name);
      values[p] = q;
      p = q;
    }
  g.body = to.new_block();
  BlockId body = g.body;
  to.funcs.push_back(std::move(g));
  clone_ops(f.body, body);
}

void Cloner::clone_ops(BlockId from_block, BlockId at) {
  for (OpId id : from[from_block].ops) clone_op(id, at);
}

void Cloner::clone_op(OpId id, BlockId at) {
  if (!hook_ || !hook_(*this, id, at)) copy_op(id, at);
}

OpId Cloner::copy_op(OpId id, BlockId at) {
  const Op& o = from[id];
  std::vector<ValueId> operands;
  for (ValueId v : o.operands) operands.push_back(value(v));
  std::vector<Type> types;
  for (ValueId v : o.results) types.push_back(from[v].type);
  OpId copy = to.new_op(at, o.kind, std::move(operands), std::move(types), o.loc);
  to[copy].attrs = o.attrs;
  to[copy].text_loc = o.text_loc;
  for (size_t i = 0; i < o.results.size(); ++i) {
    ValueId r = to[copy].results[i];
    to[r].name = from[o.results[i]].name;
    values[o.results[i]] = r;
  }
  for (BlockId b : o.blocks) {
    BlockId inner = clone_block(b);
    to[copy].blocks.push_back(inner);
  }
  return copy;
}

BlockId Cloner::clone_block(BlockId id) {
  BlockId block = to.new_block();
  for (ValueId v : from[id].args) {
    ValueId a = to.new_value(from[v].type, from[v].name);
    values[v] = a;
    to[block].args.push_back(a);
  }
  clone_ops(id, block);
  return block;
}

}  // namespace tc::ir
