// Matrix products: C += op(A) op(B) on the last two dimensions of regions. One op a kind; what the hardware variant is
// told (barrier, 2 CTAs, scales, sparsity) is operands and attributes. Source: tilelang/language/gemm_op.py,
// tilelang/cuda/language/gemm_op.py, tilelang/language/experimental/gemm_sp_op.py.
#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using ir::OpKind;
using ir::Space;

struct Operands {
  Box a, b, c;
};

// The matrix of an operand: its last two extents.
std::pair<MetaInt, MetaInt> matrix(const Args& a, const Box& box, std::string_view name) {
  std::string what = std::string(name) + " of T." + a.builtin->name;
  size_t rank = box.extents.size();
  if (rank < 2) fail(a.where, what + " has to be a matrix");
  for (size_t i = 0; i + 2 < rank; ++i)
    if (box.extents[i].value != 1)
      fail(a.where, "a leading extent of " + what + " is " + std::to_string(box.extents[i].value) + ", not 1");
  return {box.extents[rank - 2], box.extents[rank - 1]};
}

void require_same(Session& s, const Args& a, const char* name, const MetaInt& x, const MetaInt& y) {
  if (x.dynamic() || y.dynamic())
    fail(a.where, std::string(name) + " of T." + a.builtin->name + " is known at run time only");
  if (!require_equal(s, x, y, a.where))
    fail(a.where, std::string(name) + " of T." + a.builtin->name + " differs: " + std::to_string(x.value) + " and " +
                      std::to_string(y.value));
}

// With two CTAs each holds half of B's columns.
void check_shapes(Session& s, const Args& a, const Operands& o, bool transpose_a, bool transpose_b, bool sparse,
                  bool two_ctas) {
  auto [a0, a1] = matrix(a, o.a, "A");
  auto [b0, b1] = matrix(a, o.b, "B");
  auto [m, n] = matrix(a, o.c, "C");
  if (transpose_a) std::swap(a0, a1);
  if (transpose_b) std::swap(b0, b1);
  if (sparse) a1 = meta(s, ir::MetaKind::mul, a1, MetaInt(2), a.where);
  if (two_ctas) b1 = meta(s, ir::MetaKind::mul, b1, MetaInt(2), a.where);
  require_same(s, a, "M", a0, m);
  require_same(s, a, "N", b1, n);
  require_same(s, a, "K", a1, b0);
}

void check_space(Session& s, const Args& a, const char* name, const Box& box, std::initializer_list<Space> legal) {
  Space space = buffer_type(s, box.buffer).space;
  if (std::find(legal.begin(), legal.end(), space) == legal.end())
    fail(a.where, std::string(name) + " of T." + a.builtin->name + " is " +
                      ir::type_text(s.module, buffer_type(s, box.buffer)) +
                      ": A and B are shared, fragments or tensor memory, C is a fragment or tensor memory");
}

// A and B have one type; only the 8-, 6- and 4-bit floats may be mixed.
bool is_narrow_float(DType t) { return is_float(t) && (info(t).bits <= 8); }
void check_types(Session& s, const Args& a, const Operands& o) {
  DType x = buffer_type(s, o.a.buffer).dtype, y = buffer_type(s, o.b.buffer).dtype;
  bool mixed_ints = is_integer(x) && is_integer(y) && info(x).bits == info(y).bits;
  if (x != y && !(is_narrow_float(x) && is_narrow_float(y)) && !mixed_ints)
    fail(a.where, std::string("A of T.") + a.builtin->name + " has elements of " + std::string(info(x).name) +
                      ", B of " + std::string(info(y).name));
}

Operands operands(Session& s, const Args& a, const char* first) {
  Operands o{box_arg(s, a, first), box_arg(s, a, "B"), box_arg(s, a, "C")};
  check_space(s, a, "A", o.a, {Space::shared, Space::fragment, Space::tmem, Space::local});
  check_space(s, a, "B", o.b, {Space::shared, Space::fragment, Space::local});
  check_space(s, a, "C", o.c, {Space::fragment, Space::tmem, Space::local});
  return o;
}

std::string policy_of(const Args& a) {
  const Value* p = a.get("policy");
  if (!p) return "square";
  const auto* known = p->as<PolicyV>();
  if (!known)
    fail(a.where,
         std::string("the policy of T.") + a.builtin->name + " has to be a GemmWarpPolicy, not " + kind_name(*p));
  return *known == PolicyV::square ? "square" : *known == PolicyV::full_row ? "full_row" : "full_col";
}

void append_barrier(Session& s, const Args& a, std::vector<ir::ValueId>& list) {
  const Value* barrier = a.get("mbar");
  if (!barrier) return;
  auto [array, index] = to_barrier(s, *barrier, a.where);
  list.insert(list.end(), {array, index});
}

// clear_accum: nullopt where it is known at run time only.
std::optional<bool> clear_of(Session& s, const Args& a) {
  const Value* c = a.get("clear_accum");
  if (c && is_runtime(*c)) return std::nullopt;
  return flag(s, a, "clear_accum");
}

ir::OpId dense(Session& s, Args& a, std::string_view variant) {
  Trace& t = collective(s, a);
  Operands o = operands(s, a, "A");
  bool transpose_a = flag(s, a, "transpose_A"), transpose_b = flag(s, a, "transpose_B"), pair = flag(s, a, "use_2cta");
  if (const Value* v = a.get("annotations"); v && v->is<DictObject*>())
    for (const auto& [key, value] : (*v->as<DictObject*>())->items)
      if (key.is<std::string>() && *key.as<std::string>() == "use_2cta") pair = to_bool(s, value, a.where, "use_2cta");
  check_shapes(s, a, o, transpose_a, transpose_b, false, pair);
  check_types(s, a, o);
  auto clear = clear_of(s, a);
  std::vector<ir::ValueId> list{emit_box(s, o.a), emit_box(s, o.b), emit_box(s, o.c)};
  if (!clear) list.push_back(as_condition(s, a.need("clear_accum"), a.where));
  append_barrier(s, a, list);
  ir::OpId op = t.builder.op(clear ? OpKind::gemm : OpKind::gemm_conditional, std::move(list));
  set(s, op, "transpose_a", MetaInt(transpose_a));
  set(s, op, "transpose_b", MetaInt(transpose_b));
  if (clear) set(s, op, "clear_accum", MetaInt(*clear));
  set(s, op, "policy", policy_of(a));
  if (!variant.empty()) set(s, op, "variant", std::string(variant));
  if (pair) set(s, op, "use_2cta", MetaInt(1));
  if (const Value* k = a.get("k_pack")) set(s, op, "k_pack", to_int(s, *k, a.where, "k_pack"));
  add_annotations(s, a, op);
  return op;
}
Value gemm(Session& s, Scope&, Args& a) { return dense(s, a, ""), none(); }
Value wgmma_gemm(Session& s, Scope&, Args& a) { return dense(s, a, "wgmma"), none(); }
Value tcgen05_gemm(Session& s, Scope&, Args& a) { return dense(s, a, "tcgen05"), none(); }

Value scaled(Session& s, Args& a, std::string_view variant, const char* scales_a, const char* scales_b) {
  Trace& t = collective(s, a);
  Operands o = operands(s, a, "A");
  bool transpose_a = flag(s, a, "transpose_A"), transpose_b = flag(s, a, "transpose_B"), pair = flag(s, a, "use_2cta");
  check_shapes(s, a, o, transpose_a, transpose_b, false, pair);
  check_types(s, a, o);
  auto clear = clear_of(s, a);
  ir::ValueId start = index_arg(s, a, "k_start");
  ir::ValueId wipe = clear ? constant(s, MetaInt(*clear), DType::b1) : as_condition(s, a.need("clear_accum"), a.where);
  std::vector<ir::ValueId> list{emit_box(s, o.a),
                                emit_box(s, o.b),
                                emit_box(s, o.c),
                                region_arg(s, a, scales_a),
                                region_arg(s, a, scales_b),
                                start,
                                wipe};
  append_barrier(s, a, list);
  ir::OpId op = t.builder.op(OpKind::gemm_scaled, std::move(list));
  set(s, op, "transpose_a", MetaInt(transpose_a));
  set(s, op, "transpose_b", MetaInt(transpose_b));
  set(s, op, "policy", policy_of(a));
  for (const char* name : {"sf_a_granularity_k", "sf_b_granularity_k"})
    set(s, op, name, to_int(s, a.need(name), a.where, name));
  if (!variant.empty()) set(s, op, "variant", std::string(variant));
  if (pair) set(s, op, "use_2cta", MetaInt(1));
  copy_int(s, a, op, "wg_wait");
  copy_text(s, a, op, "sf_layout", "sf_layout");
  add_annotations(s, a, op);
  return none();
}
Value gemm_blockscaled(Session& s, Scope&, Args& a) { return scaled(s, a, "", "SFA", "SFB"); }
Value mma_gemm_blockscaled(Session& s, Scope&, Args& a) { return scaled(s, a, "mma", "SFA", "SFB"); }
Value tcgen05_gemm_blockscaled(Session& s, Scope&, Args& a) { return scaled(s, a, "tcgen05", "SFA_tmem", "SFB_tmem"); }

// A holds two of every four elements along K, E says which.
Value sparse(Session& s, Args& a, std::string_view variant) {
  Trace& t = collective(s, a);
  Operands o = operands(s, a, "A_sparse");
  bool transpose_a = flag(s, a, "transpose_A"), transpose_e = flag(s, a, "transpose_E"),
       transpose_b = flag(s, a, "transpose_B");
  check_shapes(s, a, o, transpose_a, transpose_b, true, false);
  check_types(s, a, o);
  auto clear = clear_of(s, a);
  if (!clear) fail_unsupported(a.where, std::string("clear_accum of T.") + a.builtin->name + " known at run time only");
  ir::ValueId e = region_arg(s, a, "E");
  std::vector<ir::ValueId> list{emit_box(s, o.a), e, emit_box(s, o.b), emit_box(s, o.c)};
  ir::OpId op = t.builder.op(OpKind::gemm_sparse, std::move(list));
  set(s, op, "transpose_a", MetaInt(transpose_a));
  set(s, op, "transpose_e", MetaInt(transpose_e));
  set(s, op, "transpose_b", MetaInt(transpose_b));
  set(s, op, "clear_accum", MetaInt(*clear));
  set(s, op, "policy", policy_of(a));
  if (!variant.empty()) set(s, op, "variant", std::string(variant));
  copy_int(s, a, op, "wg_wait");
  add_annotations(s, a, op);
  return none();
}
Value gemm_sp(Session& s, Scope&, Args& a) { return sparse(s, a, ""); }
Value wgmma_gemm_sp(Session& s, Scope&, Args& a) { return sparse(s, a, "wgmma"); }
Value tcgen05_gemm_sp(Session& s, Scope&, Args& a) { return sparse(s, a, "tcgen05"); }

#define DENSE "A, B, C, transpose_A=, transpose_B=, policy=, clear_accum=, "
#define SCALED "transpose_A=, transpose_B=, policy=, clear_accum=, *, k_start, sf_a_granularity_k, sf_b_granularity_k, "
#define TCGEN05_SCALED                                                                                   \
  "A, B, C, SFA_tmem, SFB_tmem, transpose_A=, transpose_B=, clear_accum=, wg_wait=, mbar=, *, k_start, " \
  "sf_a_granularity_k, sf_b_granularity_k, use_2cta="
#define SPARSE "A_sparse, E, B, C, transpose_A=, transpose_E=, transpose_B=, policy=, clear_accum=, "
constexpr Builtin kRows[] = {
    {"T", "gemm", DENSE "mbar=, annotations=, *, k_pack=~, wg_wait=!", gemm},
    {"T", "wgmma_gemm", DENSE "annotations=", wgmma_gemm},
    {"T", "wgmma_mma", DENSE "annotations=", wgmma_gemm},
    {"T", "tcgen05_gemm", DENSE "*, mbar, use_2cta=, annotations=", tcgen05_gemm},
    {"T", "tcgen05_mma", DENSE "*, mbar, use_2cta=, annotations=", tcgen05_gemm},
    {"T", "gemm_blockscaled",
     "A, B, C, SFA, SFB, " SCALED "mbar=, use_2cta=, sf_layout=, annotations=", gemm_blockscaled},
    {"T", "mma_gemm_blockscaled", "A, B, C, SFA, SFB, " SCALED "sf_layout=", mma_gemm_blockscaled},
    {"T", "tcgen05_gemm_blockscaled", TCGEN05_SCALED, tcgen05_gemm_blockscaled},
    {"T", "tcgen05_mma_blockscaled", TCGEN05_SCALED, tcgen05_gemm_blockscaled},
    {"T", "gemm_sp", SPARSE "wg_wait=, annotations=, *, k_pack=!", gemm_sp},
    {"T", "wgmma_gemm_sp", SPARSE "annotations=", wgmma_gemm_sp},
    {"T", "tcgen05_gemm_sp", SPARSE "annotations=", tcgen05_gemm_sp},
};
}  // namespace

std::span<const Builtin> gemm_builtins() { return kRows; }

}  // namespace tc::eval
