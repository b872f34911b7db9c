// Limits of the architectures, one row each. Sources: rules.md "LAUNCH limits", LAUNCH-01…06, feature gates of
// section 1. Witness: the sm_90a row was measured on an H200 (device attributes; 232449 bytes refused); other rows are
// documentation.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tc {

struct ArchInfo {
  std::string_view name;        // as given to --arch
  uint32_t sm;                  // 90
  uint32_t max_smem_bytes;      // dynamic shared memory of a CTA, opted in
  uint32_t default_smem_bytes;  // without the opt-in
  uint32_t registers;           // of an SM and of a CTA
  bool has_cp_async, has_tma, has_wgmma;
  bool supported;     // by this compiler, today
  uint32_t sm_count;  // of a usual device: T4, A100, L40S, H200, B200, RTX 5090 (their data sheets)
};
inline constexpr std::array kArchs = {
    ArchInfo{"sm_75", 75, 65536, 49152, 65536, false, false, false, false, 40},
    ArchInfo{"sm_80", 80, 166912, 49152, 65536, true, false, false, false, 108},
    ArchInfo{"sm_89", 89, 101376, 49152, 65536, true, false, false, false, 142},
    ArchInfo{"sm_90a", 90, 232448, 49152, 65536, true, true, true, true, 132},
    ArchInfo{"sm_100a", 100, 232448, 49152, 65536, true, true, false, false, 148},
    ArchInfo{"sm_120a", 120, 101376, 49152, 65536, true, true, false, false, 170},
};
// Shared memory of an SM: from sm_80 on the system keeps 1 KiB for every CTA, which a CTA cannot use.
// Source: CUDA C++ programming guide, 20.7.3 (A100: 164 KiB an SM, 163 KiB a CTA); the figures were not measured here.
constexpr uint32_t smem_bytes_of_sm(const ArchInfo& a) { return a.max_smem_bytes + (a.sm >= 80 ? 1024 : 0); }

constexpr std::optional<ArchInfo> find_arch(std::string_view name) {
  for (const ArchInfo& a : kArchs)
    if (a.name == name) return a;
  return std::nullopt;
}

inline constexpr uint32_t kWarpLanes = 32, kWarpgroupThreads = 128, kMaxThreads = 1024,
                          kMaxBlockZ = 64;                                 // LAUNCH-03, WGMMA-07
inline constexpr uint32_t kSmCount = 132;                                  // H200 (device attribute)
inline constexpr uint32_t kMaxSmThreads = 2048, kMaxSmSmemBytes = 233472;  // sm_90, H200
inline constexpr uint64_t kDeviceHeapBytes = 8 << 20,
                          kDeviceHeapAlign = 16;  // CUDA C++ programming guide, "dynamic global memory"
inline constexpr uint32_t kMaxClusterCtas = 16;   // CLUST-01
inline constexpr uint64_t kMaxGridX = 2147483647, kMaxGridYZ = 65535;  // LAUNCH-04

}  // namespace tc
