// Layouts and other annotations. A layout is written down where it is annotated: an op `layout` whose block computes
// the place of an element from its indices; layouts of the library keep their name and parameters and an empty block.
//   T.annotate_layout({x: T.Layout(x.shape, lambda i, j: i * 64 + (j ^ i))})
//   layout %x {kind="layout"} |i, j| { … yield_ %p }
// Sources: tilelang/layout/, tilelang/language/annotations.py.
#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using ir::OpKind;

Value layout(Session& s, Scope&, Args& a) {
  return library(s, LibraryKind::layout, "layout",
                 {{"kind", text("layout")}, {"shape", a.need("shape")}, {"forward", a.need("forward_fn")}});
}
Value fragment(Session& s, Scope&, Args& a) {
  if (!a.given("forward_fn") && !a.given("forward_thread_fn"))
    fail(a.where, std::string("T.") + a.builtin->name + " needs forward_fn or forward_thread_fn");
  bool partial = std::string_view(a.builtin->name) == "PartialFragment";
  std::vector<std::pair<std::string, Value>> fields{{"kind", text(partial ? "partial_fragment" : "fragment")},
                                                    {"shape", a.need("shape")}};
  for (auto [param, field] : {std::pair("forward_fn", "forward"), std::pair("forward_thread_fn", "forward_thread"),
                              std::pair("forward_index_fn", "forward_index"), std::pair("replicate", "replicate"),
                              std::pair("combine", "combine")})
    if (const Value* v = a.get(param)) fields.emplace_back(field, *v);
  return library(s, LibraryKind::fragment, "fragment layout", std::move(fields));
}

// A layout of the library by name: its parameters stay what they are.
Value named(Session& s, Args& a, bool is_fragment) {
  std::string name = a.builtin->name;
  if (name.starts_with("make_")) name = name.substr(5);
  std::vector<std::pair<std::string, Value>> fields{{"kind", text(name)}};
  for (const auto& [param, value] : a.named)
    if (!value.is<NoneV>() && !value.is<BufferV>() && !value.is<const RegionObject*>())
      fields.emplace_back(param, value);
  return library(s, is_fragment ? LibraryKind::fragment : LibraryKind::layout, "layout", std::move(fields));
}
Value named_layout(Session& s, Scope&, Args& a) { return named(s, a, false); }
Value named_fragment(Session& s, Scope&, Args& a) { return named(s, a, true); }

// The functions of a layout, applied to the block's arguments; what they give, in order.
std::vector<ir::ValueId> apply(Session& s, const Value& function, std::vector<Value> indices,
                               const SourceRange& where) {
  if (!function.is<FunctionObject*>() && !function.is<const PartialObject*>())
    fail(where, "a layout needs a function, not " + kind_name(function));
  Scope scope;
  Value result = eval::apply(s, scope, function, std::move(indices), {}, where);
  std::vector<ir::ValueId> out;
  std::function<void(const Value&)> flatten = [&](const Value& v) {
    if (v.is<ListObject*>() || v.is<const TupleObject*>())
      for (const Value& item : to_items(s, v, where, "what the layout gives")) flatten(item);
    else out.push_back(to_index(s, v, where, "what the layout gives"));
  };
  flatten(result);
  return out;
}

// Fills the block of a layout op. Returns how many of the values yielded come after the thread.
void emit_block(Session& s, const LibraryObject& object, ir::OpId op, const SourceRange& where) {
  Trace& t = *s.trace;
  ir::BlockId block = s.module[op].blocks[0], outer = t.builder.block;
  size_t known = t.constants.size();
  int depth = std::exchange(t.parallel_depth, 0);
  std::vector<Value> indices, replicated;
  std::vector<MetaInt> shape = to_shape(s, *object.field("shape"), where);
  auto argument = [&](std::string name) {
    ir::ValueId v = s.module.new_value(ir::Type::scalar(DType::i32), std::move(name));
    s.module[block].args.push_back(v);
    return scalar(v);
  };
  for (size_t i = 0; i < shape.size(); ++i) indices.push_back(argument("i" + std::to_string(i)));
  replicated = indices;
  if (const Value* r = object.field("replicate"); r && to_int(s, *r, where, "replicate").value > 1) {
    set(s, op, "replicate", to_int(s, *r, where, "replicate"));
    replicated.push_back(argument("rep"));
  }
  t.builder.block = block;
  std::vector<ir::ValueId> out;
  if (const Value* forward = object.field("forward")) {
    out = apply(s, *forward, object.kind == LibraryKind::fragment ? replicated : indices, where);
  } else {
    out = apply(s, *object.field("forward_thread"), replicated, where);
    if (const Value* index = object.field("forward_index")) {
      auto more = apply(s, *index, indices, where);
      out.insert(out.end(), more.begin(), more.end());
    }
  }
  t.builder.op(OpKind::yield_, std::move(out));
  t.builder.block = outer;
  t.constants.resize(known);
  t.parallel_depth = depth;
}

void emit_layout(Session& s, ir::OpId op, const LibraryObject& object, const SourceRange& where) {
  set(s, op, "kind", to_text(*object.field("kind"), where, "the kind"));
  if (object.field("shape")) return emit_block(s, object, op, where);
  for (const auto& [name, value] : object.fields) {
    if (name == "kind") continue;
    if (value.is<NoneV>()) continue;
    std::optional<ir::AttrValue> attribute;
    if (const auto* dtype = value.as<DType>()) attribute = std::string(info(*dtype).name);
    else attribute = to_attribute(s, value, where);
    if (!attribute) fail_unsupported(where, "argument '" + name + "' of a layout");
    set(s, op, name, *attribute);
  }
}
}  // namespace

void emit_loop_layout(Session& s, const Value& layout, std::optional<ir::OpId> user, const SourceRange& where) {
  const auto* object = layout.as<const LibraryObject*>();
  if (!object || (*object)->kind != LibraryKind::fragment)
    fail(where, "a loop_layout has to be a T.Fragment, not " + kind_name(layout));
  // Of a copy the layout stands before it and names it by its place: the op after it.
  if (user) {
    auto& ops = s.module[s.trace->builder.block].ops;
    ops.pop_back();
    ir::OpId op = s.trace->builder.nest(OpKind::loop_layout, {}, {});
    set(s, op, "of", std::string("next"));
    emit_layout(s, op, **object, where);
    s.module[s.trace->builder.block].ops.push_back(*user);
    return;
  }
  ir::OpId op = s.trace->builder.nest(OpKind::loop_layout, {}, {});
  emit_layout(s, op, **object, where);
}

Value call_layout(Session& s, const LibraryObject& object, const std::vector<Value>& indices,
                  const SourceRange& where) {
  const Value* forward = object.field("forward");
  if (!forward) fail_unsupported(where, "a call of this layout");
  std::vector<Value> out;
  for (ir::ValueId v : apply(s, *forward, indices, where)) out.push_back(scalar(v));
  return list(s, std::move(out));
}

namespace {
std::vector<std::pair<Value, Value>> entries(const Args& a, std::string_view name) {
  const auto* d = a.need(name).as<DictObject*>();
  if (!d) fail(a.where, std::string("T.") + a.builtin->name + " takes a dict, not " + kind_name(a.need(name)));
  return (*d)->items;
}
ir::ValueId whole_buffer(const Args& a, const Value& v) {
  const auto* b = v.as<BufferV>();
  if (!b) fail(a.where, std::string("T.") + a.builtin->name + " is about buffers, not " + kind_name(v));
  return b->id;
}

Value annotate_layout(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  for (const auto& [buffer, value] : entries(a, "layout_map")) {
    ir::ValueId b = whole_buffer(a, buffer);
    Value made = value;
    if (value.is<FunctionObject*>() || value.is<const PartialObject*>()) {
      std::vector<Value> shape;
      for (const MetaInt& e : s.module[b].type.shape) shape.push_back(integer(e));
      made = library(s, LibraryKind::layout, "layout",
                     {{"kind", text("layout")}, {"shape", tuple(s, std::move(shape))}, {"forward", value}});
    }
    const auto* object = made.as<const LibraryObject*>();
    bool known = object && ((*object)->kind == LibraryKind::layout || (*object)->kind == LibraryKind::fragment);
    if (!known) fail(a.where, "a layout has to be a T.Layout, a T.Fragment or a function, not " + kind_name(value));
    if (s.module[b].type.space == ir::Space::fragment && (*object)->kind != LibraryKind::fragment)
      fail(a.where, "the layout of the fragment '" + s.module[b].name + "' has to be a T.Fragment");
    ir::OpId op = t.builder.nest(OpKind::layout, {b}, {});
    emit_layout(s, op, **object, a.where);
  }
  return none();
}

ir::OpId annotation(Session& s, std::string_view kind, std::vector<ir::ValueId> operands) {
  ir::OpId op = s.trace->builder.op(OpKind::annotate, std::move(operands));
  set(s, op, "kind", std::string(kind));
  return op;
}
Value annotate_safe_value(Session& s, Scope&, Args& a) {
  in_launch(s, a);
  for (const auto& [buffer, value] : entries(a, "safe_value_map")) {
    ir::ValueId b = whole_buffer(a, buffer);
    annotation(s, "safe_value", {b, convert(s, to_scalar(s, value, a.where, "the value"), s.module[b].type.dtype)});
  }
  return none();
}
Value annotate_l2_hit_ratio(Session& s, Scope&, Args& a) {
  in_launch(s, a);
  for (const auto& [buffer, value] : entries(a, "l2_hit_ratio_map")) {
    ir::ValueId b = whole_buffer(a, buffer);
    if (s.module[b].type.space != ir::Space::global) fail(a.where, "an L2 hit ratio is for global buffers");
    set(s, annotation(s, "l2_hit_ratio", {b}), "ratio", to_double(value, a.where, "the ratio"));
  }
  return none();
}
Value annotate_restrict_buffers(Session& s, Scope&, Args& a) {
  traced(s, a);
  std::vector<ir::ValueId> buffers;
  for (const Value& v : a.rest) buffers.push_back(whole_buffer(a, v));
  if (!buffers.empty()) annotation(s, "non_restrict", std::move(buffers));
  return none();
}
Value annotate_min_blocks_per_sm(Session& s, Scope&, Args& a) {
  in_launch(s, a);
  MetaInt n = to_int(s, a.need("n"), a.where, "the number of CTAs");
  if (n.value < 1) fail(a.where, "T.annotate_min_blocks_per_sm takes a positive number");
  set(s, annotation(s, "min_blocks_per_sm", {}), "count", n);
  return none();
}
Value annotate_ws_pipeline_depth(Session& s, Scope&, Args& a) {
  in_launch(s, a);
  for (const auto& [buffer, value] : entries(a, "depth_map")) {
    ir::ValueId b = whole_buffer(a, buffer);
    MetaInt depth = to_int(s, value, a.where, "the depth");
    if (depth.value < 1) fail(a.where, "a pipeline depth of " + std::to_string(depth.value));
    set(s, annotation(s, "ws_pipeline_depth", {b}), "depth", depth);
  }
  return none();
}
// What holds for the whole function: the attributes of annotate say it.
Value annotate_pass_configs(Session& s, Scope&, Args& a) {
  traced(s, a);
  for (const auto& [key, value] : entries(a, "configs")) {
    ir::OpId op = annotation(s, "pass_config", {});
    set(s, op, "key", to_text(key, a.where, "the pass config"));
    auto attribute = to_attribute(s, value, a.where);
    if (!attribute) fail_unsupported(a.where, "a pass config with " + kind_name(value));
    set(s, op, "value", *attribute);
  }
  return none();
}
Value annotate_compile_flags(Session& s, Scope&, Args& a) {
  traced(s, a);
  const Value& flags = a.need("flags");
  std::vector<Value> list = flags.is<std::string>() ? std::vector{flags} : to_items(s, flags, a.where, "the flags");
  for (const Value& v : list) set(s, annotation(s, "compile_flag", {}), "flag", to_text(v, a.where, "a flag"));
  return none();
}
Value registers(Session& s, Args& a, std::string_view kind) {
  in_launch(s, a);
  ir::OpId op = annotation(s, kind, {});
  if (const Value* n = a.get("reg_count")) set(s, op, "count", to_int(s, *n, a.where, "reg_count"));
  else if (kind != "no_set_max_nreg") set(s, op, "count", MetaInt(kind == "producer_reg_dealloc" ? 24 : 240));
  return none();
}
Value producer_registers(Session& s, Scope&, Args& a) { return registers(s, a, "producer_reg_dealloc"); }
Value consumer_registers(Session& s, Scope&, Args& a) { return registers(s, a, "consumer_reg_alloc"); }
Value no_registers(Session& s, Scope&, Args& a) { return registers(s, a, "no_set_max_nreg"); }
Value import_source(Session& s, Scope&, Args& a) {
  traced(s, a);
  if (a.given("source"))
    set(s, annotation(s, "import_source", {}), "text", to_text(a.need("source"), a.where, "source"));
  return none();
}

#define FRAGMENT "shape, forward_fn=, forward_thread_fn=, replicate=, forward_index_fn="
constexpr Builtin kRows[] = {
    {"T", "Layout", "shape, forward_fn", layout},
    {"T", "Fragment", FRAGMENT, fragment},
    {"T", "PartialFragment", FRAGMENT ", combine=", fragment},
    {"layout", "Layout", "shape, forward_fn", layout},
    {"layout", "Fragment", FRAGMENT, fragment},
    {"layout", "make_swizzled_layout", "buffer, k_major=, allow_pad=", named_layout},
    {"layout", "make_volta_swizzled_layout", "buffer, is_a=, k_inner=", named_layout},
    {"layout", "make_wgmma_swizzled_layout", "buffer, continuity=, k_major=", named_layout},
    {"layout", "make_tcgen05mma_swizzled_layout", "buffer, continuity=, k_major=", named_layout},
    {"layout", "make_full_bank_swizzled_layout", "buffer", named_layout},
    {"layout", "make_half_bank_swizzled_layout", "buffer", named_layout},
    {"layout", "make_quarter_bank_swizzled_layout", "buffer", named_layout},
    {"layout", "make_linear_layout", "buffer", named_layout},
    {"layout", "make_cutlass_metadata_layout", "buffer, mma_dtype=, arch=, block_k=", named_layout},
    {"layout", "make_gemm_fragment_8x8", "", named_fragment},
    {"layout", "make_gemm_fragment_8x8_transposed", "", named_fragment},
    {"layout", "make_fully_replicated_layout_fragment", "buffer, threads", named_fragment},
    {"layout", "make_fully_replicated_partial_fragment", "buffer, threads", named_fragment},
    {"T", "make_mma_swizzle_layout", "shared_buf, is_smooth=", named_layout},
    {"T", "make_blockscaled_gemm_layout", "C, A, transpose_A=", named_fragment},
    {"T", "annotate_layout", "layout_map", annotate_layout},
    {"T", "annotate_safe_value", "safe_value_map", annotate_safe_value},
    {"T", "annotate_l2_hit_ratio", "l2_hit_ratio_map", annotate_l2_hit_ratio},
    {"T", "annotate_restrict_buffers", "*buffers", annotate_restrict_buffers},
    {"T", "annotate_min_blocks_per_sm", "n", annotate_min_blocks_per_sm},
    {"T", "annotate_ws_pipeline_depth", "depth_map", annotate_ws_pipeline_depth},
    {"T", "annotate_pass_configs", "configs", annotate_pass_configs},
    {"T", "annotate_compile_flags", "flags", annotate_compile_flags},
    {"T", "annotate_producer_reg_dealloc", "reg_count=", producer_registers},
    {"T", "annotate_consumer_reg_alloc", "reg_count=", consumer_registers},
    {"T", "no_set_max_nreg", "", no_registers},
    {"T", "disable_warp_group_reg_alloc", "", no_registers},
    {"T", "import_source", "source=", import_source},
};
}  // namespace

std::span<const Builtin> layout_builtins() { return kRows; }

}  // namespace tc::eval
