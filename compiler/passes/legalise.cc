// Pass legalise, tile → tile. Refuses by name, with its range, what the later passes do not handle.
// Hints that are not acted on (block swizzle, layouts, access widths, pass configs) are warned about and taken away:
// results do not depend on them. A gemm with a run-time clear_accum becomes an `if` that clears, and a gemm. Gives:
// exactly one launch a function, thread counts that are whole warps, sections inside the launch, mbarrier arrays only
// at the top of the launch, no while loops.
#include "compiler/passes/passes.h"

namespace tc::ir {
namespace {

Diag refuse(const Op& op, std::string what) {
  Diag d = unsupported(place(op), std::move(what));
  d.notes = origin_notes(op);
  return d;
}

Status check_launch(const Module& m, const Op& launch) {
  int64_t threads = int_attr(launch, "threads", 0);
  if (threads < 1 || threads > kMaxThreads) {
    Diag d = input_error(place(launch), "a CTA has 1 to 1024 threads, this one " + std::to_string(threads));
    d.rule = "LAUNCH-03";
    return d;
  }
  if (threads % kWarpLanes)
    return refuse(launch, "a thread count that is no multiple of 32 (" + std::to_string(threads) + ")");
  for (ValueId v : launch.operands)
    if (!constant_value(m, v)) return refuse(launch, "a grid extent that is only known at run time");
  return {};
}

void warn(const SourceRange& where, const std::string& what, const PassContext& cx) {
  if (cx.warnings)
    cx.warnings->push_back({.severity = Severity::warning, .where = where, .message = what + " is not acted on"});
}

// What the later passes lower. Anything else of the tile level is refused by its name.
constexpr OpKind kLowered[] = {
    OpKind::for_,
    OpKind::if_,
    OpKind::ws,
    OpKind::parallel,
    OpKind::constant,
    OpKind::thread_index,
    OpKind::add,
    OpKind::sub,
    OpKind::mul,
    OpKind::div,
    OpKind::floordiv,
    OpKind::floormod,
    OpKind::bit_and,
    OpKind::bit_or,
    OpKind::bit_xor,
    OpKind::shift_left,
    OpKind::shift_right,
    OpKind::min,
    OpKind::max,
    OpKind::eq,
    OpKind::ne,
    OpKind::lt,
    OpKind::le,
    OpKind::gt,
    OpKind::ge,
    OpKind::logical_and,
    OpKind::logical_or,
    OpKind::logical_not,
    OpKind::neg,
    OpKind::abs,
    OpKind::exp,
    OpKind::exp2,
    OpKind::log,
    OpKind::log2,
    OpKind::sqrt,
    OpKind::rsqrt,
    OpKind::tanh,
    OpKind::select,
    OpKind::cast,
    OpKind::assume,
    OpKind::alloc,
    OpKind::region,
    OpKind::load,
    OpKind::store,
    OpKind::copy,
    OpKind::tma_copy,
    OpKind::async_copy,
    OpKind::fill,
    OpKind::gemm,
    OpKind::mbarrier_arrive,
    OpKind::mbarrier_expect_tx,
    OpKind::mbarrier_arrive_expect_tx,
    OpKind::mbarrier_wait,
    OpKind::sync_threads,
    OpKind::cp_async_commit,
    OpKind::cp_async_wait,
};
Status check_lowered(const Module& m, const Op& op) {
  std::string_view name = row_of(op).name;
  if (std::ranges::find(kLowered, op.kind) == std::end(kLowered))
    return refuse(op, "'" + std::string(name) + "' in generated code");
  if (op.kind == OpKind::gemm && (find_attr(op.attrs, "variant") || op.operands.size() != 3))
    return refuse(op, "an asynchronous gemm in generated code");
  if (op.kind == OpKind::ws && find_attr(op.attrs, "ranges"))
    return refuse(op, "T.ws of warpgroups that are no neighbours, in generated code");
  for (const std::vector<ValueId>* list : {&op.operands, &op.results})
    for (ValueId v : *list) {
      const Type& t = m[v].type;
      if (info(t.dtype).cuda.empty())
        return refuse(op, "element type " + std::string(info(t.dtype).name) + " in generated code");
      if (t.lanes != 1 || is_dynamic(t) || (t.kind == TypeKind::buffer && t.space == Space::tmem))
        return refuse(op, type_text(m, t) + " in generated code");
    }
  return {};
}

// Attributes that change what an op means and that nothing lowers.
struct Refused {
  OpKind kind;
  std::string_view attr, text;
};
constexpr Refused kRefused[] = {
    {OpKind::launch, "cluster", "a launch of clusters"},
    {OpKind::launch, "source", "a kernel given as source text"},
    {OpKind::launch, "prelude", "a prelude of source text"},
    {OpKind::tma_copy, "cluster_mask", "a multicast copy"},
    {OpKind::gemm, "use_2cta", "a gemm of two CTAs"},
    {OpKind::alloc, "cluster", "T.alloc_cluster_barrier"},
    {OpKind::for_, "order", "a pipeline with a given order"},
    {OpKind::for_, "stage", "a pipeline with given stages"},
};
Status check_attributes(const Op& op) {
  for (const Refused& r : kRefused)
    if (op.kind == r.kind && find_attr(op.attrs, r.attr)) return refuse(op, std::string(r.text) + " in generated code");
  return {};
}

struct Hint {
  OpKind kind;
  std::string_view attr, text;
};
constexpr Hint kHints[] = {
    {OpKind::launch, "swizzle_panel", "T.use_swizzle"},
    {OpKind::copy, "eviction_policy", "eviction_policy"},
    {OpKind::tma_copy, "eviction_policy", "eviction_policy"},
    {OpKind::tma_copy, "leader_scope_threads", "leader_scope_threads"},
    {OpKind::copy, "coalesced_width", "coalesced_width"},
    {OpKind::parallel, "coalesced_width", "coalesced_width"},
};
void warn_of_hints(const Op& op, const PassContext& cx) {
  for (const Hint& h : kHints)
    if (op.kind == h.kind && find_attr(op.attrs, h.attr)) warn(place(op), std::string(h.text), cx);
}
// What these two ask for holds anyway: there is no automatic warp specialisation, and no copy becomes a TMA store.
constexpr std::string_view kHeldConfigs[] = {"tl.disable_warp_specialized", "tl.disable_tma_lower",
                                             // of the front end, which has acted on them
                                             "tl.disable_buffer_init_check", "tl.disable_data_race_check",
                                             "tl.disable_prelower_semantic_check"};

// gemm_conditional → if (clear) { fill C with 0 }; gemm.
void expand_conditional(Module& m, BlockId block, OpId id, std::vector<OpId>& out) {
  const Op old = m[id];
  Builder b(m, block);
  b.loc = place(old);
  OpId branch = m.new_op(block, OpKind::if_, {old.operands[3]}, {}, old.loc);
  BlockId then = m.new_block(), otherwise = m.new_block();
  m[branch].blocks = {then, otherwise};
  b.block = then;
  DType type = m[old.operands[2]].type.dtype;
  ValueId zero = is_float(type) ? b.constant(0.0, type) : b.constant(MetaInt(0), type);
  m.new_op(then, OpKind::fill, {old.operands[2], zero}, {}, old.loc);
  OpId gemm = m.new_op(block, OpKind::gemm, {old.operands[0], old.operands[1], old.operands[2]}, {}, old.loc);
  m[gemm].attrs = old.attrs;
  set_attr(m[gemm].attrs, "clear_accum", MetaInt(0));
  for (OpId made : {branch, gemm}) m[made].text_loc = old.text_loc;
  out.insert(out.end(), {branch, gemm});
}

constexpr std::string_view kAnnotationName = "T.annotate_";
void simplify(Module& m, BlockId block, const PassContext& cx) {
  std::vector<OpId> before = m[block].ops, after;
  for (OpId id : before) {
    const Op& op = m[id];
    bool hint = op.kind == OpKind::layout || op.kind == OpKind::loop_layout || op.kind == OpKind::annotate;
    if (op.kind == OpKind::annotate && text_attr(op, "kind", "") == "safe_value") hint = false;
    if (hint) {
      std::string what = op.kind == OpKind::annotate
                             ? std::string(kAnnotationName) + std::string(text_attr(op, "kind", ""))
                         : op.kind == OpKind::layout ? "T.annotate_layout"
                                                     : "loop_layout";
      warn(place(op), what, cx);
      continue;
    }
    if (op.kind == OpKind::gemm_conditional && op.operands.size() == 4) {
      expand_conditional(m, block, id, after);
      continue;
    }
    after.push_back(id);
    for (BlockId b : std::vector<BlockId>(op.blocks)) simplify(m, b, cx);
  }
  m[block].ops = std::move(after);
}

Status check_op(const Module& m, const Op& op, const Op& launch, bool top, const PassContext& cx) {
  if (Status s = check_attributes(op); !s) return s;
  if (Status s = check_lowered(m, op); !s) return s;
  switch (op.kind) {
    case OpKind::ws: {
      int64_t lo = int_attr(op, "lo", -1), hi = int_attr(op, "hi", -1);
      if (lo < 0 || hi <= lo || hi > int_attr(launch, "threads", 0))
        return refuse(
            op, "a section of threads [" + std::to_string(lo) + ", " + std::to_string(hi) + ") outside of the launch");
      return {};
    }
    case OpKind::parallel:
      for (OpId inner : m[op.blocks[0]].ops)
        if (m[inner].kind == OpKind::parallel)
          return refuse(op, "a parallel loop inside a parallel loop in generated code");
      return {};
    case OpKind::alloc: {
      const Type& t = m[op.results[0]].type;
      if (t.space != Space::barrier) return {};
      if (!cx.arch.has_tma) return refuse(op, "alloc_barrier below sm_90");
      if (!top) return refuse(op, "alloc_barrier inside a loop or section");
      return {};
    }
    case OpKind::copy: {
      std::string_view wish = text_attr(op, "prefer", "");
      if (wish.empty() || wish == "sync") return {};
      return refuse(op, "T.copy with prefer_instruction=\"" + std::string(wish) + "\"");
    }
    default: return {};
  }
}

Status check_block(const Module& m, BlockId block, const Op& launch, bool top, const PassContext& cx) {
  for (OpId id : m[block].ops) {
    if (Status s = check_op(m, m[id], launch, top, cx); !s) return s;
    warn_of_hints(m[id], cx);
    for (BlockId b : m[id].blocks)
      if (Status s = check_block(m, b, launch, false, cx); !s) return s;
  }
  return {};
}

}  // namespace

Status legalise(Module& m, const PassContext& cx) {
  if (!cx.arch.supported)
    return unsupported(m.funcs.empty() ? SourceRange{} : m.funcs[0].loc, "target " + std::string(cx.arch.name));
  m.arch = cx.arch.name;
  for (const Func& f : m.funcs) {
    simplify(m, f.body, cx);
    for (const Attr& a : f.attrs)
      if (std::ranges::find(kHeldConfigs, a.name) == std::end(kHeldConfigs))
        warn(f.text_loc.valid() ? f.text_loc : f.loc, "pass config '" + a.name + "'", cx);
    for (ValueId p : f.params)
      if (const Type& t = m[p].type; is_dynamic(t) || info(t.dtype).cuda.empty())
        return unsupported(f.text_loc.valid() ? f.text_loc : f.loc,
                           "parameter '" + m[p].name + "' of type " + type_text(m, t) + " in generated code");
    int launches = 0;
    for (OpId id : m[f.body].ops) {
      const Op& op = m[id];
      if (op.kind != OpKind::launch) continue;
      if (++launches > 1) return refuse(op, "a second kernel launch in one function");
      if (Status s = check_launch(m, op); !s) return s;
      if (Status s = check_attributes(op); !s) return s;
      warn_of_hints(op, cx);
      if (Status s = check_block(m, op.blocks[0], op, true, cx); !s) return s;
    }
    if (launches == 0) return unsupported(f.loc, "a function without a kernel launch");
  }
  return {};
}

}  // namespace tc::ir
