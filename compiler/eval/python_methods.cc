// Methods of Python's own types, one row each: str, list, dict, set, int, float. Behaviour: Python's library reference,
// "Built-in Types". A method that is not here is `unsupported` by name.
#include <bit>

#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using Keywords = std::vector<std::pair<std::string, Value>>;

struct Call {
  Session& s;
  Scope& scope;
  const std::vector<Value>& args;
  const Keywords& keywords;
  const SourceRange& where;
  const Value& need(size_t i) const {
    if (i >= args.size()) fail(where, "the method needs " + std::to_string(i + 1) + " arguments");
    return args[i];
  }
  std::string string(size_t i) const { return to_text(need(i), where, "the argument"); }
  const Value* keyword(std::string_view name) const {
    for (const auto& [n, v] : keywords)
      if (n == name) return &v;
    return nullptr;
  }
};

// ---- str
std::string& self_text(const Value& self) { return const_cast<std::string&>(*self.as<std::string>()); }

Value join(const Call& c, const Value& self) {
  std::string out;
  bool first = true;
  for (const Value& v : to_items(c.s, c.need(0), c.where, "the argument of join")) {
    if (const auto* o = v.as<const OpaqueObject*>()) return opaque(c.s, (*o)->what, c.where);
    out += (first ? "" : self_text(self)) + to_text(v, c.where, "an item of join");
    first = false;
    count_items(c.s, out.size() / 16, c.where);
  }
  return text(out);
}

Value split_text(const Call& c, const Value& self, bool lines) {
  const std::string& t = self_text(self);
  std::vector<Value> out;
  if (lines || (!c.args.empty() && !c.args[0].is<NoneV>())) {
    std::string by = lines ? "\n" : c.string(0);
    if (by.empty()) fail(c.where, "the separator is empty");
    int64_t most = c.args.size() > 1 ? to_int(c.s, c.args[1], c.where, "the number of splits").value : INT64_MAX;
    size_t at = 0;
    for (size_t end; most-- > 0 && (end = t.find(by, at)) != std::string::npos; at = end + by.size())
      out.push_back(text(t.substr(at, end - at)));
    if (!lines || at < t.size()) out.push_back(text(t.substr(at)));
    return list(c.s, std::move(out));
  }
  size_t at = 0;
  while ((at = t.find_first_not_of(" \t\n\r", at)) != std::string::npos) {
    size_t end = std::min(t.find_first_of(" \t\n\r", at), t.size());
    out.push_back(text(t.substr(at, end - at)));
    at = end;
  }
  return list(c.s, std::move(out));
}
Value split(const Call& c, const Value& self) { return split_text(c, self, false); }
Value splitlines(const Call& c, const Value& self) { return split_text(c, self, true); }

bool affix(const Call& c, const Value& self, bool front) {
  std::vector<Value> wanted{c.need(0)};
  if (wanted[0].is<const TupleObject*>()) wanted = to_items(c.s, wanted[0], c.where, "the argument");
  return std::any_of(wanted.begin(), wanted.end(), [&](const Value& v) {
    std::string part = to_text(v, c.where, "the argument");
    return front ? self_text(self).starts_with(part) : self_text(self).ends_with(part);
  });
}
Value startswith(const Call& c, const Value& self) { return boolean(affix(c, self, true)); }
Value endswith(const Call& c, const Value& self) { return boolean(affix(c, self, false)); }

Value stripped(const Call& c, const Value& self, bool left, bool right) {
  std::string t = self_text(self), cut = c.args.empty() || c.args[0].is<NoneV>() ? " \t\n\r" : c.string(0);
  if (left) t.erase(0, std::min(t.find_first_not_of(cut), t.size()));
  if (right) t.erase(t.find_last_not_of(cut) + 1);
  return text(t);
}
Value strip(const Call& c, const Value& self) { return stripped(c, self, true, true); }
Value lstrip(const Call& c, const Value& self) { return stripped(c, self, true, false); }
Value rstrip(const Call& c, const Value& self) { return stripped(c, self, false, true); }

Value replace(const Call& c, const Value& self) {
  std::string t = self_text(self), from = c.string(0), to = c.string(1), out;
  if (from.empty()) fail_unsupported(c.where, "replace of an empty string");
  size_t at = 0;
  for (size_t end; (end = t.find(from, at)) != std::string::npos; at = end + from.size())
    out += t.substr(at, end - at) + to;
  out += t.substr(at);
  count_items(c.s, out.size(), c.where);
  return text(out);
}
template <int (*F)(int)>
Value mapped(const Call&, const Value& self) {
  std::string t = self_text(self);
  for (char& ch : t) ch = static_cast<char>(F(static_cast<unsigned char>(ch)));
  return text(t);
}
template <int (*F)(int)>
Value all_are(const Call&, const Value& self) {
  const std::string& t = self_text(self);
  return boolean(!t.empty() && std::all_of(t.begin(), t.end(), [](unsigned char ch) { return F(ch) != 0; }));
}
Value find(const Call& c, const Value& self) {
  size_t at = self_text(self).find(c.string(0));
  return integer(at == std::string::npos ? -1 : static_cast<int64_t>(at));
}
// "{} {0} {name:spec}".format(…)
Value format_method(const Call& c, const Value& self) {
  const std::string& t = self_text(self);
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i < t.size(); ++i) {
    if ((t[i] == '{' || t[i] == '}') && i + 1 < t.size() && t[i + 1] == t[i]) {
      out += t[i++];
      continue;
    }
    if (t[i] != '{') {
      out += t[i];
      continue;
    }
    size_t end = t.find('}', i);
    if (end == std::string::npos) fail(c.where, "the format string has a { without a }");
    std::string field = t.substr(i + 1, end - i - 1), spec;
    i = end;
    if (size_t colon = field.find(':'); colon != std::string::npos) spec = field.substr(colon + 1), field.erase(colon);
    const Value* v = c.keyword(field);
    bool number = !field.empty() && field.size() < 6 && field.find_first_not_of("0123456789") == std::string::npos;
    if (!v && (field.empty() || number)) v = &c.need(field.empty() ? next++ : std::stoul(field));
    if (!v) fail(c.where, "the format has no value for '" + field + "'");
    out += format_spec(c.s, *v, spec, c.where);
  }
  return text(out);
}

// ---- list
ListObject& self_list(const Call& c, const Value& self) {
  ListObject& l = **self.as<ListObject*>();
  if (c.s.uncertain > l.level) l.uncertain = true;
  l.length_expr = {};
  return l;
}
Value append(const Call& c, const Value& self) {
  count_items(c.s, 1, c.where);
  self_list(c, self).items.push_back(c.need(0));
  return none();
}
Value extend(const Call& c, const Value& self) {
  std::vector<Value> more = to_items(c.s, c.need(0), c.where, "the argument of extend");
  count_items(c.s, more.size(), c.where);
  ListObject& l = self_list(c, self);
  l.items.insert(l.items.end(), more.begin(), more.end());
  return none();
}
int64_t place(const Call& c, const Value& v, size_t size, bool end) {
  int64_t i = to_int(c.s, v, c.where, "the index").value, n = static_cast<int64_t>(size);
  if (i < 0) i += n;
  if (end) return std::clamp<int64_t>(i, 0, n);
  if (i < 0 || i >= n) fail(c.where, "the index is outside of the list");
  return i;
}
Value list_pop(const Call& c, const Value& self) {
  ListObject& l = self_list(c, self);
  if (l.items.empty()) fail(c.where, "pop of an empty list");
  int64_t i = c.args.empty() ? static_cast<int64_t>(l.items.size()) - 1 : place(c, c.args[0], l.items.size(), false);
  Value out = l.items[static_cast<size_t>(i)];
  l.items.erase(l.items.begin() + i);
  return out;
}
Value insert(const Call& c, const Value& self) {
  count_items(c.s, 1, c.where);
  ListObject& l = self_list(c, self);
  l.items.insert(l.items.begin() + place(c, c.need(0), l.items.size(), true), c.need(1));
  return none();
}
int64_t position(const Call& c, const std::vector<Value>& items) {
  auto it = std::find_if(items.begin(), items.end(), [&](const Value& v) { return equal_values(v, c.need(0)); });
  if (it == items.end()) fail(c.where, format(c.s, c.need(0)) + " is not in the list");
  return it - items.begin();
}
Value list_remove(const Call& c, const Value& self) {
  ListObject& l = self_list(c, self);
  l.items.erase(l.items.begin() + position(c, l.items));
  return none();
}
Value index(const Call& c, const Value& self) { return integer(position(c, to_items(c.s, self, c.where, "the list"))); }
Value count(const Call& c, const Value& self) {
  int64_t n = 0;
  if (const auto* t = self.as<std::string>()) {
    std::string part = c.string(0);
    for (size_t at = 0; !part.empty() && (at = t->find(part, at)) != std::string::npos; at += part.size()) ++n;
    return integer(n);
  }
  for (const Value& v : to_items(c.s, self, c.where, "the list")) n += equal_values(v, c.need(0));
  return integer(n);
}
Value reverse(const Call& c, const Value& self) {
  ListObject& l = self_list(c, self);
  std::reverse(l.items.begin(), l.items.end());
  return none();
}
Value list_sort(const Call& c, const Value& self) {
  Keywords keywords = c.keywords;
  Value sorted = namespace_attribute(c.s, NamespaceV{"builtins"}, "sorted", c.where);
  Value result = apply(c.s, c.scope, sorted, {self}, keywords, c.where);
  if (auto* const* l = result.as<ListObject*>()) self_list(c, self).items = (*l)->items;
  return none();
}
Value list_copy(const Call& c, const Value& self) { return list(c.s, to_items(c.s, self, c.where, "the list")); }
Value list_clear(const Call& c, const Value& self) {
  self_list(c, self).items.clear();
  return none();
}

// ---- dict and set
DictObject& self_dict(const Value& self) { return **self.as<DictObject*>(); }
Value* entry(DictObject& d, const Value& key) {
  for (auto& [k, v] : d.items)
    if (equal_values(k, key)) return &v;
  return nullptr;
}
void put(const Call& c, DictObject& d, const Value& key, const Value& value) {
  if (Value* known = entry(d, key)) *known = value;
  else d.items.emplace_back(key, value), count_items(c.s, 2, c.where);
}
Value dict_get(const Call& c, const Value& self) {
  if (const Value* v = entry(self_dict(self), c.need(0))) return *v;
  return c.args.size() > 1 ? c.args[1] : none();
}
Value keys(const Call& c, const Value& self) { return list(c.s, to_items(c.s, self, c.where, "the dict")); }
Value values(const Call& c, const Value& self) {
  std::vector<Value> out;
  for (const auto& [k, v] : self_dict(self).items) out.push_back(v);
  return list(c.s, std::move(out));
}
Value items(const Call& c, const Value& self) {
  std::vector<Value> out;
  for (const auto& [k, v] : self_dict(self).items) out.push_back(tuple(c.s, {k, v}));
  return list(c.s, std::move(out));
}
Value dict_pop(const Call& c, const Value& self) {
  DictObject& d = self_dict(self);
  for (size_t i = 0; i < d.items.size(); ++i) {
    if (!equal_values(d.items[i].first, c.need(0))) continue;
    Value out = d.items[i].second;
    d.items.erase(d.items.begin() + static_cast<std::ptrdiff_t>(i));
    return out;
  }
  if (c.args.size() < 2) fail(c.where, "the dict has no key " + format(c.s, c.need(0)));
  return c.args[1];
}
Value update(const Call& c, const Value& self) {
  DictObject& d = self_dict(self);
  if (!c.args.empty()) {
    if (auto* const* other = c.args[0].as<DictObject*>()) {
      DictObject copy = **other;
      for (const auto& [k, v] : copy.items) put(c, d, k, v);
    } else {
      for (const Value& v : to_items(c.s, c.args[0], c.where, "the argument of update")) {
        if (d.is_set) {
          put(c, d, v, none());
          continue;
        }
        std::vector<Value> pair = to_items(c.s, v, c.where, "an item of update");
        if (pair.size() != 2) fail(c.where, "update takes pairs");
        put(c, d, pair[0], pair[1]);
      }
    }
  }
  for (const auto& [name, v] : c.keywords) put(c, d, text(name), v);
  return none();
}
Value setdefault(const Call& c, const Value& self) {
  DictObject& d = self_dict(self);
  if (const Value* v = entry(d, c.need(0))) return *v;
  Value value = c.args.size() > 1 ? c.args[1] : none();
  put(c, d, c.args[0], value);
  return value;
}
Value dict_copy(const Call& c, const Value& self) {
  DictObject& d = dict(c.s);
  d = self_dict(self);
  return Value{&d};
}
Value dict_clear(const Call&, const Value& self) {
  self_dict(self).items.clear();
  return none();
}
Value add(const Call& c, const Value& self) {
  put(c, self_dict(self), c.need(0), none());
  return none();
}
Value discard(const Call& c, const Value& self) {
  std::erase_if(self_dict(self).items, [&](const auto& i) { return equal_values(i.first, c.need(0)); });
  return none();
}
Value set_union(const Call& c, const Value& self) {
  Value out = dict_copy(c, self);
  update(c, out);
  return out;
}

// ---- numbers
Value bit_length(const Call& c, const Value& self) {
  MetaInt i = to_int(c.s, self, c.where, "the integer");
  pin(c.s, i, c.where);
  uint64_t magnitude = i.value < 0 ? -static_cast<uint64_t>(i.value) : static_cast<uint64_t>(i.value);
  return integer(static_cast<int64_t>(std::bit_width(magnitude)));
}
Value bit_count(const Call& c, const Value& self) {
  MetaInt i = to_int(c.s, self, c.where, "the integer");
  pin(c.s, i, c.where);
  uint64_t magnitude = i.value < 0 ? -static_cast<uint64_t>(i.value) : static_cast<uint64_t>(i.value);
  return integer(static_cast<int64_t>(std::popcount(magnitude)));
}
Value is_integer(const Call&, const Value& self) {
  const auto* f = self.as<FloatV>();
  return boolean(!f || f->value == static_cast<double>(static_cast<int64_t>(f->value)));
}

enum class Of { text, list, tuple, dict, set, integer, real };
struct Row {
  Of type;
  std::string_view name;
  Value (*call)(const Call&, const Value&);
};
constexpr Row kRows[] = {
    {Of::text, "join", join},
    {Of::text, "split", split},
    {Of::text, "splitlines", splitlines},
    {Of::text, "startswith", startswith},
    {Of::text, "endswith", endswith},
    {Of::text, "strip", strip},
    {Of::text, "lstrip", lstrip},
    {Of::text, "rstrip", rstrip},
    {Of::text, "replace", replace},
    {Of::text, "upper", mapped<std::toupper>},
    {Of::text, "lower", mapped<std::tolower>},
    {Of::text, "isdigit", all_are<std::isdigit>},
    {Of::text, "isalpha", all_are<std::isalpha>},
    {Of::text, "find", find},
    {Of::text, "count", count},
    {Of::text, "format", format_method},
    {Of::list, "append", append},
    {Of::list, "extend", extend},
    {Of::list, "pop", list_pop},
    {Of::list, "insert", insert},
    {Of::list, "remove", list_remove},
    {Of::list, "index", index},
    {Of::list, "count", count},
    {Of::list, "reverse", reverse},
    {Of::list, "sort", list_sort},
    {Of::list, "copy", list_copy},
    {Of::list, "clear", list_clear},
    {Of::tuple, "index", index},
    {Of::tuple, "count", count},
    {Of::dict, "get", dict_get},
    {Of::dict, "keys", keys},
    {Of::dict, "values", values},
    {Of::dict, "items", items},
    {Of::dict, "pop", dict_pop},
    {Of::dict, "update", update},
    {Of::dict, "setdefault", setdefault},
    {Of::dict, "copy", dict_copy},
    {Of::dict, "clear", dict_clear},
    {Of::set, "add", add},
    {Of::set, "discard", discard},
    {Of::set, "remove", discard},
    {Of::set, "update", update},
    {Of::set, "union", set_union},
    {Of::set, "copy", dict_copy},
    {Of::integer, "bit_length", bit_length},
    {Of::integer, "bit_count", bit_count},
    {Of::real, "is_integer", is_integer},
};

std::optional<Of> type_of(const Value& v) {
  if (v.is<std::string>() || v.is<DType>()) return Of::text;  // a dtype of the language is a string of Python
  if (v.is<ListObject*>()) return Of::list;
  if (v.is<const TupleObject*>()) return Of::tuple;
  if (const auto* d = v.as<DictObject*>()) return (*d)->is_set ? Of::set : Of::dict;
  if (v.is<MetaInt>()) return Of::integer;
  if (v.is<FloatV>()) return Of::real;
  return std::nullopt;
}

const Row* row_of(const Value& self, std::string_view name) {
  auto type = type_of(self);
  for (const Row& row : kRows)
    if (type && row.type == *type && row.name == name) return &row;
  return nullptr;
}
}  // namespace

bool has_python_method(const Value& self, const std::string& name) { return row_of(self, name) != nullptr; }

Value call_python_method(Session& s, Scope& scope, const MethodObject& m, const std::vector<Value>& positional,
                         const Keywords& keywords, const SourceRange& where) {
  const Row* row = row_of(m.self, m.name);
  if (!row) fail_unsupported(where, "method '" + m.name + "' of " + kind_name(m.self));
  const auto* type = m.self.as<DType>();
  return row->call({s, scope, positional, keywords, where}, type ? text(std::string(info(*type).name)) : m.self);
}

// [[fill]align][sign][#][0][width][,][.precision][type]
std::string format_spec(Session& s, const Value& v, const std::string& spec, const SourceRange& where) {
  if (spec.empty() || v.is<const OpaqueObject*>() || v.is<const HostTensor*>()) return format(s, v);
  size_t at = 0;
  char fill = ' ', align = 0, type = 0;
  auto is_align = [](char c) { return c == '<' || c == '>' || c == '^'; };
  if (spec.size() > 1 && is_align(spec[1])) fill = spec[0], align = spec[1], at = 2;
  else if (is_align(spec[0])) align = spec[0], at = 1;
  bool plus = at < spec.size() && spec[at] == '+', alternate = false;
  if (plus || (at < spec.size() && (spec[at] == '-' || spec[at] == ' '))) ++at;
  if (at < spec.size() && spec[at] == '#') alternate = true, ++at;
  if (at < spec.size() && spec[at] == '0' && !align) fill = '0', align = '>', ++at;
  auto number = [&] {
    int n = 0;
    while (at < spec.size() && std::isdigit(static_cast<unsigned char>(spec[at])) && n < 10000)
      n = n * 10 + (spec[at++] - '0');
    return n;
  };
  int width = number(), precision = -1;
  bool commas = at < spec.size() && (spec[at] == ',' || spec[at] == '_');
  if (commas) ++at;
  if (at < spec.size() && spec[at] == '.') ++at, precision = std::min(number(), 300);
  if (at < spec.size()) type = spec[at++];
  if (at < spec.size()) fail(where, "'" + spec + "' is no format specification");
  std::string out;
  const auto* i = v.as<MetaInt>();
  if (i && (type == 'x' || type == 'X' || type == 'b' || type == 'o')) {
    unsigned base = type == 'b' ? 2 : type == 'o' ? 8 : 16;
    uint64_t n = i->value < 0 ? -static_cast<uint64_t>(i->value) : static_cast<uint64_t>(i->value);
    do out.insert(out.begin(), (type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef")[n % base]), n /= base;
    while (n);
    if (alternate) out = std::string("0") + type + out;
    if (i->value < 0) out = "-" + out;
  } else if (v.is<FloatV>() || (i && (type == 'f' || type == 'e' || type == 'g' || type == '%'))) {
    if (!type && precision < 0) {
      out = format(s, v);
    } else {
      double d = to_double(v, where, "the value") * (type == '%' ? 100 : 1);
      char buffer[700];
      int digits = precision < 0 ? 6 : precision;
      if (type == 'e') std::snprintf(buffer, sizeof buffer, "%.*e", digits, d);
      else if (type == 'f' || type == '%') std::snprintf(buffer, sizeof buffer, "%.*f", digits, d);
      else std::snprintf(buffer, sizeof buffer, "%.*g", digits, d);
      out = std::string(buffer) + (type == '%' ? "%" : "");
    }
  } else {
    out = format(s, v);
    if (precision >= 0 && static_cast<size_t>(precision) < out.size()) out.resize(static_cast<size_t>(precision));
  }
  if (commas)
    for (size_t at_digit = std::min(out.find_first_not_of("-0123456789"), out.size()); at_digit > 3;) {
      at_digit -= 3;
      if (out[at_digit - 1] != '-') out.insert(at_digit, ",");
    }
  if (plus && out[0] != '-') out = "+" + out;
  size_t padding = out.size() < static_cast<size_t>(width) ? static_cast<size_t>(width) - out.size() : 0;
  if (!align) align = i || v.is<FloatV>() ? '>' : '<';
  size_t before = align == '>' ? padding : align == '^' ? padding / 2 : 0;
  bool sign = fill == '0' && !out.empty() && (out[0] == '-' || out[0] == '+');
  return (sign ? out.substr(0, 1) : "") + std::string(before, fill) + (sign ? out.substr(1) : out) +
         std::string(padding - before, fill);
}

}  // namespace tc::eval
