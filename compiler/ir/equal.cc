// Are two modules the same program? Arenas may be numbered differently; names, types, attributes, places and order have
// to agree.
#include <map>

#include "compiler/ir/ir.h"

namespace tc::ir {
namespace {

struct Comparer {
  const Module &a, &b;
  std::map<uint32_t, uint32_t> values;  // of a → of b

  bool same(const MetaInt& x, const MetaInt& y) const {
    return x.value == y.value && x.expr.valid() == y.expr.valid() &&
           (!x.expr.valid() || meta_text(a, x) == meta_text(b, y));
  }
  bool same(const std::vector<MetaInt>& x, const std::vector<MetaInt>& y) const {
    return std::ranges::equal(x, y, [&](const MetaInt& p, const MetaInt& q) { return same(p, q); });
  }
  bool same(const Type& x, const Type& y) const {
    return x.kind == y.kind && x.dtype == y.dtype && x.lanes == y.lanes && x.space == y.space && x.layout == y.layout &&
           same(x.shape, y.shape) && same(x.strides, y.strides);
  }
  bool same(const std::vector<Attr>& x, const std::vector<Attr>& y) const {
    return std::ranges::equal(x, y, [&](const Attr& p, const Attr& q) {
      if (p.name != q.name || p.value.index() != q.value.index()) return false;
      if (auto i = std::get_if<MetaInt>(&p.value)) return same(*i, std::get<MetaInt>(q.value));
      if (auto l = std::get_if<std::vector<MetaInt>>(&p.value))
        return same(*l, std::get<std::vector<MetaInt>>(q.value));
      if (auto t = std::get_if<std::string>(&p.value)) return *t == std::get<std::string>(q.value);
      double u = std::get<double>(p.value), v = std::get<double>(q.value);
      return u == v || (u != u && v != v);
    });
  }
  static bool same(const SourceRange& x, const SourceRange& y) {
    return x.line == y.line && x.column == y.column && x.end_line == y.end_line && x.end_column == y.end_column &&
           (!x.valid() || source_file_name(x.file) == source_file_name(y.file));
  }
  bool define(const std::vector<ValueId>& x, const std::vector<ValueId>& y) {
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i) {
      if (!same(a[x[i]].type, b[y[i]].type)) return false;
      values[x[i].index] = y[i].index;
    }
    return true;
  }
  bool same(BlockId x, BlockId y) {
    if (!define(a[x].args, b[y].args) || a[x].ops.size() != b[y].ops.size()) return false;
    for (size_t i = 0; i < a[x].ops.size(); ++i)
      if (!same(a[a[x].ops[i]], b[b[y].ops[i]])) return false;
    return true;
  }
  bool same(const Op& x, const Op& y) {
    bool operands = std::ranges::equal(x.operands, y.operands, [&](ValueId p, ValueId q) {
      auto it = values.find(p.index);
      return it != values.end() && it->second == q.index;
    });
    if (x.kind != y.kind || !operands || !same(x.attrs, y.attrs) || !same(x.loc, y.loc) ||
        !define(x.results, y.results) || x.blocks.size() != y.blocks.size())
      return false;
    for (size_t i = 0; i < x.blocks.size(); ++i)
      if (!same(x.blocks[i], y.blocks[i])) return false;
    return true;
  }
  bool same(const Func& x, const Func& y) {
    bool head = x.name == y.name && x.instance == y.instance && x.specialisation == y.specialisation &&
                x.args == y.args && x.outputs == y.outputs && same(x.attrs, y.attrs) && same(x.loc, y.loc) &&
                x.preconditions.size() == y.preconditions.size();
    for (size_t i = 0; head && i < x.preconditions.size(); ++i)
      head =
          x.preconditions[i].text == y.preconditions[i].text && x.preconditions[i].params == y.preconditions[i].params;
    return head && define(x.params, y.params) && define(x.symbols, y.symbols) && same(x.body, y.body);
  }
};

}  // namespace

bool equal(const Module& a, const Module& b) {
  if (a.level != b.level || a.arch != b.arch || a.funcs.size() != b.funcs.size()) return false;
  for (size_t i = 0; i < a.funcs.size(); ++i)
    if (!Comparer{a, b, {}}.same(a.funcs[i], b.funcs[i])) return false;
  return true;
}

}  // namespace tc::ir
