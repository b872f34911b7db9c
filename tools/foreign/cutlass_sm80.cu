// CUTLASS 2.x GEMMs for sm_80, captured: D = A B, A row-major, B column-major, one of
//   CUTLASS_TF32 (as its example 14), CUTLASS_STREAMK (47), CUTLASS_SPARSE (15).
#include "capture.h"
#include "cutlass/cutlass.h"
#include "cutlass/gemm/device/gemm.h"
#include "cutlass/gemm/device/gemm_sparse.h"
#include "cutlass/gemm/device/gemm_universal.h"
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using cutlass::gemm::GemmShape;
template <class C, int N>
using Epilogue = cutlass::epilogue::thread::LinearCombination<C, N, float, float>;

static void* input(const char* name, const char* dtype, uint64_t rows, uint64_t columns) {
  return capture::tensor(name, dtype, {rows, columns}, "role=in fill=normal");
}
static void check(cutlass::Status s) {
  if (s != cutlass::Status::kSuccess) capture::fail(cutlassGetStatusString(s));
}

int main(int argc, char** argv) {
  capture::arguments(argc, argv);
#if defined CUTLASS_TF32
  using Gemm = cutlass::gemm::device::Gemm<float, Row, float, Column, float, Row, float, cutlass::arch::OpClassTensorOp,
                                           cutlass::arch::Sm80, GemmShape<128, 128, 16>, GemmShape<64, 64, 16>,
                                           GemmShape<16, 8, 8>, Epilogue<float, 4>,
                                           cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 4>;
  auto* a = (float*)input("A", "f32", GEMM_M, GEMM_K);
  auto* b = (float*)input("B", "f32", GEMM_N, GEMM_K);
  auto* d = (float*)capture::tensor("D", "f32", {GEMM_M, GEMM_N}, "role=out");
  Gemm gemm;
  Gemm::Arguments args({GEMM_M, GEMM_N, GEMM_K}, {a, GEMM_K}, {b, GEMM_K}, {d, GEMM_N}, {d, GEMM_N}, {1.0f, 0.0f});
  check(gemm.initialize(args));
#elif defined CUTLASS_STREAMK
  using half = cutlass::half_t;
  using Gemm = cutlass::gemm::device::GemmUniversal<half, Row, half, Column, half, Row, float, cutlass::arch::OpClassTensorOp,
                                                    cutlass::arch::Sm80, GemmShape<128, 128, 32>, GemmShape<64, 64, 32>,
                                                    GemmShape<16, 8, 16>, Epilogue<half, 8>,
                                                    cutlass::gemm::threadblock::ThreadblockSwizzleStreamK, 4>;
  auto* a = (half*)input("A", "f16", GEMM_M, GEMM_K);
  auto* b = (half*)input("B", "f16", GEMM_N, GEMM_K);
  auto* d = (half*)capture::tensor("D", "f16", {GEMM_M, GEMM_N}, "role=out");
  void* workspace = capture::tensor("workspace", "u32", {1 << 20}, "role=inout fill=zero");
  // Four SMs for six tiles, so that tiles are cut.
  Gemm::Arguments args(cutlass::gemm::GemmUniversalMode::kGemm, {GEMM_M, GEMM_N, GEMM_K}, 1, {1.0f, 0.0f}, a, b, d, d,
                       GEMM_M * GEMM_K, GEMM_N * GEMM_K, GEMM_M * GEMM_N, GEMM_M * GEMM_N, GEMM_K, GEMM_K, GEMM_N, GEMM_N, 4);
  Gemm gemm;
  check(gemm.initialize(args, workspace));
#else
  using half = cutlass::half_t;
  using Gemm = cutlass::gemm::device::SparseGemm<half, Row, half, Column, float, Row, float, cutlass::arch::OpClassTensorOp,
                                                 cutlass::arch::Sm80, GemmShape<128, 128, 64>, GemmShape<64, 64, 64>,
                                                 GemmShape<16, 8, 32>, Epilogue<float, 4>,
                                                 cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3>;
  using E = Gemm::ElementE;
  auto* a = (half*)input("A", "f16", GEMM_M, GEMM_K / 2);
  auto* b = (half*)input("B", "f16", GEMM_N, GEMM_K);
  auto* d = (float*)capture::tensor("D", "f32", {GEMM_M, GEMM_N}, "role=out");
  constexpr int kColumns = GEMM_K / 2 / Gemm::kElementsPerElementE;
  static_assert(sizeof(E) == 2, "16 bits of metadata");
  auto* e = (E*)capture::tensor("E", "u16", {GEMM_M, kColumns}, "role=in");
  Gemm::Arguments args({GEMM_M, GEMM_N, GEMM_K}, {a, GEMM_K / 2}, {b, GEMM_K}, {d, GEMM_N}, {d, GEMM_N},
                       {e, Gemm::LayoutE::packed({GEMM_M, kColumns})}, {1.0f, 0.0f});
  Gemm gemm;
  check(gemm.initialize(args));
#endif
  check(gemm());
}
