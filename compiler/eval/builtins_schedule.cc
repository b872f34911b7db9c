// Warp-specialisation schedules and tile schedulers.
// A schedule is written down as it is said: an op `ws_schedule` with its roles, pipelines and scopes. A tile scheduler
// is an object with four variables; tile t of m x n (m in clusters), in groups of `swizzle` along the secondary axis:
//   group = t // (primary * swizzle)   width = max(1, min(swizzle, secondary - group * swizzle))
//   fast = in_group // width           slow = group * swizzle + in_group % width
// Sources: tilelang/language/warp_specialize.py, tile_schedule.py.
#include <algorithm>

#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using ir::OpKind;

Value ws_role(Session& s, Scope&, Args& a) {
  return library(s, LibraryKind::ws_role, "T.WSRole",
                 {{"name", a.need("name")},
                  {"warps_lo", a.need("warps_lo")},
                  {"warps_hi", a.need("warps_hi")},
                  {"max_nreg", a.given("max_nreg") ? a.need("max_nreg") : integer(0)}});
}
Value ws_pipeline(Session& s, Scope&, Args& a) {
  return library(s, LibraryKind::ws_pipeline, "T.WSPipeline",
                 {{"name", a.need("name")}, {"buffers", a.need("buffers")}, {"depth", a.need("depth")}});
}
Value sync_of(Session& s, const Args& a, std::string kind) {
  return library(s, LibraryKind::ws_sync, "T.WSSync",
                 {{"kind", text(std::move(kind))},
                  {"pipeline", a.need("pipeline")},
                  {"stage", a.given("stage") ? a.need("stage") : integer(0)}});
}
Value ws_sync(Session& s, Scope&, Args& a) {
  static constexpr std::string_view kKinds[] = {"producer_acquire", "producer_commit", "consumer_wait",
                                                "consumer_release"};
  std::string kind = to_text(a.need("kind"), a.where, "the kind");
  if (std::find(std::begin(kKinds), std::end(kKinds), kind) == std::end(kKinds))
    fail(a.where, "the kind of T.WSSync is a member of T.WSSyncKind");
  return sync_of(s, a, kind);
}
Value ws_sync_member(Session& s, Scope&, Args& a) { return sync_of(s, a, a.builtin->name); }
Value ws_op_ref(Session&, Scope&, Args& a) { return a.need("id"); }
Value ws_scope(Session& s, Scope&, Args& a) {
  return library(s, LibraryKind::ws_scope, "T.WSScope", {{"id", a.need("id")}, {"bodies", a.need("bodies")}});
}
Value ws_schedule(Session& s, Scope&, Args& a) {
  MetaInt warps = to_int(s, a.need("num_warps"), a.where, "num_warps");
  if (warps.value <= 0 || warps.value % 4 != 0)
    fail(a.where, "num_warps of T.WSSchedule is a positive multiple of 4, not " + std::to_string(warps.value));
  return library(s, LibraryKind::ws_schedule, "T.WSSchedule",
                 {{"num_warps", integer(warps)},
                  {"roles", a.need("roles")},
                  {"pipelines", a.need("pipelines")},
                  {"scopes", a.need("scopes")}});
}

std::vector<const LibraryObject*> parts(Session& s, const LibraryObject& schedule, const char* field, LibraryKind kind,
                                        const SourceRange& where) {
  std::vector<const LibraryObject*> out;
  for (const Value& v : to_items(s, *schedule.field(field), where, std::string("'") + field + "' of T.WSSchedule")) {
    const auto* object = v.as<const LibraryObject*>();
    if (!object || (*object)->kind != kind)
      fail(where, std::string("'") + field + "' of T.WSSchedule holds " + kind_name(v));
    out.push_back(*object);
  }
  return out;
}

void emit_instruction(Session& s, const std::string& role, const Value& v, const SourceRange& where) {
  ir::OpId op = s.trace->builder.op(OpKind::ws_instr, {});
  set(s, op, "role", role);
  if (const auto* id = v.as<std::string>()) return set(s, op, "op", *id);
  const auto* sync = v.as<const LibraryObject*>();
  if (!sync || (*sync)->kind != LibraryKind::ws_sync) fail(where, "the body of a T.WSScope holds " + kind_name(v));
  set(s, op, "sync", to_text(*(*sync)->field("kind"), where, "the kind"));
  set(s, op, "pipeline", to_text(*(*sync)->field("pipeline"), where, "the pipeline"));
  set(s, op, "stage", to_int(s, *(*sync)->field("stage"), where, "the stage"));
}

void emit_scope(Session& s, const LibraryObject& object, const SourceRange& where) {
  ir::OpId op = s.trace->builder.nest(OpKind::ws_scope, {}, {});
  set(s, op, "id", to_text(*object.field("id"), where, "the id of T.WSScope"));
  const auto* bodies = object.field("bodies")->as<DictObject*>();
  if (!bodies) fail(where, "the bodies of T.WSScope are a dict: role to list");
  ir::BlockId outer = std::exchange(s.trace->builder.block, s.module[op].blocks[0]);
  for (const auto& [role, body] : (*bodies)->items)
    for (const Value& v : to_items(s, body, where, "the body of T.WSScope"))
      emit_instruction(s, to_text(role, where, "the role"), v, where);
  s.trace->builder.block = outer;
}

Value annotate_ws_schedule(Session& s, Scope&, Args& a) {
  Trace& t = collective(s, a);
  const auto* given = a.need("schedule").as<const LibraryObject*>();
  if (!given || (*given)->kind != LibraryKind::ws_schedule)
    fail(a.where, "T.annotate_ws_schedule takes a T.WSSchedule, not " + kind_name(a.need("schedule")));
  const LibraryObject& schedule = **given;
  ir::OpId op = t.builder.nest(OpKind::ws_schedule, {}, {});
  set(s, op, "warps", to_int(s, *schedule.field("num_warps"), a.where, "num_warps"));
  ir::BlockId outer = std::exchange(t.builder.block, s.module[op].blocks[0]);
  for (const LibraryObject* role : parts(s, schedule, "roles", LibraryKind::ws_role, a.where)) {
    ir::OpId r = t.builder.op(OpKind::ws_role, {});
    set(s, r, "name", to_text(*role->field("name"), a.where, "the name of a role"));
    for (const char* field : {"warps_lo", "warps_hi", "max_nreg"})
      set(s, r, field, to_int(s, *role->field(field), a.where, field));
  }
  for (const LibraryObject* pipeline : parts(s, schedule, "pipelines", LibraryKind::ws_pipeline, a.where)) {
    std::vector<ir::ValueId> buffers;
    for (const Value& v : to_items(s, *pipeline->field("buffers"), a.where, "the buffers of a pipeline")) {
      if (!v.is<BufferV>()) fail(a.where, "the buffers of a pipeline are buffers, not " + kind_name(v));
      buffers.push_back(v.as<BufferV>()->id);
    }
    ir::OpId p = t.builder.op(OpKind::ws_pipeline, std::move(buffers));
    set(s, p, "name", to_text(*pipeline->field("name"), a.where, "the name of a pipeline"));
    set(s, p, "depth", to_int(s, *pipeline->field("depth"), a.where, "the depth"));
  }
  for (const LibraryObject* scope : parts(s, schedule, "scopes", LibraryKind::ws_scope, a.where))
    emit_scope(s, *scope, a.where);
  t.builder.block = outer;
  return none();
}

// ---------------------------------------------------------------------------------------------- meta classes
// Does the body store to a subscript?
bool stores(const ast::Body& body) {
  auto is_subscript = [](ast::ExprRef e) { return std::holds_alternative<ast::Subscript>(e->node); };
  return std::any_of(body.begin(), body.end(), [&](const ast::Stmt* stmt) {
    return std::visit(
        Overload{
            [&](const ast::Assign& n) { return std::any_of(n.targets.begin(), n.targets.end(), is_subscript); },
            [&](const ast::AugAssign& n) { return is_subscript(n.target); },
            [&](const ast::AnnAssign& n) { return is_subscript(n.target); },
            [&](const ast::If& n) { return stores(n.body) || stores(n.orelse); },
            [&](const ast::For& n) { return stores(n.body); },
            [&](const ast::While& n) { return stores(n.body); },
            [&](const ast::With& n) { return stores(n.body); },
            [](const auto&) { return false; },
        },
        stmt->node);
  });
}

// @T.meta_class: methods that store to a subscript build the kernel, as macros do. Source: tilelang/language/meta.py.
Value meta_class(Session&, Scope&, Args& a) {
  auto* const* type = a.need("cls").as<ClassObject*>();
  if (!type) fail(a.where, "T.meta_class takes a class, not " + kind_name(a.need("cls")));
  for (auto& [name, value] : (*type)->attrs) {
    auto* const* f = value.as<FunctionObject*>();
    bool method = f && (*f)->kind == FunctionKind::plain && !name.starts_with("__");
    if (method && (*f)->body && stores(*(*f)->body)) (*f)->kind = FunctionKind::macro;
  }
  return a.need("cls");
}
Value inline_method(Session&, Scope&, Args& a) {
  auto* const* f = a.need("func").as<FunctionObject*>();
  if (!f) fail(a.where, "T.inline takes a function, not " + kind_name(a.need("func")));
  (*f)->kind = FunctionKind::macro;
  return a.need("func");
}

// What library/schedule.py needs beside the language: a name for a buffer, and the number of SMs.
Value named(Session& s, Scope&, Args& a) {
  const auto* b = a.need("buffer").as<BufferV>();
  if (!b) fail(a.where, "a name is for a buffer");
  s.module[b->id].name = to_text(a.need("name"), a.where, "the name");
  return a.need("buffer");
}
Value number_of_sms(Session& s, Scope&, Args&) { return integer(sm_count(s)); }

constexpr Builtin kRows[] = {
    {"T", "meta_class", "cls", meta_class},
    {"T", "inline", "func", inline_method},
    {"T", "WSRole", "name, *, warps_lo, warps_hi, max_nreg=", ws_role},
    {"T", "WSPipeline", "name, buffers, depth", ws_pipeline},
    {"T", "WSSync", "kind, pipeline, stage=", ws_sync},
    {"WSSync", "producer_acquire", "pipeline, stage=", ws_sync_member},
    {"WSSync", "producer_commit", "pipeline, stage=", ws_sync_member},
    {"WSSync", "consumer_wait", "pipeline, stage=", ws_sync_member},
    {"WSSync", "consumer_release", "pipeline, stage=", ws_sync_member},
    {"T", "WSOpRef", "id", ws_op_ref},
    {"T", "WSScope", "id, bodies", ws_scope},
    {"T", "WSSchedule", "num_warps, roles, pipelines, scopes", ws_schedule},
    {"T", "annotate_ws_schedule", "schedule", annotate_ws_schedule},
    {"T", "_named", "buffer, name", named},
    {"T", "_sm_count", "", number_of_sms},
};
}  // namespace

std::span<const Builtin> schedule_builtins() { return kRows; }

}  // namespace tc::eval
