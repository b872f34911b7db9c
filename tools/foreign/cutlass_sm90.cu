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
using half = cutlass::half_t;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
#if defined CUTLASS_PINGPONG
using Tile = Shape<_64, _128, _64>;
using MainloopSchedule = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
using EpilogueSchedule = cutlass::epilogue::TmaWarpSpecialized;
using Scheduler = cutlass::gemm::PersistentScheduler;
#else
using Tile = Shape<_128, _128, _64>;
using MainloopSchedule = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
using EpilogueSchedule = cutlass::epilogue::TmaWarpSpecializedCooperative;
#if defined CUTLASS_STREAMK
using Scheduler = cutlass::gemm::StreamKScheduler;
#else
using Scheduler = cutlass::gemm::PersistentScheduler;
#endif
#endif
using Cluster = Shape<_2, _1, _1>;
using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster, cutlass::epilogue::collective::EpilogueTileAuto, float,
    float, half, Row, 8, half, Row, 8, EpilogueSchedule>::CollectiveOp;
using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, half, Row, 8, half, Column, 8, float, Tile, Cluster,
    cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage))>,
    MainloopSchedule>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue, Scheduler>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

static void check(cutlass::Status s) {
  if (s != cutlass::Status::kSuccess) capture::fail(cutlassGetStatusString(s));
}
int main(int argc, char** argv) {
  capture::arguments(argc, argv);
  constexpr int m = GEMM_M, n = GEMM_N, k = GEMM_K;
  auto* a = (half*)capture::tensor("A", "f16", {m, k}, "role=in fill=normal");
  auto* b = (half*)capture::tensor("B", "f16", {n, k}, "role=in fill=normal");
  auto* d = (half*)capture::tensor("D", "f16", {m, n}, "role=out");
  void* workspace = capture::tensor("workspace", "u32", {4 << 20}, "role=inout fill=zero");
  auto sa = cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, make_shape(m, k, 1));
  auto sb = cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, make_shape(n, k, 1));
  auto sd = cutlass::make_cute_packed_stride(typename Kernel::StrideD{}, make_shape(m, n, 1));
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
