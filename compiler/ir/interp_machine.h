// The state of the tile interpreter. Internal to interp*.cc.
//   Program   what all CTAs share: module, dense numbering of values, global tensors
//   Cta       memory and mbarriers of one CTA, and its groups
//   Group     threads of one CTA that have the same control state; it splits where they differ and never merges
// A value of a group is one number for all its threads, or one a thread.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "compiler/ir/interp.h"
#include "compiler/ir/interp_number.h"

namespace tc::ir::interp {

// Thrown inside the interpreter, caught in interpret().
struct Stop {
  Diag diag;
};
[[noreturn]] void stop(const Op& op, const std::string& message);

struct Memory {
  DType dtype = DType::f32;
  Space space = Space::global;
  std::vector<int64_t> shape, strides;
  Number* data = nullptr;  // global: the program's; else `own`
  std::vector<Number> own;
};

struct Slot {
  Number uniform = 0;
  std::vector<Number> lanes;  // empty: the same in all threads of the group
  bool is_uniform() const { return lanes.empty(); }
  Number at(size_t lane) const { return lanes.empty() ? uniform : lanes[lane]; }
};

struct Program {
  const Module& m;
  std::vector<uint32_t> slot_of;  // by value index; only values of the function
  uint32_t slots = 0;
  std::map<uint32_t, Memory> globals;  // by value index of the parameter
  int64_t max_steps = 0;
};

struct Mbarrier {
  int64_t count = 1, pending = 1, tx = 0, phase = 0;  // phase: completed phases
};

struct Frame {
  BlockId block;
  size_t next = 0;
  OpId op;                  // whose block it is; invalid for the launch
  int64_t i = 0, hi = 0;    // for: the current and the end value
  int64_t lo = 0, top = 0;  // ws: the section's threads
};

enum class Blocked { no, mbarrier, rendezvous, named };
struct Group {
  std::vector<int32_t> threads;
  std::vector<Frame> frames;
  std::vector<Slot> env;
  std::map<uint32_t, std::vector<std::vector<Number>>>
      locals;                                                  // by value index, then thread of the group, then element
  std::map<std::pair<uint32_t, int64_t>, int64_t> next_phase;  // mbarrier → phase that its next wait is for
  Blocked blocked = Blocked::no;
  OpId blocked_on;
  uint32_t barrier = 0;  // value index of the array
  int64_t index = 0, phase = 0;
  bool released = false;  // the operation it waits at was carried out by another group
  bool done = false;
};

struct NamedBarrier {
  int64_t arrived = 0;
};

struct Cta {
  const Program& p;
  int64_t thread_count = 0;
  int64_t steps = 0;
  std::map<uint32_t, Memory> memory;                   // shared, fragment
  std::map<uint32_t, std::vector<Mbarrier>> barriers;  // by value index
  std::map<int64_t, NamedBarrier> named;
  std::vector<Group> groups;
};

// ---- interp_scalar.cc: values
Slot& slot(const Program& p, Group& g, ValueId v);
const Slot& slot(const Program& p, const Group& g, ValueId v);
int64_t uniform_int(const Program& p, const Group& g, const Op& op, ValueId v);
// Executes a scalar op, a load or a store for all threads of the group. False: the op is of another kind.
bool exec_scalar(Cta& cta, Group& g, OpId id);
Memory& memory_of(Cta& cta, ValueId buffer);
void alloc_local(Cta& cta, Group& g, OpId id);

// ---- interp_tile.cc: tile operations, for a group with uniform operands
bool is_collective(OpKind kind);
void exec_tile(Cta& cta, Group& g, OpId id);

// ---- interp_group.cc: control
void run_cta(Cta& cta, BlockId body, const std::vector<Slot>& env,
             const std::vector<std::pair<ValueId, int64_t>>& block_index);
void count_step(Cta& cta, const Op& op);

}  // namespace tc::ir::interp
