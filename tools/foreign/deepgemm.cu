// DeepGEMM's bf16 GEMM for sm_90a, captured: D[M,N] = A[M,K] B[N,K]^T, tiles of 128 x 128 x 64, clusters of 2 sharing B or A.
#include "capture.h"
#include <deep_gemm/impls/sm90_bf16_gemm.cuh>
using namespace deep_gemm;
constexpr uint32_t kStages = 4, kSms = 8, kSmem = 128 * 128 * 2 + kStages * (128 * 64 * 2 * 2) + 2 * kStages * 8;
static void* const instance = (void*)&sm90_bf16_gemm_impl<cute::UMMA::Major::K, cute::UMMA::Major::K, 0, GEMM_N, GEMM_K, 1, 128, 128, 64,
                                                          128, 128, 128, kStages, 128, 256, 2, false, kSms, GemmType::Normal, false,
                                                          cutlass::bfloat16_t>;
static CUtensorMap map(void* p, uint64_t inner, uint64_t outer, uint32_t box_outer) {
  CUtensorMap m;
  cuuint64_t dims[2] = {inner, outer}, strides[1] = {inner * 2};
  cuuint32_t box[2] = {64, box_outer}, steps[2] = {1, 1};
  if (cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, p, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
    capture::fail("tensor map");
  return m;
}
int main(int argc, char** argv) {
  capture::arguments(argc, argv);
  void* a = capture::tensor("A", "bf16", {GEMM_M, GEMM_K}, "role=in");
  void* b = capture::tensor("B", "bf16", {GEMM_N, GEMM_K}, "role=in");
  void* d = capture::tensor("D", "bf16", {GEMM_M, GEMM_N}, "role=out");
  capture::check("gemm M=" + std::to_string(GEMM_M) + " N=" + std::to_string(GEMM_N) + " K=" + std::to_string(GEMM_K));
  capture::launch(argv[1], dim3(kSms), dim3(384), dim3(2), kSmem,
                  {capture::param("layout", (void*)nullptr), capture::param("m", (uint32_t)GEMM_M), capture::param("n", (uint32_t)GEMM_N),
                   capture::param("k", (uint32_t)GEMM_K), capture::param("map_a", map(a, GEMM_K, GEMM_M, 128)),
                   capture::param("map_b", map(b, GEMM_K, GEMM_N, 128)), capture::param("map_d", map(d, GEMM_N, GEMM_M, 128))});
}
