// Every name that `tilelang.language` exports in release 0.1.15 (read off the installed package), its element types, and
// the keys that pass_configs may have. Sorted; a name without a row in builtins.def is "unsupported", one that is not
// here is "no such name".
#include "compiler/eval/language_names.h"

#include <algorithm>
#include <array>

namespace tc::eval {
namespace {
constexpr auto kNames = std::to_array<std::string_view>({
    "Add", "And", "Assert", "BaseTileScheduler", "Broadcast", "Buffer", "BufferLoad", "CUDASourceCodeKernel", "Call",
    "CallEffectKind", "Cast", "ClusterKernel", "CommReducer", "Div", "EQ", "Else", "FloatImm", "FloorDiv", "FloorMod",
    "Fragment", "FragmentBuffer", "GE", "GT", "GemmWarpPolicy", "If", "IntImm", "IterVar", "JITFunc", "Kernel",
    "KernelLaunchFrame", "LE", "LT", "Layout", "Let", "LocalBuffer", "Max", "Min", "Mod", "Mul", "NE", "Not", "Or",
    "Parallel", "PartialFragment", "Persistent", "PersistentTileScheduler", "Pipelined", "PrimFunc", "ProducerLoad",
    "Ptr", "Ramp", "Range", "Reduce", "Ref", "Select", "Serial", "SharedBuffer", "Shuffle", "SizeVar",
    "SparseTensorCoreIntrinEmitter", "StridedTensor", "StringImm", "Sub", "TCGEN05DescriptorParams",
    "TCGEN05TensorCoreIntrinEmitter", "TVMBackendAllocWorkspace", "TVMBackendFreeWorkspace", "Tensor",
    "TensorCoreIntrinEmitter", "TensorCoreIntrinEmitterSM120", "TensorCoreIntrinEmitterWithLadderTransform", "Then",
    "Unroll", "Var", "Vectorized", "WGMMADescriptorParams", "WGMMATensorCoreIntrinEmitter",
    "WGSparseTensorCoreIntrinEmitter", "WSID", "WSInstr", "WSOpRef", "WSPipeline", "WSRole", "WSSchedule", "WSScope",
    "WSSync", "WSSyncKind", "WarpSpecialize", "WarpSpecializeFrame", "While", "__cos", "__exp", "__exp10", "__ffs", "__fns", "__ldg", "__log", "__log10", "__log2", "__sin",
    "__tan", "abs", "abs2", "access_ptr", "acos",
    "acosh", "activemask", "add2", "address_of", "align_up", "all_of", "all_sync", "alloc_barrier", "alloc_buffer",
    "alloc_cluster_barrier", "alloc_descriptor", "alloc_fragment", "alloc_global", "alloc_local", "alloc_reducer",
    "alloc_shared", "alloc_tcgen05_instr_desc", "alloc_tcgen05_instruction_desc", "alloc_tcgen05_smem_desc",
    "alloc_tmem", "alloc_var", "alloc_wgmma_desc", "allocate", "annotate_compile_flags",
    "annotate_consumer_reg_alloc", "annotate_l2_hit_ratio", "annotate_layout", "annotate_min_blocks_per_sm",
    "annotate_pass_configs", "annotate_producer_reg_dealloc", "annotate_restrict_buffers", "annotate_safe_value",
    "annotate_ws_pipeline_depth", "annotate_ws_schedule", "any_of", "any_sync", "anylist_getitem",
    "anylist_resetitem", "anylist_setitem_call_cpacked", "anylist_setitem_call_packed", "arg", "asin", "asinh",
    "assume", "async_copy", "atan", "atan2", "atanh", "atomic_add", "atomic_addx2", "atomic_addx4", "atomic_load",
    "atomic_max", "atomic_min", "atomic_or", "atomic_store", "attr", "axis", "ballot", "ballot_sync",
    "barrier_arrive", "barrier_wait", "bfloat16x16", "bfloat16x32", "bfloat16x4", "bfloat16x64", "bfloat16x8", "bind",
    "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "block_name_suffix_context", "block_rank_in_cluster",
    "boolean", "break_loop", "broadcast", "buffer", "buffer_decl", "buffer_store", "buffer_var", "c2d_im2col",
    "call_cpacked", "call_cpacked_lowered", "call_extern", "call_intrin", "call_kernel", "call_llvm_intrin",
    "call_llvm_pure_intrin", "call_packed", "call_packed_lowered", "call_pure_extern", "cast", "cdiv", "ceil",
    "ceildiv", "clamp", "clc_get_first_ctaid_x", "clc_get_first_ctaid_y", "clc_get_first_ctaid_z", "clc_is_canceled",
    "clc_try_cancel", "clc_try_cancel_multicast", "clear", "cluster_arrive", "cluster_arrive_relaxed", "cluster_sync",
    "cluster_wait", "clz", "comm_reducer", "compute_gmma_descriptor", "compute_umma_descriptor", "const",
    "continue_loop", "copy", "copy_cluster", "copysign", "cos", "cosh", "cp_async_barrier_noinc", "create_barriers",
    "create_tma_descriptor", "cummax", "cumsum", "deallocate_tmem", "dec_max_nreg", "decl_buffer", "device_assert",
    "disable_warp_group_reg_alloc", "dp4a", "dtype", "dynamic", "empty", "end_profile_intrinsic", "env_thread", "erf",
    "evaluate", "exp", "exp10", "exp2", "extract_lane", "fabs", "fast_rcp", "fence_proxy_async", "fill",
    "finalize_reducer", "floor", "floordiv", "floormod", "fma", "fma2", "fmod", "fmul", "func_attr", "func_name",
    "func_ret", "gemm", "gemm_blockscaled", "gemm_sp", "get_active_lane_mask", "get_block_binding",
    "get_block_bindings", "get_block_extent", "get_block_extents", "get_cluster_dims", "get_cluster_extent",
    "get_cluster_extents", "get_cluster_id", "get_cluster_ids", "get_cluster_size", "get_lane_idx",
    "get_ldmatrix_offset", "get_let_value", "get_mma_micro_size", "get_swizzle_layout", "get_thread_binding",
    "get_thread_bindings", "get_thread_extent", "get_thread_extents", "get_tvm_dtype", "get_warp_group_idx",
    "get_warp_idx", "get_warp_idx_sync", "grid", "handle", "handle_add_byte_offset", "has_let_value", "hypot",
    "ieee_add", "ieee_fdiv", "ieee_fmaf", "ieee_frcp", "ieee_frsqrt", "ieee_fsqrt", "ieee_mul", "ieee_sub",
    "if_then_else", "ignore_loop_partition", "im2col", "import_source", "inc_max_nreg", "increase_descriptor_offset",
    "index_map", "index_to_coordinates", "infinity", "init", "initialize_tcgen05_descriptor",
    "initialize_wgmma_descriptor", "inline", "is_f8f6f4_family", "is_float4", "is_float4_e2m1_unpacked",
    "is_float4_e2m1fn", "isfinite", "isinf", "isnan", "isnullptr", "iter_var", "launch_thread", "ldexp", "ldg128",
    "ldg256", "ldg32", "ldg64", "lds128", "lds32", "lds64", "let", "likely", "log", "log10", "log1p", "log2",
    "lookup_param", "loop_break", "macro", "make_blockscaled_gemm_layout", "make_mma_swizzle_layout", "make_tensor",
    "make_tensor_from_addr", "match_all_sync", "match_any_sync", "match_buffer", "max", "max2", "max_value",
    "mbarrier_arrive", "mbarrier_arrive_expect_tx", "mbarrier_expect_tx", "mbarrier_wait_parity", "meta_class",
    "meta_var", "min", "min2", "min_value", "mma_fill", "mma_gemm_blockscaled", "mma_store", "mma_store_index_map",
    "mul2", "named_barrier_arrive", "nearbyint", "nextafter", "no_set_max_nreg", "parallel", "pdl_sync",
    "pdl_trigger", "popcount", "pow", "prim_func", "print", "ptr", "ptx_arrive_barrier",
    "ptx_arrive_barrier_expect_tx", "ptx_arrive_cluster_barrier", "ptx_commit_group", "ptx_cp_async",
    "ptx_cp_async_barrier", "ptx_cp_async_bulk", "ptx_fence_barrier_init", "ptx_init_barrier_thread_count",
    "ptx_ldmatrix", "ptx_mma", "ptx_mma_block_scale", "ptx_mma_sm70", "ptx_mma_sp", "ptx_tcgen05_mma_blockscaled_ss",
    "ptx_tcgen05_mma_ss", "ptx_tcgen05_mma_ts", "ptx_wait_barrier", "ptx_wait_group", "ptx_wgmma_rs",
    "ptx_wgmma_sp_rs", "ptx_wgmma_sp_ss", "ptx_wgmma_ss", "q_multiply_shift", "q_multiply_shift_per_axis", "ramp",
    "reads", "reduce", "reduce_absmax", "reduce_abssum", "reduce_bitand", "reduce_bitor", "reduce_bitxor",
    "reduce_max", "reduce_min", "reduce_sum", "reducer_init", "reducer_update", "reinterpret", "reshape", "ret",
    "rng_init", "rng_rand", "rng_rand_float", "round", "rsqrt", "sblock", "sblock_alloc_buffer", "sblock_attr",
    "serial", "set_max_nreg", "shfl_down", "shfl_sync", "shfl_up", "shfl_xor", "shift_left", "shift_right",
    "shuffle_elect", "sigmoid", "sin", "sinh", "sqrt", "start_profile_intrinsic", "stg128", "stg256", "stg32",
    "stg64", "sts128", "sts32", "sts64", "sub2", "symbolic", "sync_grid", "sync_threads", "sync_warp",
    "syncthreads_and", "syncthreads_count", "syncthreads_or", "tan", "tanh", "target", "tcgen05_after_thread_sync",
    "tcgen05_before_thread_sync", "tcgen05_cp_warpx4", "tcgen05_gemm", "tcgen05_gemm_blockscaled", "tcgen05_gemm_sp",
    "tcgen05_mma", "tcgen05_mma_arrive", "tcgen05_mma_blockscaled", "tcgen05_sf_warp_transpose", "thread_binding",
    "thread_return", "tma_copy", "tma_gather4", "tma_gather4_bytes", "tma_load", "tma_load_2sm", "tma_scatter4",
    "tma_store_arrive", "tma_store_wait", "transpose", "trunc", "truncdiv", "truncmod", "tvm_access_ptr",
    "tvm_bmma_sync", "tvm_call_cpacked", "tvm_call_cpacked_lowered", "tvm_call_packed", "tvm_call_packed_lowered",
    "tvm_fill_fragment", "tvm_load_matrix_sync", "tvm_mma_sync", "tvm_stack_alloca", "tvm_stack_make_array",
    "tvm_stack_make_shape", "tvm_storage_sync", "tvm_store_matrix_sync", "tvm_struct_get", "tvm_struct_set",
    "tvm_thread_allreduce", "tvm_thread_invariant", "tvm_throw_last_error", "tvm_tuple", "tvm_warp_activemask",
    "tvm_warp_shuffle", "tvm_warp_shuffle_down", "tvm_warp_shuffle_up", "type_annotation", "undef", "unroll",
    "use_swizzle", "validate_gemm_ab_dtypes", "var", "vectorcombine", "vectorhigh", "vectorized", "vectorlow", "view",
    "void", "vscale", "wait_wgmma", "warp_reduce_bitand", "warp_reduce_bitor", "warp_reduce_max", "warp_reduce_min",
    "warp_reduce_sum", "warpgroup_arrive", "warpgroup_commit_batch", "warpgroup_fence_operand", "warpgroup_wait",
    "wgmma_gemm", "wgmma_gemm_sp", "wgmma_mma", "where", "writes", "ws", "ws_op",
});
constexpr auto kDTypeNames = std::to_array<std::string_view>({
    "bfloat16", "bfloat16x2", "bool", "double", "float", "float16", "float16x16", "float16x2", "float16x32",
    "float16x4", "float16x64", "float16x8", "float32", "float32x16", "float32x2", "float32x32", "float32x4",
    "float32x64", "float32x8", "float4_e2m1_unpacked", "float4_e2m1fn", "float4_e2m1fnx16", "float4_e2m1fnx2",
    "float4_e2m1fnx32", "float4_e2m1fnx4", "float4_e2m1fnx64", "float4_e2m1fnx8", "float64", "float64x16",
    "float64x2", "float64x32", "float64x4", "float64x64", "float64x8", "float6_e2m3fn", "float6_e2m3fnx16",
    "float6_e2m3fnx2", "float6_e2m3fnx32", "float6_e2m3fnx4", "float6_e2m3fnx64", "float6_e2m3fnx8", "float6_e3m2fn",
    "float6_e3m2fnx16", "float6_e3m2fnx2", "float6_e3m2fnx32", "float6_e3m2fnx4", "float6_e3m2fnx64",
    "float6_e3m2fnx8", "float8_e3m4", "float8_e3m4x16", "float8_e3m4x2", "float8_e3m4x32", "float8_e3m4x4",
    "float8_e3m4x64", "float8_e3m4x8", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3b11fnuzx16",
    "float8_e4m3b11fnuzx2", "float8_e4m3b11fnuzx32", "float8_e4m3b11fnuzx4", "float8_e4m3b11fnuzx64",
    "float8_e4m3b11fnuzx8", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3fnuzx16", "float8_e4m3fnuzx2",
    "float8_e4m3fnuzx32", "float8_e4m3fnuzx4", "float8_e4m3fnuzx64", "float8_e4m3fnuzx8", "float8_e4m3fnx16",
    "float8_e4m3fnx2", "float8_e4m3fnx32", "float8_e4m3fnx4", "float8_e4m3fnx64", "float8_e4m3fnx8", "float8_e4m3x16",
    "float8_e4m3x2", "float8_e4m3x32", "float8_e4m3x4", "float8_e4m3x64", "float8_e4m3x8", "float8_e5m2",
    "float8_e5m2fnuz", "float8_e5m2fnuzx16", "float8_e5m2fnuzx2", "float8_e5m2fnuzx32", "float8_e5m2fnuzx4",
    "float8_e5m2fnuzx64", "float8_e5m2fnuzx8", "float8_e5m2x16", "float8_e5m2x2", "float8_e5m2x32", "float8_e5m2x4",
    "float8_e5m2x64", "float8_e5m2x8", "float8_e8m0fnu", "float8_e8m0fnux16", "float8_e8m0fnux2", "float8_e8m0fnux32",
    "float8_e8m0fnux4", "float8_e8m0fnux64", "float8_e8m0fnux8", "half", "int", "int16", "int16x16", "int16x2",
    "int16x32", "int16x4", "int16x64", "int16x8", "int32", "int32x16", "int32x2", "int32x32", "int32x4", "int32x64",
    "int32x8", "int4", "int64", "int64x16", "int64x2", "int64x32", "int64x4", "int64x64", "int64x8", "int8",
    "int8x16", "int8x2", "int8x32", "int8x4", "int8x64", "int8x8", "long", "short", "tfloat32", "tfloat32x16",
    "tfloat32x2", "tfloat32x32", "tfloat32x4", "tfloat32x64", "tfloat32x8", "uint", "uint16", "uint16x16", "uint16x2",
    "uint16x32", "uint16x4", "uint16x64", "uint16x8", "uint32", "uint32x16", "uint32x2", "uint32x32", "uint32x4",
    "uint32x64", "uint32x8", "uint64", "uint64x16", "uint64x2", "uint64x32", "uint64x4", "uint64x64", "uint64x8",
    "uint8", "uint8x16", "uint8x2", "uint8x32", "uint8x4", "uint8x64", "uint8x8",
});
constexpr auto kPassConfigs = std::to_array<std::string_view>({
    "apply_constraints_to_boolean_branches", "convert_boolean_to_and_of_ors", "cuda.kernels_output_dir",
    "enable_simplify_let_inline", "propagate_knowns_to_prove_conditional", "propagate_knowns_to_simplify_expressions",
    "tir.enable_equiv_terms_in_cse_tir", "tirx.Simplify", "tirx.add_lower_pass", "tirx.disable_cse_tir",
    "tirx.disable_storage_rewrite", "tirx.disable_vectorize", "tirx.enable_debug", "tirx.merge_static_smem",
    "tirx.noalias", "tirx.use_async_copy", "tl.Simplify", "tl.ast_print_enable", "tl.config_index_bitwidth",
    "tl.debug_merge_shared_memory_allocations", "tl.device_compile_flags", "tl.disable_buffer_init_check",
    "tl.disable_data_race_check", "tl.disable_loop_unswitching", "tl.disable_out_of_bound_warning",
    "tl.disable_prelower_semantic_check", "tl.disable_safe_memory_legalize", "tl.disable_shared_memory_reuse",
    "tl.disable_shuffle_elect", "tl.disable_thread_storage_sync", "tl.disable_tma_lower", "tl.disable_vectorize_256",
    "tl.disable_warp_specialized", "tl.disable_wgmma", "tl.dump_ir_path", "tl.emit_line_directives",
    "tl.enable_aggressive_shared_memory_merge", "tl.enable_async_copy", "tl.enable_auto_schedule",
    "tl.enable_auto_warp_specialization", "tl.enable_dump_ir", "tl.enable_fast_math", "tl.enable_fp32x2_reduction",
    "tl.enable_lower_ldgstg", "tl.enable_lower_ldgstg_predicated", "tl.enable_reducer_plan_verbose",
    "tl.enable_vectorize_planner_verbose", "tl.force_let_inline", "tl.if_stmt_binding_inline_replayable_binds",
    "tl.layout_cost_model", "tl.layout_visualization_enable", "tl.layout_visualization_formats",
    "tl.loop_unswitching_allow_non_trivial_else", "tl.pass_profile", "tl.pass_profile_threshold_ms",
    "tl.ptxas_register_usage_level", "tl.reducer_force_baseline", "tl.storage_rewrite_detect_inplace",
    "transitively_prove_inequalities",
});
// Of other versions of the library; the release does without them, and so does the compiler.
constexpr auto kOlderPassConfigs = std::to_array<std::string_view>({
    "tl.disable_fast_math", "tl.enable_ptxas_verbose_output",
});
constexpr OtherName kOtherNames[] = {
    {"gemm_v1", "gemm"},
    {"gemm_v2", "gemm"},
    {"sync_global", "sync_grid"},  // version 0.1.13
};
static_assert(std::ranges::is_sorted(kNames));
static_assert(std::ranges::is_sorted(kDTypeNames));
static_assert(std::ranges::is_sorted(kPassConfigs));

template <size_t N>
bool contains(const std::array<std::string_view, N>& sorted, std::string_view name) {
  return std::ranges::binary_search(sorted, name);
}
}  // namespace

std::span<const OtherName> other_names() { return kOtherNames; }
const OtherName* other_name(std::string_view name) {
  for (const OtherName& other : kOtherNames)
    if (other.name == name) return &other;
  return nullptr;
}
bool is_language_name(std::string_view name) { return contains(kNames, name) || contains(kDTypeNames, name); }
std::vector<std::string> language_names() {
  std::vector<std::string> out(kNames.begin(), kNames.end());
  out.insert(out.end(), kDTypeNames.begin(), kDTypeNames.end());
  return out;
}
bool is_language_dtype(std::string_view name) { return contains(kDTypeNames, name); }
std::vector<std::string> pass_configs() { return {kPassConfigs.begin(), kPassConfigs.end()}; }
bool is_pass_config(std::string_view key) { return contains(kPassConfigs, key) || contains(kOlderPassConfigs, key); }

std::string pass_config_of_member(std::string_view member) {
  auto folded = [](std::string_view s) {
    std::string out;
    for (char c : s) out += c == '.' ? '_' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return out;
  };
  // TL_SIMPLIFY_TRANSITIVELY_PROVE_INEQUALITIES: the keys of TVM's simplifier stand without a prefix.
  std::string wanted = folded(member);
  if (wanted == "tl_simplify_enable_let_inline") return "enable_simplify_let_inline";
  std::string_view bare = wanted;
  if (bare.starts_with("tl_simplify_")) bare.remove_prefix(12);
  for (std::string_view key : kPassConfigs)
    if (std::string name = folded(key); name == wanted || name == bare) return std::string(key);
  for (std::string_view key : kOlderPassConfigs)
    if (folded(key) == wanted) return std::string(key);
  return {};
}

}  // namespace tc::eval
