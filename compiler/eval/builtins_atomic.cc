// Atomics. Of two elements (or an element and a value) an op `atomic_element` carried out by every thread that comes to
// it; of regions a tile operation with the extents of a copy: `atomic`, or `atomic_fill` where the other side is a
// value. Source: tilelang/language/atomic.py.
#include <algorithm>

#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using ir::OpKind;

// `none`: what holds where no order is given.
std::string order(const Args& a, std::string_view otherwise, std::initializer_list<std::string_view> legal) {
  std::string given =
      a.given("memory_order") ? to_text(a.need("memory_order"), a.where, "memory_order") : std::string(otherwise);
  if (std::find(legal.begin(), legal.end(), given) == legal.end())
    fail(a.where, std::string("T.") + a.builtin->name + " has no memory_order '" + given + "'");
  return given;
}

bool has_extents(const Value& v) {
  const auto* r = v.as<const RegionObject*>();
  const auto* b = v.as<BufferV>();
  return (b && !b->is_var) || (r && (*r)->has_slice);
}

Value element(Session& s, const Args& a, std::string_view op, const std::string& memory_order, bool previous) {
  Trace& t = in_launch(s, a);
  std::vector<ir::ValueId> operands = element_arg(s, a, "dst");
  DType dtype = s.module[operands[0]].type.dtype;
  if (op == "or" && is_float(dtype)) fail(a.where, "T.atomic_or takes integers, not " + std::string(info(dtype).name));
  operands.push_back(convert(s, scalar_arg(s, a, "value"), dtype));
  ir::OpId made =
      s.module.new_op(t.builder.block, OpKind::atomic_element, std::move(operands), {ir::Type::scalar(dtype)}, a.where);
  set(s, made, "op", std::string(op));
  set(s, made, "order", memory_order);
  return previous ? scalar(s.module[made].results[0]) : none();
}

Value tile(Session& s, const Args& a, std::string_view op, const std::string& memory_order) {
  Trace& t = collective(s, a);
  const Value &dst = a.need("dst"), &value = a.need("value");
  ir::OpId made;
  if (has_extents(value)) {
    auto [from, to] = copy_boxes(s, value, dst, a.where);
    if (flag(s, a, "use_tma") && (buffer_type(s, from.buffer).space != ir::Space::shared ||
                                  buffer_type(s, to.buffer).space != ir::Space::global))
      fail(a.where, "use_tma of T.atomic_add goes from a shared buffer to a global tensor");
    ir::ValueId x = emit_box(s, from), y = emit_box(s, to);
    made = t.builder.op(OpKind::atomic, {x, y});
  } else {
    Box to = box_arg(s, a, "dst");
    ir::ValueId v = convert(s, scalar_arg(s, a, "value"), buffer_type(s, to.buffer).dtype);
    made = t.builder.op(OpKind::atomic_fill, {v, emit_box(s, to)});
  }
  set(s, made, "op", std::string(op));
  set(s, made, "order", memory_order);
  if (flag(s, a, "use_tma")) set(s, made, "use_tma", MetaInt(1));
  add_annotations(s, a, made);
  return none();
}

Value atomic(Session& s, const Args& a, std::string_view op) {
  std::string memory_order = order(a, "relaxed", {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"});
  bool previous = flag(s, a, "return_prev");
  if (!has_extents(a.need("dst")) && !has_extents(a.need("value"))) return element(s, a, op, memory_order, previous);
  if (previous) fail(a.where, std::string("return_prev of T.") + a.builtin->name + " is for one element, not a region");
  if (op == "or") fail(a.where, "T.atomic_or takes one element");
  return tile(s, a, op, memory_order);
}
Value atomic_add(Session& s, Scope&, Args& a) { return atomic(s, a, "add"); }
Value atomic_max(Session& s, Scope&, Args& a) { return atomic(s, a, "max"); }
Value atomic_min(Session& s, Scope&, Args& a) { return atomic(s, a, "min"); }
Value atomic_or(Session& s, Scope&, Args& a) { return atomic(s, a, "or"); }

// The elements from an address on: the last index counts.
ir::ValueId vector_at(Session& s, const Args& a, std::string_view name, int64_t lanes) {
  Box box = box_arg(s, a, name);
  for (MetaInt& e : box.extents) e = MetaInt(1);
  box.extents.back() = MetaInt(lanes);
  box.whole = false;
  return emit_box(s, box);
}
Value vector_add(Session& s, const Args& a, int64_t lanes) {
  Trace& t = in_launch(s, a);
  ir::ValueId value = vector_at(s, a, "value", lanes), dst = vector_at(s, a, "dst", lanes);
  bool previous = flag(s, a, "return_prev");
  ir::Type result = ir::Type::scalar(s.module[dst].type.dtype, static_cast<uint32_t>(lanes));
  // Operands in the order of `atomic`: what is added, then where.
  if (!previous) {
    set(s, t.builder.call("atomic_add_vector", {value, dst}), "lanes", MetaInt(lanes));
    return none();
  }
  ir::ValueId old = t.builder.call("atomic_add_vector_old", {value, dst}, result);
  set(s, s.module[old].def, "lanes", MetaInt(lanes));
  return scalar(old);
}
Value atomic_addx2(Session& s, Scope&, Args& a) { return vector_add(s, a, 2); }
Value atomic_addx4(Session& s, Scope&, Args& a) { return vector_add(s, a, 4); }

Value atomic_load(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  std::string memory_order = order(a, "seq_cst", {"relaxed", "consume", "acquire", "seq_cst"});
  std::vector<ir::ValueId> operands = element_arg(s, a, "src");
  ir::Type type = ir::Type::scalar(s.module[operands[0]].type.dtype);
  ir::OpId op = s.module.new_op(t.builder.block, OpKind::atomic_load, std::move(operands), {type}, a.where);
  set(s, op, "order", memory_order);
  return scalar(s.module[op].results[0]);
}
Value atomic_store(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  std::string memory_order = order(a, "seq_cst", {"relaxed", "release", "seq_cst"});
  std::vector<ir::ValueId> operands = element_arg(s, a, "dst");
  operands.push_back(convert(s, scalar_arg(s, a, "src"), s.module[operands[0]].type.dtype));
  set(s, t.builder.op(OpKind::atomic_store, std::move(operands)), "order", memory_order);
  return none();
}

constexpr Builtin kRows[] = {
    {"T", "atomic_add", "dst, value, memory_order=, return_prev=, use_tma=, annotations=", atomic_add},
    {"T", "atomic_max", "dst, value, memory_order=, return_prev=, annotations=", atomic_max},
    {"T", "atomic_min", "dst, value, memory_order=, return_prev=, annotations=", atomic_min},
    {"T", "atomic_or", "dst, value, memory_order=", atomic_or},
    {"T", "atomic_addx2", "dst, value, return_prev=", atomic_addx2},
    {"T", "atomic_addx4", "dst, value, return_prev=", atomic_addx4},
    {"T", "atomic_load", "src, memory_order=", atomic_load},
    {"T", "atomic_store", "dst, src, memory_order=", atomic_store},
};
}  // namespace

std::span<const Builtin> atomic_builtins() { return kRows; }

}  // namespace tc::eval
