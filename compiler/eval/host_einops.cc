// einops on abstract tensors: the pattern's names get the extents of the tensor or of the keywords.
//   rearrange(x, "b h (s c) d -> b s c h d", c=64), x of (1, 8, 256, 32)  ->  (1, 4, 64, 8, 32)
// An ellipsis stands for the dimensions that are left. A pattern that does not fit gives a tensor of unknown shape.
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using Keywords = std::vector<std::pair<std::string, Value>>;
using Groups = std::vector<std::vector<std::string>>;  // one a dimension

// "b (h g) 1 d" → {b}, {h, g}, {}, {d}; nullopt: brackets that do not match.
std::optional<Groups> parse_side(std::string_view side) {
  Groups out;
  bool inside = false;
  std::string word;
  auto flush = [&] {
    if (word.empty()) return;
    if (!inside) out.emplace_back();
    if (word != "1") out.back().push_back(word);
    word.clear();
  };
  for (char c : side) {
    if ((c == '(' && inside) || (c == ')' && !inside)) return std::nullopt;
    if (c != ' ' && c != '(' && c != ')') {
      word += c;
      continue;
    }
    flush();
    if (c == '(') inside = true, out.emplace_back();
    if (c == ')') inside = false;
  }
  flush();
  return inside ? std::nullopt : std::optional(out);
}

// "..." as one group becomes a group for each dimension it stands for; inside of brackets all of them.
void expand_ellipsis(Groups& groups, size_t count) {
  for (size_t i = 0; i < groups.size(); ++i) {
    auto at = std::find(groups[i].begin(), groups[i].end(), "...");
    if (at == groups[i].end()) continue;
    std::vector<std::string> names;
    for (size_t d = 0; d < count; ++d) names.push_back("..." + std::to_string(d));
    if (groups[i].size() > 1) {
      at = groups[i].erase(at);
      groups[i].insert(at, names.begin(), names.end());
      return;
    }
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(i));
    for (size_t d = 0; d < count; ++d) groups.insert(groups.begin() + static_cast<std::ptrdiff_t>(i + d), {names[d]});
    return;
  }
}

using Extents = std::unordered_map<std::string, Value>;

bool multiply(Session& s, Value& product, const Value& by, const SourceRange& where) {
  product = binary(s, ast::BinOp::mult, product, by, where);
  return true;
}

// Gives the names of one side their extents: of each group at most one may be open.
bool solve(Session& s, const Groups& groups, const std::vector<Value>& shape, Extents& known,
           const SourceRange& where) {
  if (groups.size() != shape.size()) return false;
  for (size_t d = 0; d < groups.size(); ++d) {
    Value product = integer(1);
    const std::string* open = nullptr;
    for (const std::string& name : groups[d]) {
      auto it = known.find(name);
      if (it != known.end()) multiply(s, product, it->second, where);
      else if (open) return false;
      else open = &name;
    }
    if (!open) continue;
    const auto* p = product.as<MetaInt>();
    if (p && p->value == 0) return false;
    known[*open] = p && p->value == 1 ? shape[d] : binary(s, ast::BinOp::floordiv, shape[d], product, where);
  }
  return true;
}
}  // namespace

std::optional<Value> call_einops(Session& s, const std::string& name, const std::vector<Value>& positional,
                                 const Keywords& keywords, const SourceRange& where) {
  if (name != "rearrange" && name != "repeat" && name != "reduce") return std::nullopt;
  if (positional.size() < 2) return std::nullopt;
  const auto* tensor = positional[0].as<const HostTensor*>();
  const auto* pattern = positional[1].as<std::string>();
  if (!tensor || !pattern) return std::nullopt;
  HostTensor out{"einops." + name + "(...)", where, (*tensor)->dtype, {}};
  size_t arrow = pattern->find("->");
  if (arrow == std::string::npos) return host_tensor(s, std::move(out));
  auto left = parse_side(std::string_view(*pattern).substr(0, arrow)),
       right = parse_side(std::string_view(*pattern).substr(arrow + 2));
  if (left && right && (*tensor)->shape) {
    bool any =
        std::any_of(left->begin(), left->end(), [](const auto& g) { return g == std::vector<std::string>{"..."}; });
    size_t named = left->size() - any, rank = (*tensor)->shape->size();
    size_t rest = any && rank >= named ? rank - named : 0;
    expand_ellipsis(*left, rest);
    expand_ellipsis(*right, rest);
  }
  Extents known;
  for (const auto& [n, v] : keywords) known[n] = v;
  if (left && right && (*tensor)->shape && solve(s, *left, *(*tensor)->shape, known, where)) {
    std::vector<Value> shape;
    bool complete = true;
    for (const auto& group : *right) {
      Value extent = integer(1);
      for (const std::string& n : group)
        complete = complete && known.contains(n) && multiply(s, extent, known.at(n), where);
      shape.push_back(extent);
    }
    if (complete) out.shape = std::move(shape);
  }
  return host_tensor(s, std::move(out));
}

}  // namespace tc::eval
