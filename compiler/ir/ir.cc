#include "compiler/ir/ir.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace tc::ir {
namespace {
constexpr std::string_view trimmed(std::string_view name) {
  return name.ends_with('_') ? name.substr(0, name.size() - 1) : name;
}
constexpr std::array kOps = {
#define OP(name, levels, operands, results, blocks, proxy, sync, scope) \
  OpInfo{OpKind::name, trimmed(#name), #levels, operands, results, blocks, Proxy::proxy, Sync::sync, Scope::scope},
#include "compiler/ir/op.def"
#undef OP
};

constexpr std::array kIntrinsics = {
#define INTRINSIC(name, operands, results, proxy, sync, scope) \
  OpInfo{OpKind::call, #name, "TD", operands, results, 0, Proxy::proxy, Sync::sync, Scope::scope},
#include "compiler/ir/intrinsic.def"
#undef INTRINSIC
};

// How many operands a spec without repeat marks takes; with one, the least.
size_t least_operands(std::string_view spec) {
  size_t n = 0;
  for (char c : spec) n += c == '*' ? size_t(-1) : 1;
  return n;
}
}  // namespace

const OpInfo& info(OpKind kind) { return kOps[static_cast<size_t>(kind)]; }

std::optional<OpKind> op_from_name(std::string_view name) {
  for (const OpInfo& i : kOps)
    if (i.name == name) return i.kind;
  return std::nullopt;
}

const OpInfo* find_intrinsic(std::string_view name) {
  for (const OpInfo& i : kIntrinsics)
    if (i.name == name) return &i;
  return nullptr;
}

const OpInfo& row_of(const Op& op) {
  const OpInfo* row = op.kind == OpKind::call ? find_intrinsic(text_attr(op, "name", "")) : nullptr;
  return row ? *row : info(op.kind);
}

bool is_legal(OpKind kind, Level level) {
  return info(kind).levels.find(level == Level::tile ? 'T' : 'D') != std::string_view::npos;
}

char operand_role(const OpInfo& op, size_t n, size_t count) {
  std::string_view rest = op.operands;
  while (true) {
    size_t bar = rest.find('|');
    std::string_view spec = rest.substr(0, bar);
    bool repeats = spec.find('*') != std::string_view::npos;
    size_t least = least_operands(spec);
    if (repeats ? count >= least : count == least) {
      // Repeats stretch: `n` counts along the spec with the starred letter taking all that is left over.
      size_t extra = count - least, at = 0;
      for (size_t i = 0; i < spec.size(); ++i) {
        if (spec[i] == '*') continue;
        size_t width = i + 1 < spec.size() && spec[i + 1] == '*' ? extra : 1;
        if (n < at + width) return spec[i];
        at += width;
      }
      return 0;
    }
    if (bar == std::string_view::npos) return 0;
    rest = rest.substr(bar + 1);
  }
}

char operand_role(const Op& op, size_t n) {
  char role = operand_role(row_of(op), n, op.operands.size());
  if (role != 'x') return role;
  std::string_view access = text_attr(op, "access", "");
  return n < access.size() ? access[n] : role;
}

bool is_dynamic(const Type& type) {
  return std::ranges::any_of(type.shape, &MetaInt::dynamic) || std::ranges::any_of(type.strides, &MetaInt::dynamic);
}

int64_t element_count(const Type& type) {
  assert(!is_dynamic(type) && "the elements of a dynamic type are known at the launch only");
  int64_t n = 1;
  for (const MetaInt& e : type.shape) n *= e.value;
  return n;
}

BlockId Module::new_block() {
  blocks.emplace_back();
  return {static_cast<uint32_t>(blocks.size() - 1)};
}

ValueId Module::new_value(Type type, std::string name, OpId def) {
  values.push_back({std::move(type), std::move(name), def});
  return {static_cast<uint32_t>(values.size() - 1)};
}

OpId Module::new_op(BlockId at, OpKind kind, std::vector<ValueId> operands, std::vector<Type> results,
                    SourceRange loc) {
  OpId id{static_cast<uint32_t>(ops.size())};
  ops.push_back({.kind = kind, .operands = std::move(operands), .loc = loc});
  for (Type& t : results) {
    ValueId v = new_value(std::move(t), {}, id);
    ops[id.index].results.push_back(v);
  }
  blocks[at.index].ops.push_back(id);
  return id;
}

MetaId Module::new_meta(MetaNode node) {
  for (size_t i = 0; i < metas.size(); ++i)
    if (metas[i] == node) return {static_cast<uint32_t>(i)};
  metas.push_back(std::move(node));
  return {static_cast<uint32_t>(metas.size() - 1)};
}

const AttrValue* find_attr(std::span<const Attr> attrs, std::string_view name) {
  for (const Attr& a : attrs)
    if (a.name == name) return &a.value;
  return nullptr;
}

void set_attr(std::vector<Attr>& attrs, std::string_view name, AttrValue value) {
  for (Attr& a : attrs)
    if (a.name == name) {
      a.value = std::move(value);
      return;
    }
  attrs.push_back({std::string(name), std::move(value)});
}

int64_t int_attr(const Op& op, std::string_view name, int64_t otherwise) {
  const AttrValue* a = find_attr(op.attrs, name);
  const MetaInt* i = a ? std::get_if<MetaInt>(a) : nullptr;
  return i ? i->value : otherwise;
}

std::string_view text_attr(const Op& op, std::string_view name, std::string_view otherwise) {
  const AttrValue* a = find_attr(op.attrs, name);
  const std::string* s = a ? std::get_if<std::string>(a) : nullptr;
  return s ? std::string_view(*s) : otherwise;
}

std::optional<MetaInt> constant_value(const Module& m, ValueId v) {
  OpId def = m[v].def;
  if (!def.valid() || m[def].kind != OpKind::constant) return std::nullopt;
  const AttrValue* a = find_attr(m[def].attrs, "value");
  const MetaInt* i = a ? std::get_if<MetaInt>(a) : nullptr;
  return i ? std::optional(*i) : std::nullopt;
}

ValueId buffer_of(const Module& m, ValueId v) {
  OpId def = m[v].def;
  return def.valid() && m[def].kind == OpKind::region ? m[def].operands[0] : v;
}

const SourceRange& place(const Op& op) { return op.text_loc.valid() ? op.text_loc : op.loc; }

std::vector<Note> origin_notes(const Op& op) {
  if (!op.text_loc.valid() || !op.loc.valid()) return {};
  return {{op.loc, "from this statement"}};
}

void meta_params(const Module& m, MetaId expr, std::vector<std::string>& out) {
  if (!expr.valid()) return;
  const MetaNode& n = m[expr];
  if (n.kind == MetaKind::param && std::ranges::find(out, n.name) == out.end()) out.push_back(n.name);
  meta_params(m, n.lhs, out);
  meta_params(m, n.rhs, out);
}

}  // namespace tc::ir
