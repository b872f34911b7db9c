// A warp: registers of 32 lanes and the paths that its lanes are on.
// A diverged branch splits a path in two; they meet again at the immediate post-dominator of the branch, where a Join
// collects lanes until all that it expects are there. Each path blocks, runs and is scheduled by itself, so lane 0 may
// wait for lanes 1-31. Where nothing else can run, lanes at a join go on without the missing ones (the programming
// model promises no convergence), so a join never makes a deadlock.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "sim/check/register_request.h"
#include "sim/machine/buffer.h"
#include "sim/machine/insn.h"
#include "sim/machine/undefined.h"

namespace tc::sim {

struct Cta;

// Why a path does not run. `again`: execute the instruction again once it holds; otherwise it is done.
struct Wait {
  enum class Kind : uint8_t {
    none,
    mbarrier,       // the phase of the barrier at `address` is no longer `number`
    named_barrier,  // barrier `id` has left generation `number`
    lanes,          // lanes `lanes` of the warp have reached the same instruction
    sync_lanes,     // lanes `lanes` of the warp are at some bar.warp.sync
    cp_async,       // commit groups of each lane but the newest `number` are complete
    bulk,           // bulk groups of lane `id` but the newest `number` are complete; `flag`: reads only
    wgmma,          // wgmma groups of the warpgroup up to `number` are complete
    registers,      // `number` registers are free
    cluster,        // barrier.cluster has left generation `number`
  };
  Kind kind = Kind::none;
  bool again = false;
  bool flag = false;
  uint32_t address = 0, id = 0, lanes = 0;
  uint64_t number = 0;
  uint32_t parity = 0;         // of an mbarrier wait, for the report
  const char* rule = nullptr;  // of a wait for lanes: broken if they never come
};

struct Frame;

// Which calls a path is in (sim/machine/calls.h).
struct CallState {
  uint32_t depth = 0;         // calls that have not returned
  uint32_t function = kNone;  // index into Program::functions; kNone: the kernel itself
  uint32_t local_base = 0;    // of the function's framed local memory
  std::shared_ptr<const Frame> frame;
};

// A call that has not returned.
struct Frame {
  uint32_t call = 0;           // the call instruction
  CallState caller;
  std::vector<uint8_t> saved;  // registers of the function as the call found them, where it can be entered again
  std::array<uint32_t, 32> stack_taken{};  // by alloca
};

struct Path {
  uint32_t pc = 0, mask = 0;
  uint32_t join = kNone;  // index into Warp::joins
  CallState calls;
  Wait wait;
  uint64_t blocked_at = 0;   // time, kept for traces
  bool timed_out = false;    // the next try_wait answers false
  uint32_t poll_pc = kNone;  // where a poll answered false last, and the progress count then
  uint64_t poll_progress = 0;
};

struct Join {
  uint32_t pc = 0;
  uint32_t expected = 0, arrived = 0;  // lanes; 0 expected: free
  uint32_t parent = kNone;
  CallState calls;  // of the paths that meet
};

struct AsyncOp;

// Looks at what others may change, that found nothing new: failed waits, failed updates, strong loads of an address
// looked at before. A loop that never looks is no spin, it computes.
struct Polls {
  uint64_t count = 0;
  uint64_t quiet = 0;                 // instructions since the last one
  std::array<uint64_t, 8> looked{};   // addresses of the last strong accesses, in turns
  uint32_t next = 0;
  void look(uint64_t address) {
    if (std::ranges::find(looked, address) != looked.end()) ++count;
    else looked[next++ % looked.size()] = address;
  }
};

struct Warp {
  Cta* cta = nullptr;
  uint32_t index = 0;  // in the CTA
  uint32_t agent = 0;  // in the cluster: rank * warps of a CTA + index
  uint32_t live = 0;  // lanes that have not left
  uint32_t mask = 0;  // lanes of the instruction being executed
  Path* path = nullptr;
  uint8_t* regs = nullptr;  // in Cta::registers, 64-byte aligned
  Buffer local;
  uint32_t local_bytes = 0;  // of one lane
  Buffer local_written;      // a byte each of `local`, 1: written; empty where nobody asks
  std::unique_ptr<UndefinedRegisters> undefined;  // made with the first
  UndefinedStores undefined_stores;               // in local memory
  std::vector<Path> paths;
  std::vector<Join> joins;
  bool stalled = false;  // adversarial: ran without progress
  Polls polls;
  uint32_t preference = 0;
  uint32_t registers = 0;           // a thread, for setmaxnreg
  std::vector<RegisterRequest> register_requests;
  uint32_t cluster_arrived = 0;  // lanes that have arrived at barrier.cluster in this generation
  std::array<uint64_t, 32> cluster_generation{};  // of barrier.cluster when the lane arrived last
  uint32_t carry = 0;               // the condition code of add.cc, one bit a lane

  std::array<uint32_t, 32> cp_group{};  // the open cp.async group of each lane, from 1
  std::vector<AsyncOp*> cp_queue;       // outstanding cp.async of this warp, oldest first

  template <class T>
  T* reg(uint32_t at) {
    return reinterpret_cast<T*>(regs + at);
  }
  uint32_t& pred(uint32_t at) { return *reg<uint32_t>(at); }
};

}  // namespace tc::sim
