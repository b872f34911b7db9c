// A kernel in executable form: one entry with all calls inlined, decoded once, shared by all CTAs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/source.h"
#include "sim/machine/insn.h"
#include "sim/machine/memory.h"

namespace tc::sim {

enum class Special : uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  cluster_ctarank,
  cluster_nctarank,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  is_explicit_cluster,
  dynamic_smem_size,
  total_smem_size,
};

struct Place {
  std::vector<SourceRange> where;  // outermost call site first
  SourceRange ptx;
  std::string text;  // the instruction as PTX
};

struct SharedSymbol {
  std::string name;
  uint32_t address = 0, bytes = 0;
};

struct Program {
  struct Constant {
    uint32_t at;
    uint32_t bits;  // 32, 64, or 1 for a predicate
    uint64_t value;
    bool is_shared = false;  // a shared address: each CTA adds its rank
  };
  struct SpecialUse {
    uint32_t at;
    Special special;
    bool wide;
  };
  struct ParamSlot {
    std::string name;
    uint32_t offset, bytes;
  };
  std::string name;
  std::vector<Insn> code;
  std::vector<uint32_t> lists;
  uint32_t register_bytes = 0;
  std::vector<Constant> constants;
  std::vector<uint8_t> initial_registers;  // of a warp: zeros and the constants
  bool uses_wgmma = false;
  std::vector<SpecialUse> specials;
  std::vector<SharedSymbol> shared;    // static, by address; the dynamic one last
  uint32_t shared_end = kSharedStart;  // end of static and dynamic shared memory
  uint32_t local_bytes = 0;
  std::vector<uint8_t> const_bytes;
  std::vector<ParamSlot> params;
  uint32_t param_bytes = 0;
  uint32_t launch_registers = 0;  // a thread, at launch, for setmaxnreg
  bool orders_ctas = false;       // global atomics or strong accesses: CTAs are run one after another
  std::vector<Place> places;
};

}  // namespace tc::sim
