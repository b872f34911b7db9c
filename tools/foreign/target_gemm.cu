// One variant of target-kernels' GEMM, captured: -DVARIANT="Config<...>" -DGEMM_M=.. -DGEMM_N=.. -DGEMM_K=.. -DIN=f16 -DOUT=f16.
#include "capture.h"
#include "gemm_sm90.cuh"
using namespace target;
typedef __half h;
typedef __nv_bfloat16 b;
typedef e4m3_t q;
using C = VARIANT;
const void* const instance = (const void*)&gemm_sm90<C>;
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
static CUtensorMap make_map(const void* p, int bytes, int rows, int cols, int box_rows, int box_cols) {
  CUtensorMap m;
  const CUtensorMapDataType type = bytes == 1 ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : std::string(TEXT(IN)) == "bf16" ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                                     : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  cuuint64_t dims[2] = {(cuuint64_t)cols, (cuuint64_t)rows}, strides[1] = {(cuuint64_t)cols * bytes};
  cuuint32_t box[2] = {(cuuint32_t)box_cols, (cuuint32_t)box_rows}, steps[2] = {1, 1};
  if (cuTensorMapEncodeTiled(&m, type, 2, const_cast<void*>(p), dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
    capture::fail("tensor map");
  return m;
}
int main(int argc, char** argv) {
  using capture::tensor;
  void* a = tensor("A", TEXT(IN), {GEMM_M, GEMM_K}, "role=in");
  void* bt = C::kTransB ? tensor("B", TEXT(IN), {GEMM_K, GEMM_N}, "role=in") : tensor("B", TEXT(IN), {GEMM_N, GEMM_K}, "role=in");
  void* c = tensor("C", TEXT(OUT), {GEMM_M, GEMM_N}, "role=out");
  void* partial = tensor("partial", "f32", {4 << 20}, "role=inout fill=zero");
  void* flag = tensor("flag", "u32", {1024}, "role=inout fill=zero");
  capture::check("gemm M=" + std::to_string(GEMM_M) + " N=" + std::to_string(GEMM_N) + " K=" + std::to_string(GEMM_K) + (C::kTransB ? " B=kn" : ""));
  const CUtensorMap ma = make_map(a, sizeof(C::In), GEMM_M, GEMM_K, C::kBM / C::kCN, C::kBK);
  const CUtensorMap mb = C::kTransB ? make_map(bt, 2, GEMM_K, GEMM_N, 64, 64) : make_map(bt, sizeof(C::In), GEMM_N, GEMM_K, C::kBN / C::kCM, C::kBK);
  const CUtensorMap mc = make_map(c, 2, GEMM_M, GEMM_N, 64, 64);
  Args g = {};
  g.c = c, g.m = GEMM_M, g.n = GEMM_N, g.k = GEMM_K;
  g.tiles_m = (GEMM_M + C::kBM * C::kCM - 1) / (C::kBM * C::kCM);
  g.tiles_n = (GEMM_N + C::kBN * C::kCN - 1) / (C::kBN * C::kCN);
  g.group = 8, g.store_policy = tl90::kEvictNormal;
  g.partial = (float*)partial, g.flag = (unsigned*)flag;
  const int tiles = g.tiles_m * g.tiles_n, most = CLUSTERS, n = tiles > most ? most : tiles;
  if (C::kSplit && n == most && tiles > most) g.split_tiles = tiles % n;
  capture::launch(argc > 1 ? argv[1] : "gemm", dim3(n * C::kCluster), dim3(C::kThreads), dim3(C::kCluster), C::kSmem,
                  {capture::param("a", ma), capture::param("b", mb), capture::param("c", mc), capture::param("args", g)});
}
