// Names of the language that are one row of intrinsic.def: a table from parameters to operands and attributes.
// kinds, one letter a parameter:  v scalar   = scalar of the type of the first   f float scalar   i int32   m uint32
// mask
//   p integer or truth value   r, w, u region of that access   b buffer   B barrier   c condition
//   I integer attribute   F truth attribute   T dtype attribute   S text attribute (these have the parameter's name)
//   R rounding mode
//   2 pair
// result: none (0), of the first operand ('='), or a type by its letter below.
#include <algorithm>
#include <cmath>

#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::MetaInt;

struct Intrinsic {
  const char* name;    // in the language
  const char* params;  // as in Builtin
  const char* row;
  const char* kinds;
  char result;
  double (*compute)(double) = nullptr;  // on compile-time numbers
};

DType result_type(char letter, DType first) {
  switch (letter) {
    case 'i': return DType::i32;
    case 'u': return DType::u32;
    case 'U': return DType::u64;
    case 'b': return DType::b1;
    default: return first;
  }
}

// To nearest, ties to even, whatever the host's rounding mode.
double round_even(double x) { return std::nearbyint(x); }

// Parameters that the matrix instructions share.
#define TYPES "A_layout, B_layout, A_dtype, B_dtype, C_dtype, "
#define FRAGMENTS "multiplicand_a, a_index, multiplicand_b, b_index, accumulator, c_index"
#define SHORT "a_dtype_abbrv, b_dtype_abbrv, accum_dtype_abbrv, "
#define WGMMA "B_desc, B_offset, C_data, C_offset, scale_out, scale_in_a, scale_in_b"
#define TCGEN05 "desc_b, B_offset, C_ptr, C_offset, desc_val, scale_out"
constexpr Intrinsic kIntrinsics[] = {
    // ---- floats
    {"exp10", "x", "exp10", "f", '=', [](double x) { return std::pow(10.0, x); }},
    {"log10", "x", "log10", "f", '=', std::log10},
    {"log1p", "x", "log1p", "f", '=', std::log1p},
    {"sin", "x", "sin", "f", '=', std::sin},
    {"cos", "x", "cos", "f", '=', std::cos},
    {"tan", "x", "tan", "f", '=', std::tan},
    {"sinh", "x", "sinh", "f", '=', std::sinh},
    {"cosh", "x", "cosh", "f", '=', std::cosh},
    {"asin", "x", "asin", "f", '=', std::asin},
    {"acos", "x", "acos", "f", '=', std::acos},
    {"atan", "x", "atan", "f", '=', std::atan},
    {"asinh", "x", "asinh", "f", '=', std::asinh},
    {"acosh", "x", "acosh", "f", '=', std::acosh},
    {"atanh", "x", "atanh", "f", '=', std::atanh},
    {"erf", "x", "erf", "f", '=', std::erf},
    {"floor", "x, span=", "floor", "f", '=', std::floor},
    {"ceil", "x, span=", "ceil", "f", '=', std::ceil},
    {"trunc", "x, span=", "trunc", "f", '=', std::trunc},
    {"nearbyint", "x, span=", "nearbyint", "f", '=', round_even},
    {"isnan", "x, span=", "isnan", "f", 'b'},
    {"isinf", "x, span=", "isinf", "f", 'b'},
    {"isfinite", "x, span=", "isfinite", "f", 'b'},
    {"fmod", "x, y", "fmod", "f=", '='},
    {"atan2", "x1, x2", "atan2", "f=", '='},
    {"hypot", "x1, x2", "hypot", "f=", '='},
    {"copysign", "x1, x2", "copysign", "f=", '='},
    {"nextafter", "x1, x2", "nextafter", "f=", '='},
    {"ldexp", "x1, x2", "ldexp", "fi", '='},
    {"fma", "x, y, z", "fma", "f==", '='},
    {"fmul", "x, y", "fmul", "f=", '='},
    {"__exp", "x", "fast_exp", "f", '='},
    {"__exp10", "x", "fast_exp10", "f", '='},
    {"__log", "x", "fast_log", "f", '='},
    {"__log2", "x", "fast_log2", "f", '='},
    {"__log10", "x", "fast_log10", "f", '='},
    {"__sin", "x", "fast_sin", "f", '='},
    {"__cos", "x", "fast_cos", "f", '='},
    {"__tan", "x", "fast_tan", "f", '='},
    {"fast_rcp", "x", "fast_rcp", "f", '='},
    {"ieee_add", "x, y, rounding_mode=", "ieee_add", "f=R", '='},
    {"ieee_sub", "x, y, rounding_mode=", "ieee_sub", "f=R", '='},
    {"ieee_mul", "x, y, rounding_mode=", "ieee_mul", "f=R", '='},
    {"ieee_fdiv", "x, y, rounding_mode=", "ieee_fdiv", "f=R", '='},
    {"ieee_fmaf", "x, y, z, rounding_mode=", "ieee_fmaf", "f==R", '='},
    {"ieee_frcp", "x, rounding_mode=", "ieee_frcp", "fR", '='},
    {"ieee_fsqrt", "x, rounding_mode=", "ieee_fsqrt", "fR", '='},
    {"ieee_frsqrt", "x", "ieee_frsqrt", "f", '='},
    // ---- integers
    {"bitwise_not", "x, span=", "bit_not", "v", '='},
    {"popcount", "x", "popcount", "v", '='},
    {"clz", "x", "clz", "v", 'i'},
    {"__ffs", "value", "bitfield_ffs", "v", 'i'},
    {"__fns", "mask, base, offset", "bitfield_fns", "mii", 'u'},
    // ---- packed pairs
    {"add2", "x, y", "add2", "2=", '='},
    {"sub2", "x, y", "sub2", "2=", '='},
    {"mul2", "x, y", "mul2", "2=", '='},
    {"max2", "x, y", "max2", "2=", '='},
    {"min2", "x, y", "min2", "2=", '='},
    {"fma2", "x, y, z", "fma2", "2==", '='},
    {"abs2", "x", "abs2", "2", '='},
    // ---- warps
    {"shfl_sync", "value, srcLane, width=, mask=", "shfl_sync", "viim", '='},
    {"shfl_xor", "value, delta, width=, mask=", "shfl_xor", "viim", '='},
    {"shfl_down", "value, delta, width=, mask=", "shfl_down", "viim", '='},
    {"shfl_up", "value, delta, width=, mask=", "shfl_up", "viim", '='},
    {"any_sync", "predicate, mask=", "any_sync", "pm", 'i'},
    {"all_sync", "predicate, mask=", "all_sync", "pm", 'i'},
    {"ballot_sync", "predicate, mask=", "ballot_sync", "pm", 'U'},
    {"ballot", "predicate", "ballot", "p", 'U'},
    {"activemask", "", "activemask", "", 'U'},
    {"tvm_warp_activemask", "", "activemask", "", 'U'},
    {"match_any_sync", "value, mask=", "match_any_sync", "vm", 'u'},
    {"match_all_sync", "value, mask=", "match_all_sync", "vm", 'u'},
    {"warp_reduce_sum", "value", "warp_reduce_sum", "v", '='},
    {"warp_reduce_max", "value", "warp_reduce_max", "v", '='},
    {"warp_reduce_min", "value", "warp_reduce_min", "v", '='},
    {"warp_reduce_bitand", "value", "warp_reduce_bitand", "v", '='},
    {"warp_reduce_bitor", "value", "warp_reduce_bitor", "v", '='},
    {"shuffle_elect", "thread_extent", "shuffle_elect", "I", 'b'},
    {"sync_warp", "mask=", "sync_warp", "m", 0},
    {"syncthreads_count", "predicate", "syncthreads_count", "p", 'i'},
    {"syncthreads_and", "predicate", "syncthreads_and", "p", 'i'},
    {"syncthreads_or", "predicate", "syncthreads_or", "p", 'i'},
    {"named_barrier_arrive", "barrier_id, thread_count", "named_barrier_arrive", "ii", 0},
    // ---- clusters and grids
    {"block_rank_in_cluster", "", "block_rank_in_cluster", "", 'i'},
    {"cluster_arrive", "", "cluster_arrive", "", 0},
    {"cluster_arrive_relaxed", "", "cluster_arrive_relaxed", "", 0},
    {"cluster_wait", "", "cluster_wait", "", 0},
    {"cluster_sync", "", "cluster_sync", "", 0},
    {"clc_try_cancel", "result, mbarrier", "clc_try_cancel", "wB", 0},
    {"clc_try_cancel_multicast", "result, mbarrier", "clc_try_cancel_multicast", "wB", 0},
    {"clc_is_canceled", "result", "clc_is_canceled", "r", 'i'},
    {"clc_get_first_ctaid_x", "result", "clc_get_first_ctaid_x", "r", 'u'},
    {"clc_get_first_ctaid_y", "result", "clc_get_first_ctaid_y", "r", 'u'},
    {"clc_get_first_ctaid_z", "result", "clc_get_first_ctaid_z", "r", 'u'},
    {"pdl_trigger", "", "pdl_trigger", "", 0},
    {"pdl_sync", "", "pdl_sync", "", 0},
    // ---- asynchronous copies, matrix instructions
    {"cp_async_barrier_noinc", "barrier", "cp_async_barrier_noinc", "B", 0},
    {"tma_store_arrive", "", "tma_store_arrive", "", 0},
    {"tma_store_wait", "count=, read=", "tma_store_wait", "IF", 0},
    {"warpgroup_fence_operand", "buffer_or_ptr, offset=, num_regs=, dtype=", "warpgroup_fence_operand", "uIIT", 0},
    {"initialize_wgmma_descriptor",
     "descriptor, start_address, layout_type_=, leading_byte_offset=, stride_byte_offset=",
     "initialize_wgmma_descriptor", "wrIII", 0},
    {"initialize_tcgen05_descriptor",
     "descriptor, start_address, leading_byte_offset, stride_byte_offset, base_offset=, leading_is_absolute=, "
     "swizzle_mode=",
     "initialize_tcgen05_descriptor", "wrIIIFI", 0},
    {"increase_descriptor_offset", "descriptor, offset", "increase_descriptor_offset", "ui", 0},
    {"tcgen05_mma_arrive", "mbar, arrive_2cta=", "tcgen05_mma_arrive", "BF", 0},
    {"tcgen05_before_thread_sync", "", "tcgen05_before_thread_sync", "", 0},
    {"tcgen05_after_thread_sync", "", "tcgen05_after_thread_sync", "", 0},
    {"tcgen05_cp_warpx4", "smem_src, tmem_dst, tmem_col_offset=, *, use_2cta=", "tcgen05_cp_warpx4", "rwiF", 0},
    {"tcgen05_sf_warp_transpose", "smem_src", "tcgen05_sf_warp_transpose", "u", 0},
    {"ptx_ldmatrix", "trans, num, src_access_ptr, dst_access_ptr", "ptx_ldmatrix", "FIrw", 0},
    {"ptx_mma", "dtype, shape, " TYPES FRAGMENTS ", saturate=, operator=", "ptx_mma", "TSSSSSSririuiFS", 0},
    {"ptx_mma_sp", "dtype, shape, " TYPES FRAGMENTS ", metadata, meta_index, sparse_selector, saturate", "ptx_mma_sp",
     "TSSSSSSririuiriiF", 0},
    {"ptx_mma_sm70", "shape, " TYPES FRAGMENTS, "ptx_mma_sm70", "SSSSSSririui", 0},
    {"ptx_mma_block_scale",
     "accum_dtype, shape, A_layout, B_layout, kind, scale_vec_size, A_dtype, B_dtype, scale_type, " FRAGMENTS
     ", scale_a, scale_b, scale_a_byte_id=, scale_a_thread_id=, scale_b_byte_id=, scale_b_thread_id=",
     "ptx_mma_block_scale", "TSSSSISSSririuivviiii", 0},
    {"ptx_wgmma_ss", "dtype, wgmma_prefix, a_is_k_major, b_is_k_major, " SHORT "A_desc, A_offset, " WGMMA,
     "ptx_wgmma_ss", "TSFFSSSririuicII", 0},
    {"ptx_wgmma_rs", "dtype, wgmma_prefix, b_is_k_major, " SHORT "A_buf, A_offset, " WGMMA, "ptx_wgmma_rs",
     "TSFSSSririuicII", 0},
    {"ptx_wgmma_sp_ss",
     "dtype, wgmma_prefix, a_is_k_major, b_is_k_major, " SHORT
     "A_desc, A_offset, E_data, E_offset, sparse_selector, " WGMMA,
     "ptx_wgmma_sp_ss", "TSFFSSSririiriuicII", 0},
    {"ptx_wgmma_sp_rs",
     "dtype, wgmma_prefix, b_is_k_major, " SHORT "A_buf, A_offset, E_buf, E_offset, sparse_selector, " WGMMA,
     "ptx_wgmma_sp_rs", "TSFSSSririiriuicII", 0},
    {"ptx_tcgen05_mma_ss",
     "kind_dtype, desc_a, A_offset, " TCGEN05
     ", mask0, mask1, mask2, mask3, enable_ws=, enable_2cta=, ws=, warp_specialized=, variant=",
     "ptx_tcgen05_mma_ss", "TririuiviiiiiFFFFS", 0},
    {"ptx_tcgen05_mma_ts", "kind_dtype, A_ptr, A_offset, " TCGEN05 ", mask0, mask1, mask2, mask3, enable_2cta=",
     "ptx_tcgen05_mma_ts", "TririuiviiiiiF", 0},
    {"ptx_tcgen05_mma_blockscaled_ss",
     "kind_dtype, desc_a, A_offset, " TCGEN05
     ", sfa_ptr, sfa_offset, sfb_ptr, sfb_offset, reserved0=, reserved1=, enable_2cta=",
     "ptx_tcgen05_mma_blockscaled_ss", "TririuiviririIIF", 0},
    {"deallocate_tmem", "tmem", "deallocate_tmem", "b", 0},
    // ---- random numbers
    {"rng_rand", "", "rng_rand", "", 'u'},
};

const Intrinsic& find(const Args& a) {
  return *std::find_if(std::begin(kIntrinsics), std::end(kIntrinsics),
                       [&](const Intrinsic& i) { return std::string_view(i.name) == a.builtin->name; });
}

std::vector<std::string> param_names(std::string_view params) {
  std::vector<std::string> out;
  while (!params.empty()) {
    size_t end = params.find(", ");
    std::string_view item = params.substr(0, end);
    params = end == std::string_view::npos ? std::string_view() : params.substr(end + 2);
    if (item == "*") continue;
    if (item.ends_with('=')) item.remove_suffix(1);
    out.emplace_back(item);
  }
  return out;
}

ir::ValueId predicate(Session& s, const Args& a, const std::string& name) {
  ir::ValueId v = scalar_arg(s, a, name);
  if (is_float(dtype_of(s, v)))
    fail(a.where, std::string("T.") + a.builtin->name + " takes an integer or a truth value, not a float");
  return v;
}

// A scalar parameter as an operand.
ir::ValueId scalar_operand(Session& s, const Args& a, const std::string& name, char kind,
                           const std::vector<ir::ValueId>& before) {
  if (kind == 'm')
    return a.given(name) ? convert(s, scalar_arg(s, a, name), DType::u32)
                         : constant(s, MetaInt(0xFFFFFFFF), DType::u32);
  if (kind == 'i' && !a.given(name)) return constant(s, MetaInt(name == "width" ? 32 : 0));
  if (kind == 'i') return index_arg(s, a, name);
  if (kind == 'p') return predicate(s, a, name);
  if (kind == 'c') return as_condition(s, a.need(name), a.where);
  ir::ValueId v = scalar_arg(s, a, name);
  if (kind == 'f' && !is_float(dtype_of(s, v))) return convert(s, v, DType::f32);
  if (kind == '2' && s.module[v].type.lanes != 2)
    fail(a.where, std::string("T.") + a.builtin->name + " takes a pair: float32x2, float16x2 or bfloat16x2");
  if (kind == '=') {
    if (s.module[before[0]].type.lanes != s.module[v].type.lanes)
      fail(a.where, std::string("the operands of T.") + a.builtin->name + " differ in lanes");
    return convert(s, v, dtype_of(s, before[0]));
  }
  return v;
}

void attribute(Session& s, const Args& a, const std::string& name, char kind, std::vector<ir::Attr>& attrs) {
  if (kind == 'I' && a.given(name))
    attrs.push_back({name == "thread_extent" ? "threads" : name, to_int(s, a.need(name), a.where, name)});
  if (kind == 'T' && a.given(name)) attrs.push_back({name, std::string(info(to_dtype(s, a.need(name), a.where)).name)});
  if (kind == 'S' && a.given(name)) attrs.push_back({name, to_text(a.need(name), a.where, name)});
  if (kind == 'F') {
    bool otherwise = name == "read";
    attrs.push_back({name, MetaInt(flag(s, a, name, otherwise))});
  }
  if (kind == 'R') {
    std::string mode = a.given(name) ? to_text(a.need(name), a.where, name) : "rn";
    if (mode != "rn" && mode != "rz" && mode != "ru" && mode != "rd")
      fail(a.where, "a rounding mode is rn, rz, ru or rd, not '" + mode + "'");
    attrs.push_back({"rounding", mode});
  }
}

Value intrinsic(Session& s, Scope&, Args& a) {
  const Intrinsic& row = find(a);
  std::vector<std::string> names = param_names(row.params);
  if (row.compute && is_static_number(a.need(names[0])))
    return real(row.compute(to_double(a.need(names[0]), a.where, "the argument")));
  Trace& t = traced(s, a);
  std::vector<ir::ValueId> operands;
  std::vector<ir::Attr> attrs;
  for (size_t i = 0; row.kinds[i]; ++i) {
    char kind = row.kinds[i];
    if (std::string_view("IFRTS").find(kind) != std::string_view::npos) {
      attribute(s, a, names[i], kind, attrs);
    } else if (kind == 'B') {
      auto [barrier, index] = to_barrier(s, a.need(names[i]), a.where);
      operands.insert(operands.end(), {barrier, index});
    } else if (kind == 'b') {
      operands.push_back(box_arg(s, a, names[i]).buffer.id);
    } else if (std::string_view("rwu").find(kind) != std::string_view::npos) {
      operands.push_back(region_arg(s, a, names[i]));
    } else {
      operands.push_back(scalar_operand(s, a, names[i], kind, operands));
    }
  }
  if (row.result == 0) {
    ir::OpId op = t.builder.call(row.row, std::move(operands));
    for (ir::Attr& attr : attrs) set(s, op, attr.name, std::move(attr.value));
    return none();
  }
  ir::Type type = operands.empty() ? ir::Type() : ir::Type::scalar(dtype_of(s, operands[0]));
  if (!operands.empty() && row.result == '=') type.lanes = s.module[operands[0]].type.lanes;
  type.dtype = result_type(row.result, type.dtype);
  ir::ValueId result = t.builder.call(row.row, std::move(operands), type);
  for (ir::Attr& attr : attrs) set(s, s.module[result].def, attr.name, std::move(attr.value));
  return scalar(result);
}
}  // namespace

std::span<const Builtin> intrinsic_builtins() {
  static const std::vector<Builtin> rows = [] {
    std::vector<Builtin> out;
    for (const Intrinsic& i : kIntrinsics) out.push_back({"T", i.name, i.params, intrinsic});
    return out;
  }();
  return rows;
}

}  // namespace tc::eval
