// The state of the tile interpreter. Internal to interp*.cc.
//   Program   what all CTAs share: module, dense numbering of values, global memory, which blocks can block
//   Cta       memory and mbarriers of one CTA, and its groups
//   Group     lanes that have the same control state: threads of a CTA, or iterations of a parallel loop
// Control. A block that nothing can block in is run straight through for all lanes at once, under a mask where they
// differ. Where threads may wait (barriers, tile operations), a group has explicit frames and splits where its threads
// go different ways.
#pragma once
#include <map>
#include <memory>
#include <mutex>
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
[[noreturn]] void stop_unsupported(const Op& op, const std::string& message);

// A buffer: where its elements lie. Row-major but for views.
struct Memory {
  DType dtype = DType::f32;
  Space space = Space::global;
  std::vector<int64_t> shape, strides;
  uint8_t* data = nullptr;
  int64_t bytes = 0;
  std::shared_ptr<std::vector<uint8_t>> own;  // null: somebody else's
  int64_t elements() const;
};
Memory make_memory(const Type& type, const std::vector<int64_t>& shape, bool allocate);

struct Slot {
  Number uniform;
  std::vector<Number> lanes;  // empty: the same in all lanes of the group
  bool is_uniform() const { return lanes.empty(); }
  Number at(size_t lane) const { return lanes.empty() ? uniform : lanes[lane]; }
};

// A thread's own arrays, one after the other by lane.
struct Local {
  Memory shape;  // without data
  std::vector<uint8_t> cells;
  uint8_t* of(size_t lane) { return cells.data() + lane * static_cast<size_t>(shape.bytes); }
};

struct Decoded {  // of an op, once
  Binary two = nullptr;
  Unary one = nullptr;
  const Pure* pure = nullptr;
  DType operand = DType::i32, result = DType::i32;
};

struct Program {
  const Module& m;
  std::vector<uint32_t> slot_of;  // by value index; only values of the function
  uint32_t slots = 0;
  std::vector<Decoded> decoded;         // by op index
  std::vector<bool> blocking, escapes;  // by block index
  std::map<uint32_t, Memory> globals;   // by slot
  std::vector<Memory*> registered;      // global buffers, for addresses
  int64_t max_steps = 0;
  uint32_t random_slot = 0;  // where groups keep the state of threads' random numbers
  std::mutex atomics;
  std::mutex printing;
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

enum class Blocked { no, mbarrier, rendezvous, named, warp };  // warp: for the other lanes of an exchange
struct Group {
  std::vector<int32_t> threads;  // of a CTA; one representative in a group of iterations
  size_t lanes = 0;
  bool iterations = false;
  std::vector<Frame> frames;
  std::vector<Slot> env;
  std::map<uint32_t, Local> locals;                            // by slot
  std::map<std::pair<uint32_t, int64_t>, int64_t> next_phase;  // mbarrier → phase that its next wait is for
  Blocked blocked = Blocked::no;
  OpId blocked_on;
  uint32_t barrier = 0;  // slot of the array
  int64_t index = 0, phase = 0;
  bool released = false;  // the operation it waits at was carried out by another group
  bool alone = false;     // nobody else comes to the exchange it waits at
  bool done = false;
};
using Mask = std::vector<uint8_t>;

struct NamedBarrier {
  int64_t arrived = 0;
};

struct Cta {
  Program& p;
  int64_t thread_count = 0;
  int64_t steps = 0;
  std::map<uint32_t, Memory> memory;                   // shared, fragment, tensor memory, views: by slot
  std::map<uint32_t, std::vector<Mbarrier>> barriers;  // by slot
  std::map<int64_t, NamedBarrier> named;
  std::vector<Group> groups;
  std::vector<Cta*> cluster;  // by rank, itself among them
  int64_t rank = 0;
  std::string name;  // "CTA 0 1"
};

// ---- interp_scalar.cc: values and elements
Slot& slot(const Program& p, Group& g, ValueId v);
const Slot& slot(const Program& p, const Group& g, ValueId v);
int64_t lane_int(const Program& p, const Group& g, ValueId v, size_t lane);
int64_t uniform_int(const Program& p, const Group& g, const Op& op, ValueId v);
void set_lanes(Slot& s, std::vector<Number> lanes);
Memory& memory_of(Cta& cta, ValueId buffer);
// The buffer as the lane sees it: its own array, or the CTA's.
Memory memory_for(Cta& cta, Group& g, ValueId buffer, size_t lane);
void add_atomically(Program& p, const std::string& op, const Memory& mem, int64_t offset, Number v, Number* before);
// Executes an op that is no control flow, no tile operation and cannot block, for the lanes of the mask (null: all).
// False: the op is of another kind.
bool exec_scalar(Cta& cta, Group& g, OpId id, const Mask* mask);

// ---- interp_intrinsic.cc: calls that are no functions of one thread's operands
bool exec_intrinsic(Cta& cta, Group& g, const Op& op, const Mask* mask);  // false: not one of them
bool is_exchange(const Op& op);                                           // lanes of a warp read each other's values
bool is_rendezvous(const Op& op);                                         // all threads of the CTA or cluster meet
void finish_rendezvous(Cta& cta, const std::vector<Group*>& here, const Op& op);

// ---- interp_matrix.cc: ldmatrix and mma, of whole warps
bool is_matrix_instruction(std::string_view name);
void exec_matrix(Cta& cta, Group& g, const Op& op, const Mask* mask);

// ---- interp_lanes.cc: blocks without blocking ops, under masks
void exec_inline(Cta& cta, Group& g, BlockId block, Mask& mask);
bool exec_plain_op(Cta& cta, Group& g, OpId id, Mask& mask);

// ---- interp_tile.cc: tile operations
bool is_tile_op(OpKind kind);
// All threads of the section take part, unless an operand is a thread's own array.
bool is_collective(const Module& m, const Op& op);
void exec_tile(Cta& cta, Group& g, OpId id, size_t lane);
void exec_parallel(Cta& cta, Group& g, const Op& op, size_t lane);

// ---- interp_group.cc: control and barriers
void run_ctas(std::vector<std::unique_ptr<Cta>>& ctas, BlockId body, const std::vector<Slot>& env,
              const std::vector<std::vector<std::pair<ValueId, int64_t>>>& block_index);
void arrive(Cta& cta, Group& g, const Op& op, size_t lane);
Mbarrier& mbarrier_at(Cta& cta, const Op& op, ValueId array, int64_t index);
void settle(Mbarrier& b);
void count_step(Cta& cta, const Op& op);

}  // namespace tc::ir::interp
