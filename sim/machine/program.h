// A kernel in executable form: one entry and the functions it may call, decoded once, shared by all CTAs.
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

// Of a thread's local memory: for the frames of functions that call themselves, and as much for alloca, behind a header.
inline constexpr uint32_t kStackBytes = 16384, kStackHeader = 16;

// Where an argument or a result lives on one side of a call.
struct Slot {
  bool is_register = false;
  bool framed = false;  // local memory relative to Path::local_base (of a function that can call itself)
  uint32_t at = 0, bytes = 0;
};

// A function has registers and local memory of its own. One that can be entered again before it has returned keeps its
// registers on the frame of the path, and its local memory above that of the caller.
struct CalledFunction {
  std::string name;
  uint32_t pc = kNone;
  std::vector<Slot> params, results;
  struct Register {
    uint32_t at, bits;
  };
  std::vector<Register> registers;
  uint32_t frame_bytes = 0;  // of local memory, where `again`
  bool again = false;
  uint32_t local_first = 0, local_end = 0;  // of its fixed local memory, unless `again`
  std::vector<uint32_t> unwritten;          // as in Program
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
  std::vector<ExecFn> noted_bodies;  // by instruction: the body under one that notes (sim/exec/wgmma_fence.cc)
  std::vector<SpecialUse> specials;
  std::vector<SharedSymbol> shared;    // static, by address; the dynamic one last
  uint32_t shared_end = kSharedStart;  // end of static and dynamic shared memory
  uint32_t local_bytes = 0;   // of a thread: fixed variables, then the stack
  uint32_t local_fixed = 0;
  uint32_t stack_at = kNone;  // what alloca takes of local memory (sim/exec/stack.cc); kNone: there is none
  std::vector<CalledFunction> functions;
  std::vector<Slot> slots;     // of calls: results, then arguments
  std::vector<uint8_t> const_bytes;
  std::vector<ParamSlot> params;
  uint32_t param_bytes = 0;
  uint32_t launch_registers = 0;  // a thread, at launch, for setmaxnreg
  bool known_registers = false;   // ptxas knows their number, so that setmaxnreg has an effect (SETREG-02)
  bool retires_barriers = false;  // mbarrier.inval: where lanes meet is noted
  bool orders_ctas = false;       // global atomics or strong accesses: CTAs are run one after another
  std::vector<Place> places;
  // Registers by declaration; `number` kNone: the name as it is.
  struct RegisterNames {
    std::string name;
    SourceRange where;
  };
  struct DeclaredRegister {
    uint32_t at, names, number;
  };
  std::vector<RegisterNames> register_names;
  std::vector<DeclaredRegister> declared;  // those of up to 64 bits
  std::vector<uint32_t> unwritten;         // registers that the kernel may read before it writes them, if looked for
};

}  // namespace tc::sim
