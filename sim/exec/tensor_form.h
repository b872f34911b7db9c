// What decoding and execution of tensor copies share.
//   Insn: a = rank, b = TensorMode with kClusterSpace, c = Flag, d = ReduceOp; lists[imm ...] = addresses of the map, shared memory, the
//   mbarrier (kAddressWords each), the coordinates, the im2col offsets, the multicast mask
#pragma once
#include "sim/exec/bulk.h"
#include "sim/machine/tensor_map.h"

namespace tc::sim {

enum class TensorMode : uint8_t { tile, im2col };
enum TensorFlag : uint8_t { kOwnCta = 1, kMulticast = 2, kTensorReduces = 4 };
inline constexpr uint32_t kMapAt = 0, kSharedAt = kAddressWords, kBarrierAt = 2 * kAddressWords,
                          kCoordinatesAt = 3 * kAddressWords;

Step tensor_load(Warp& w, const Insn& i);
Step tensor_store(Warp& w, const Insn& i);
Step tensor_prefetch(Warp& w, const Insn& i);

// The tensor map at a generic address, as the tensor unit sees it: a map in global memory is cached by the CTA from its
// first use until fence.proxy.tensormap acquires it. Null after a trap.
const TensorMap* map_at(Warp& w, const Insn& i, uint32_t lane, uint64_t address);
std::string map_name(const Cta& c, const TensorMap& m);

}  // namespace tc::sim
