// Loops: what `for` of a kernel runs over. Source: tilelang/language/loop.py.
#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::MetaInt;

Value loop(Session& s, LoopObject l) {
  s.heap.loops.push_back(std::move(l));
  return Value{static_cast<const LoopObject*>(&s.heap.loops.back())};
}

LoopObject bounds(Session& s, const Args& a) {
  in_launch(s, a);
  LoopObject l;
  const Value& start = a.need("start");
  bool two = a.given("stop");
  l.bounds = {{two ? to_index(s, start, a.where, "the start") : constant(s, MetaInt(0)),
               to_index(s, two ? a.need("stop") : start, a.where, "the end")}};
  if (const Value* step = a.get("step")) l.step = to_index(s, *step, a.where, "the step");
  return l;
}

Value serial(Session& s, Scope&, Args& a) {
  LoopObject l = bounds(s, a);
  add_annotations(s, a, l.attrs);
  return loop(s, std::move(l));
}
Value unroll(Session& s, Scope&, Args& a) {
  LoopObject l = bounds(s, a);
  add_annotations(s, a, l.attrs);
  l.kind = LoopKind::unroll;
  if (flag(s, a, "explicit") && a.given("unroll_factor"))
    fail(a.where, "explicit and unroll_factor of T.unroll exclude each other");
  if (const Value* e = a.get("explicit"); e && to_bool(s, *e, a.where, "explicit"))
    l.attrs.push_back({"explicit", MetaInt(1)});
  if (const Value* f = a.get("unroll_factor"))
    l.attrs.push_back({"unroll_factor", to_int(s, *f, a.where, "unroll_factor")});
  return loop(s, std::move(l));
}
Value vectorized(Session& s, Scope&, Args& a) {
  LoopObject l = bounds(s, a);
  add_annotations(s, a, l.attrs);
  l.kind = LoopKind::vectorized;
  return loop(s, std::move(l));
}
Value pipelined(Session& s, Scope&, Args& a) {
  LoopObject l = bounds(s, a);
  add_annotations(s, a, l.attrs);
  for (const char* name : {"order", "stage", "group"})
    if (const Value* v = a.get(name)) {
      auto list = to_attribute(s, *v, a.where);
      if (!list && std::string_view(name) == "group") {  // of statements, in lists
        l.attrs.push_back({name, format(s, *v)});
        continue;
      }
      if (!list || !std::holds_alternative<std::vector<MetaInt>>(*list))
        fail(a.where, std::string("'") + name + "' of T.Pipelined has to be a list of integers");
      if (!std::get<std::vector<MetaInt>>(*list).empty()) l.attrs.push_back({name, *list});
    }
  auto count = [&](std::string_view name) {
    const ir::AttrValue* v = ir::find_attr(l.attrs, name);
    return v ? std::get<std::vector<MetaInt>>(*v).size() : 0;
  };
  if (count("order") != count("stage") && count("order") * count("stage") != 0)
    fail_rule(a.where, "LANG-06",
              "T.Pipelined has an order for " + std::to_string(count("order")) + " statements and stages for " +
                  std::to_string(count("stage")));
  l.kind = LoopKind::pipelined;
  l.num_stages = a.given("num_stages") ? to_int(s, a.need("num_stages"), a.where, "num_stages") : MetaInt(0);
  if (l.num_stages.value < 0) fail(a.where, "num_stages is negative");
  if (l.num_stages.value == 0 && l.attrs.empty()) l.kind = LoopKind::serial;
  return loop(s, std::move(l));
}
Value parallel(Session& s, Scope&, Args& a) {
  in_launch(s, a);
  if (a.rest.empty()) fail(a.where, "T.Parallel takes at least one extent");
  LoopObject l;
  l.kind = LoopKind::parallel;
  for (const Value& v : a.rest)
    l.bounds.emplace_back(constant(s, MetaInt(0)), to_index(s, v, a.where, "an extent of T.Parallel"));
  if (const Value* w = a.get("coalesced_width"))
    l.attrs.push_back({"coalesced_width", to_int(s, *w, a.where, "coalesced_width")});
  if (a.given("prefer_async")) l.attrs.push_back({"prefer_async", MetaInt(flag(s, a, "prefer_async"))});
  if (const Value* layout = a.get("loop_layout")) {
    const auto* object = layout->as<const LibraryObject*>();
    if (!object) fail(a.where, "a loop_layout has to be a T.Fragment, not " + kind_name(*layout));
    l.layout = *object;
  }
  add_annotations(s, a, l.attrs);
  return loop(s, std::move(l));
}
// T.parallel(start, stop): one dimension.
Value parallel_range(Session& s, Scope&, Args& a) {
  LoopObject l = bounds(s, a);
  add_annotations(s, a, l.attrs);
  l.kind = LoopKind::parallel;
  return loop(s, std::move(l));
}

// T.grid(m, n): serial loops, the last index fastest.
Value grid(Session& s, Scope&, Args& a) {
  in_launch(s, a);
  if (a.rest.empty()) fail(a.where, "T.grid takes at least one extent");
  LoopObject l;
  l.kind = LoopKind::grid;
  for (const Value& v : a.rest)
    l.bounds.emplace_back(constant(s, MetaInt(0)), to_index(s, v, a.where, "an extent of T.grid"));
  return loop(s, std::move(l));
}

// T.Persistent(domain, wave_size, index, group_size=8): the tiles of a domain that fall to this CTA.
Value persistent(Session& s, Scope&, Args& a) {
  in_launch(s, a);
  LoopObject l;
  l.kind = LoopKind::persistent;
  for (const Value& v : to_items(s, a.need("domain"), a.where, "the domain"))
    l.bounds.emplace_back(constant(s, MetaInt(0)), to_index(s, v, a.where, "an extent of the domain"));
  if (l.bounds.empty()) fail(a.where, "T.Persistent of an empty domain");
  l.wave = index_arg(s, a, "wave_size");
  l.index = index_arg(s, a, "index");
  l.group = a.given("group_size") ? index_arg(s, a, "group_size") : constant(s, MetaInt(8));
  if (const Value* n = a.get("num_stages"); n && to_int(s, *n, a.where, "num_stages").value != 0)
    l.attrs.push_back({"num_stages", to_int(s, *n, a.where, "num_stages")});
  add_annotations(s, a, l.attrs);
  return loop(s, std::move(l));
}

constexpr Builtin kRows[] = {
    {"T", "serial", "start, stop=, step=, *, annotations=", serial},
    {"T", "Serial", "start, stop=, step=, *, annotations=", serial},
    {"T", "unroll", "start, stop=, step=, *, explicit=, unroll_factor=, annotations=", unroll},
    {"T", "Unroll", "start, stop=, step=, *, explicit=, unroll_factor=, annotations=", unroll},
    {"T", "vectorized", "start, stop=, *, annotations=", vectorized},
    {"T", "Vectorized", "start, stop=, *, annotations=", vectorized},
    {"T", "parallel", "start, stop=, *, annotations=", parallel_range},
    {"T", "Pipelined", "start, stop=, num_stages=, order=, stage=, annotations=, *, sync=!, group=~", pipelined},
    {"T", "Parallel", "*extents, coalesced_width=, loop_layout=, prefer_async=, annotations=", parallel},
    {"T", "Persistent", "domain, wave_size, index, group_size=, num_stages=, *, annotations=", persistent},
    {"T", "grid", "*extents", grid},
};
}  // namespace

std::span<const Builtin> loop_builtins() { return kRows; }

}  // namespace tc::eval
