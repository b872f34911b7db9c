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

// ---------------------------------------------------------------------------------------------- tile scheduler
constexpr const char* kState[] = {"m_idx", "n_idx", "linear_idx", "current_iter"};

Value minimum(Session& s, OpKind kind, ir::MetaKind folded, const Value& a, const Value& b, const SourceRange& where) {
  if (a.is<MetaInt>() && b.is<MetaInt>()) return integer(meta(s, folded, *a.as<MetaInt>(), *b.as<MetaInt>(), where));
  return scalar(scalar_binary(s, kind, to_scalar(s, a, where, "the tile"), to_scalar(s, b, where, "the tile")));
}

Value ceildiv(Session& s, const Value& a, const Value& b, const SourceRange& where) {
  if (a.is<MetaInt>() && b.is<MetaInt>())
    return integer(meta(s, ir::MetaKind::ceildiv, *a.as<MetaInt>(), *b.as<MetaInt>(), where));
  Value top = binary(s, ast::BinOp::sub, binary(s, ast::BinOp::add, a, b, where), integer(1), where);
  return binary(s, ast::BinOp::floordiv, top, b, where);
}

Value tile_scheduler(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  Value cluster = a.given("cluster_size") ? a.need("cluster_size") : integer(1);
  Value workers = a.given("num_workers") ? a.need("num_workers")
                                         : binary(s, ast::BinOp::floordiv, integer(sm_count(s)), cluster, a.where);
  Value m = ceildiv(s, a.need("num_m_tiles"), cluster, a.where), n = a.need("num_n_tiles");
  bool column = flag(s, a, "column_major", true);
  std::vector<std::pair<std::string, Value>> fields{
      {"primary", column ? m : n},
      {"secondary", column ? n : m},
      {"column_major", boolean(column)},
      {"swizzle_size", a.given("swizzle_size") ? a.need("swizzle_size") : integer(1)},
      {"cluster_size", cluster},
      {"num_workers", workers},
      {"total", binary(s, ast::BinOp::mult, m, n, a.where)}};
  if (flag(s, a, "stateful", true)) {
    std::string prefix = a.given("name") ? to_text(a.need("name"), a.where, "the name") + "_" : std::string();
    for (const char* name : kState) {
      ir::Type type = ir::Type::buffer(ir::Space::local, DType::i32, {MetaInt(1)});
      fields.emplace_back(name, Value{BufferV{t.builder.alloc(std::move(type), prefix + name), true}});
    }
  }
  return library(s, LibraryKind::tile_scheduler, "tile scheduler", std::move(fields));
}

const BufferV& state(const LibraryObject& o, const char* name, const SourceRange& where) {
  const Value* v = o.field(name);
  if (!v) fail(where, "a tile scheduler without state has no '" + std::string(name) + "'");
  return *v->as<BufferV>();
}

// (m, n) of a tile.
std::pair<Value, Value> coordinates(Session& s, const LibraryObject& o, const Value& tile, const SourceRange& where) {
  using ast::BinOp;
  auto op = [&](BinOp kind, const Value& a, const Value& b) { return binary(s, kind, a, b, where); };
  const Value &primary = *o.field("primary"), &secondary = *o.field("secondary"), &swizzle = *o.field("swizzle_size");
  Value size = op(BinOp::mult, primary, swizzle), group = op(BinOp::floordiv, tile, size);
  Value base = op(BinOp::mult, group, swizzle);
  Value width = minimum(s, OpKind::min, ir::MetaKind::min, swizzle, op(BinOp::sub, secondary, base), where);
  width = minimum(s, OpKind::max, ir::MetaKind::max, integer(1), width, where);
  Value in_group = op(BinOp::sub, tile, op(BinOp::mult, group, size));
  Value fast = op(BinOp::floordiv, in_group, width), slow = op(BinOp::add, base, op(BinOp::mod, in_group, width));
  bool column = o.field("column_major")->as<BoolV>()->value;
  return column ? std::pair(fast, slow) : std::pair(slow, fast);
}

void update(Session& s, const LibraryObject& o, const SourceRange& where) {
  Value tile = scalar(to_scalar(s, Value{state(o, "linear_idx", where)}, where, "the tile"));
  auto [m, n] = coordinates(s, o, tile, where);
  store_var(s, state(o, "m_idx", where), m, where);
  store_var(s, state(o, "n_idx", where), n, where);
}

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
    {"T", "PersistentTileScheduler",
     "num_m_tiles, num_n_tiles, num_workers=, swizzle_size=, column_major=, cluster_size=, stateful=, name=",
     tile_scheduler},
};
}  // namespace

std::optional<Value> scheduler_attribute(Session& s, const LibraryObject& o, const std::string& name,
                                         const SourceRange& where) {
  for (const char* known : kState)
    if (name == known) return scalar(to_scalar(s, Value{state(o, known, where)}, where, "the tile"));
  for (const char* known : {"cluster_size", "num_workers", "swizzle_size"})
    if (name == known) return *o.field(known);
  return std::nullopt;
}

Value call_scheduler(Session& s, const LibraryObject& o, const std::string& name, const std::vector<Value>& args,
                     const SourceRange& where) {
  auto one = [&](size_t count) {
    if (args.size() != count)
      fail(where, "'" + name + "' of a tile scheduler takes " + std::to_string(count) + " arguments");
  };
  if (name == "init") {
    one(1);
    store_var(s, state(o, "current_iter", where), integer(0), where);
    store_var(s, state(o, "linear_idx", where), args[0], where);
    update(s, o, where);
    return none();
  }
  if (name == "next_tile") {
    one(0);
    auto advance = [&](const char* var, const Value& by) {
      const BufferV& v = state(o, var, where);
      store_var(s, v, binary(s, ast::BinOp::add, Value{v}, by, where), where);
    };
    advance("current_iter", integer(1));
    advance("linear_idx", *o.field("num_workers"));
    update(s, o, where);
    return none();
  }
  if (name == "valid") {
    one(0);
    return compare(s, ast::CmpOp::lt, Value{state(o, "linear_idx", where)}, *o.field("total"), where);
  }
  if (name == "coord") {
    one(1);
    auto [m, n] = coordinates(s, o, args[0], where);
    return tuple(s, {m, n});
  }
  fail(where, "a tile scheduler has no method '" + name + "'");
}

std::span<const Builtin> schedule_builtins() { return kRows; }

}  // namespace tc::eval
