// What builtins ask of their arguments: regions, elements, attributes. Errors name the argument and the function.
#include <algorithm>

#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::MetaInt;

std::string argument(const Args& a, std::string_view name) {
  return "'" + std::string(name) + "' of T." + a.builtin->name;
}
}  // namespace

Value library(Session& s, LibraryKind kind, std::string what, std::vector<std::pair<std::string, Value>> fields) {
  s.heap.library.push_back({kind, std::move(what), std::move(fields)});
  return Value{static_cast<const LibraryObject*>(&s.heap.library.back())};
}

Trace& traced(Session& s, const Args& a) { return need_trace(s, a.where, std::string("T.") + a.builtin->name); }
Trace& in_launch(Session& s, const Args& a) { return need_launch(s, a.where, std::string("T.") + a.builtin->name); }
Trace& collective(Session& s, const Args& a) {
  Trace& t = in_launch(s, a);
  if (t.parallel_depth > 0) fail_rule(a.where, "LANG-01", std::string("T.") + a.builtin->name + " inside T.Parallel");
  return t;
}

bool flag(Session& s, const Args& a, std::string_view name, bool otherwise) {
  const Value* v = a.get(name);
  return v ? to_bool(s, *v, a.where, argument(a, name)) : otherwise;
}

void set(Session& s, ir::OpId op, std::string_view name, ir::AttrValue value) {
  ir::set_attr(s.module[op].attrs, name, std::move(value));
}
void copy_int(Session& s, const Args& a, ir::OpId op, std::string_view name) {
  if (const Value* v = a.get(name)) set(s, op, name, to_int(s, *v, a.where, argument(a, name)));
}
void copy_text(Session& s, const Args& a, ir::OpId op, std::string_view name, std::string_view attr) {
  if (const Value* v = a.get(name)) set(s, op, attr, to_text(*v, a.where, argument(a, name)));
}

std::optional<ir::AttrValue> to_attribute(Session& s, const Value& v, const SourceRange& where) {
  if (v.is<MetaInt>() || v.is<BoolV>()) return to_int(s, v, where, "the annotation");
  if (const auto* f = v.as<FloatV>()) return f->value;
  if (const auto* t = v.as<std::string>()) return *t;
  if (!v.is<ListObject*>() && !v.is<const TupleObject*>()) return std::nullopt;
  std::vector<MetaInt> list;
  for (const Value& item : to_items(s, v, where, "the annotation")) {
    if (!is_static_number(item) || item.is<FloatV>()) return std::nullopt;
    list.push_back(to_int(s, item, where, "the annotation"));
  }
  return list;
}

// The key of T.WSID and the names that arguments have of their own.
constexpr std::pair<std::string_view, std::string_view> kAnnotationNames[] = {{"tl.ws_op_id", "ws_op"},
                                                                              {"prefer_instruction", "prefer"}};

void add_annotations(Session& s, const Args& a, std::vector<ir::Attr>& attrs) {
  const Value* v = a.get("annotations");
  if (!v) return;
  const auto* dict = v->as<DictObject*>();
  if (!dict) fail(a.where, argument(a, "annotations") + " has to be a dict, not " + kind_name(*v));
  for (const auto& [key, value] : (*dict)->items) {
    std::string name = to_text(key, a.where, "the name of the annotation");
    for (auto [known, attr] : kAnnotationNames)
      if (name == known) name = attr;
    bool plain = !name.empty() && std::all_of(name.begin(), name.end(),
                                              [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; });
    auto attribute = plain ? to_attribute(s, value, a.where) : std::nullopt;
    if (!attribute) fail_unsupported(a.where, "annotation '" + name + "' with " + kind_name(value));
    ir::set_attr(attrs, name, std::move(*attribute));
  }
}
void add_annotations(Session& s, const Args& a, ir::OpId op) {
  std::vector<ir::Attr> attrs;
  add_annotations(s, a, attrs);
  for (ir::Attr& attr : attrs) set(s, op, attr.name, std::move(attr.value));
}

ir::ValueId scalar_arg(Session& s, const Args& a, std::string_view name) {
  return to_scalar(s, a.need(name), a.where, argument(a, name));
}
ir::ValueId index_arg(Session& s, const Args& a, std::string_view name) {
  return to_index(s, a.need(name), a.where, argument(a, name));
}

Box pointed_to(Session& s, const Value& v, const SourceRange& where, std::string_view what) {
  if (const auto* o = v.as<const OpaqueObject*>()) fail_opaque(**o, where, what);
  const auto* object = v.as<const LibraryObject*>();
  if (object && (*object)->kind == LibraryKind::pointer) return pointed_to(s, *(*object)->field("target"), where, what);
  auto box = to_box(s, v, where);
  if (!box) fail(where, std::string(what) + " has to be a buffer or a region, not " + kind_name(v));
  return *box;
}

Box box_arg(Session& s, const Args& a, std::string_view name) {
  Box box = pointed_to(s, a.need(name), a.where, argument(a, name));
  if (buffer_type(s, box.buffer).space == ir::Space::barrier)
    fail(a.where, std::string("T.") + a.builtin->name + " of a barrier");
  return box;
}
ir::ValueId region_arg(Session& s, const Args& a, std::string_view name) { return emit_box(s, box_arg(s, a, name)); }

std::vector<ir::ValueId> element_arg(Session& s, const Args& a, std::string_view name) {
  const Value& v = a.need(name);
  Box box = pointed_to(s, v, a.where, argument(a, name));
  const auto* r = v.as<const RegionObject*>();
  for (const MetaInt& e : box.extents)
    if (e.value != 1 || (r && (*r)->has_slice)) fail(a.where, argument(a, name) + " has to be one element");
  std::vector<ir::ValueId> out{box.buffer.id};
  out.insert(out.end(), box.offsets.begin(), box.offsets.end());
  return out;
}

}  // namespace tc::eval
