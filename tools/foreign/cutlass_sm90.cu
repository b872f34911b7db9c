// CUTLASS 3.x warp-specialised GEMMs for sm_90a, captured: D = A B in f16 with TMA and clusters of 2, A row-major, B
// column-major: CUTLASS_COOPERATIVE, CUTLASS_PINGPONG, or CUTLASS_STREAMK (cooperative).
#include "capture.h"
#include "cutlass/cutlass.h"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "cutlass/gemm/kernel/tile_scheduler.hpp"
#include "cutlass/util/packed_stride.hpp"
using namespace cute;
using f16 = cutlass::half_t;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
#if defined CUTLASS_PINGPONG
using TileShape = Shape<_64, _128, _64>;
using MainloopSchedule = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
using EpilogueSchedule = cutlass::epilogue::TmaWarpSpecialized;
using Scheduler = cutlass::gemm::PersistentScheduler;
#else
using TileShape = Shape<_128, _128, _64>;
using MainloopSchedule = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
using EpilogueSchedule = cutlass::epilogue::TmaWarpSpecializedCooperative;
#if defined CUTLASS_STREAMK
using Scheduler = cutlass::gemm::StreamKScheduler;
#else
using Scheduler = cutlass::gemm::PersistentScheduler;
#endif
#endif
using ClusterShape = Shape<_2, _1, _1>;
using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, TileShape, ClusterShape, cutlass::epilogue::collective::EpilogueTileAuto, float,
    float, f16, Row, 8, f16, Row, 8, EpilogueSchedule>::CollectiveOp;
using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, f16, Row, 8, f16, Column, 8, float, TileShape, ClusterShape,
    cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage))>,
    MainloopSchedule>::CollectiveOp;
using GemmKernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue, Scheduler>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<GemmKernel>;

static void check(cutlass::Status s) {
  if (s != cutlass::Status::kSuccess) capture::fail(cutlassGetStatusString(s));
}
int main(int argc, char** argv) {
  capture::arguments(argc, argv);
  constexpr int m = GEMM_M, n = GEMM_N, k = GEMM_K;
  auto* a = (f16*)capture::tensor("A", "f16", {m, k}, "role=in fill=normal");
  auto* b = (f16*)capture::tensor("B", "f16", {n, k}, "role=in fill=normal");
  auto* d = (f16*)capture::tensor("D", "f16", {m, n}, "role=out");
  void* workspace = capture::tensor("workspace", "u32", {4 << 20}, "role=inout fill=zero");
  auto sa = cutlass::make_cute_packed_stride(typename GemmKernel::StrideA{}, make_shape(m, k, 1));
  auto sb = cutlass::make_cute_packed_stride(typename GemmKernel::StrideB{}, make_shape(n, k, 1));
  auto sd = cutlass::make_cute_packed_stride(typename GemmKernel::StrideD{}, make_shape(m, n, 1));
  cutlass::KernelHardwareInfo hardware;
  hardware.device_id = 0;
  hardware.sm_count = 6;  // few, so that CTAs take several tiles
  typename Gemm::Arguments args{cutlass::gemm::GemmUniversalMode::kGemm, {m, n, k, 1}, {a, sa, b, sb}, {{}, nullptr, sd, d, sd}, hardware};
  args.epilogue.thread.alpha = 1.0f;
  args.epilogue.thread.beta = 0.0f;
  Gemm gemm;
  check(gemm.initialize(args, workspace));
  check(gemm.run());
}
