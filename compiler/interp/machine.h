// The state of the tile interpreter. Internal to the files of this folder.
//   Program   what all CTAs share: module, dense numbering of values, global memory, which blocks can block
//   Cta       memory and mbarriers of one CTA, and its groups
//   Group     lanes that have the same control state: threads of a CTA, or iterations of a parallel loop
// Control. A block that nothing can block in is run straight through for all lanes at once, under a mask where they
// differ. Where threads may wait (barriers, tile operations), a group has explicit frames and splits where its threads
// go different ways.
#pragma once
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/interp/interp.h"
#include "compiler/interp/number.h"

namespace tc::ir::interp {

// Thrown inside the interpreter, caught in interpret().
struct Stop {
  Diag diag;
};
[[noreturn]] void stop(const Op& op, const std::string& message);
[[noreturn]] void stop_unsupported(const Op& op, const std::string& message);
[[noreturn]] void refuse(const Op& op);  // an op that is not executed, by its name

// A buffer: where its elements lie. Row-major but for views. A view shares what it views and begins `offset` bytes
// further; the offset is what the buffer's value holds in a group (Group::env), and for a pointer it is the address.
enum class Base : uint8_t { memory, local, address };
struct Memory {
  DType dtype = DType::f32;
  uint32_t width = 1;  // numbers an element: those of a vector
  Space space = Space::global;
  Base base = Base::memory;
  bool is_view = false;
  std::vector<int64_t> shape, strides;
  uint8_t* data = nullptr;
  int64_t bytes = 0;
  uint32_t root = 0;  // slot of the buffer whose memory this is, and its size
  int64_t root_bytes = 0;
  std::shared_ptr<std::vector<uint8_t>> own;  // null: somebody else's
  int64_t elements() const;
};
Memory make_memory(const Type& type, const std::vector<int64_t>& shape, bool allocate);
// Fails where the buffer that `op` allocates, once for each of `lanes` threads, is larger than kMaxBufferBytes.
inline constexpr int64_t kMaxBufferBytes = int64_t{1} << 32;
void check_size(const Op& op, const Type& type, const std::vector<int64_t>& shape, size_t lanes);

// A value in all lanes of a group; of a vector, `width` numbers a lane.
struct Slot {
  Number uniform;
  std::vector<Number> lanes;  // empty: the same in all lanes of the group; of a vector: `width` numbers
  uint32_t width = 1;
  bool is_uniform() const { return width == 1 ? lanes.empty() : lanes.size() == width; }
  Number at(size_t lane) const { return lanes.empty() ? uniform : lanes[lane]; }
  Number at(size_t lane, uint32_t k) const {
    return width == 1 ? at(lane) : lanes[(lanes.size() == width ? 0 : lane * width) + k];
  }
};

// A thread's own arrays, one after the other by lane.
struct Local {
  Memory shape;  // without data
  std::vector<uint8_t> cells;
  uint8_t* of(size_t lane) { return cells.data() + lane * static_cast<size_t>(shape.bytes); }
};

// Global memory with an address.
struct Region {
  uint64_t address = 0;
  uint8_t* data = nullptr;
  int64_t bytes = 0;
};

struct Decoded {  // of an op, once
  Binary two = nullptr;
  Unary one = nullptr;
  const Pure* pure = nullptr;
  DType operand = DType::i32, result = DType::i32;
  bool vectors = false;  // among its values
  OpId update;           // of a store of `old op x` to where `old` was loaded: that op; and which operand is x
  size_t added = 0;
};

struct Program {
  const Module& m;
  const Func& f;
  std::vector<uint32_t> slot_of;  // by value index; only values of the function
  uint32_t slots = 0;
  std::vector<Decoded> decoded;              // by op index
  std::vector<bool> blocking, escapes;       // by block index
  std::map<uint32_t, Memory> globals;        // by slot
  std::vector<Region> regions;               // what pointers can lead to
  std::vector<int64_t> grid;                 // of the launch
  std::atomic<int64_t> next_cta{0};          // the first that was not started
  int64_t cta_count = 0, cluster_count = 1;  // CTAs of the launch, and of a cluster
  SymbolValues symbols;
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
  int64_t lo = 0, top = 0;  // ws: the section's threads,
  int64_t threads = 0;      // and how many they are
};

// warp: for the other lanes of an exchange; cluster: for arrivals of the cluster's threads
enum class Blocked { no, mbarrier, rendezvous, named, warp, cluster };
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
  int64_t cluster_arrivals = 0;  // at the cluster's barrier
  bool synchronises = false;     // has arrived there and waits, in one operation
  bool released = false;         // the operation it waits at was carried out by another group
  bool alone = false;            // nobody else comes to the exchange it waits at
  bool done = false;
};
using Mask = std::vector<uint8_t>;

struct NamedBarrier {
  int64_t arrived = 0;
};

struct Cta {
  Program& p;
  int64_t thread_count = 0;
  std::vector<int32_t> gone;  // threads that have left the kernel: nobody waits for them
  int64_t steps = 0;
  std::map<uint32_t, Memory> memory;                   // shared, fragment, tensor memory, views: by slot
  std::map<uint32_t, std::vector<Mbarrier>> barriers;  // by slot
  std::map<int64_t, NamedBarrier> named;
  std::vector<Group> groups;
  std::vector<Cta*> cluster;  // by rank, itself among them
  int64_t rank = 0;
  std::array<int64_t, 3> block{1, 1, 1};  // threads along x, y, z
  bool is_host = false;                   // what is before the launches
  std::string name;                       // "CTA 0 1"
};

// ---- scalar.cc: values
Slot& slot(const Program& p, Group& g, ValueId v);
const Slot& slot(const Program& p, const Group& g, ValueId v);
int64_t lane_int(const Program& p, const Group& g, ValueId v, size_t lane);
int64_t uniform_int(const Program& p, const Group& g, const Op& op, ValueId v);
void set_lanes(Slot& s, std::vector<Number> lanes);

// ---- memory.cc: buffers, elements, views, pointers
// A buffer as the lanes of a group see it: one memory, each its own array, or each at its own offset or address.
class Reach {
 public:
  Reach(Cta& cta, Group& g, const Op& op, ValueId buffer);
  const Memory& memory() const { return *memory_; }
  bool same() const { return !local_ && (!offset_ || offset_->is_uniform()); }
  uint8_t* data(size_t lane) const;

 private:
  Cta& cta_;
  const Op& op_;
  const Memory* memory_ = nullptr;
  Local* local_ = nullptr;        // each lane's own array
  const Slot* offset_ = nullptr;  // of a view
};
// The buffer as one lane sees it.
Memory memory_for(Cta& cta, Group& g, const Op& op, ValueId buffer, size_t lane);
// The same place in the memory of another CTA of the cluster.
Memory memory_of_peer(Cta& cta, Cta& peer, const Op& op, const Memory& mine);
// Element offset of a region's first element, and how many elements it has.
struct Elements {
  Memory mem;
  int64_t first = 0, count = 0;
};
Elements elements_of(Cta& cta, Group& g, const Op& op, ValueId region, size_t lane);
bool exec_memory(Cta& cta, Group& g, OpId id, const Mask* mask);  // false: another kind of op
void add_atomically(Program& p, const std::string& op, const Memory& mem, int64_t offset, Number v, Number* before);

// ---- vector.cc: values of several numbers a lane
bool has_vectors(const Module& m, const Op& op);
bool exec_vector(const Program& p, Group& g, OpId id);  // false: none of its ops

// ---- scalar.cc
// Executes an op that is no control flow, no tile operation and cannot block, for the lanes of the mask (null: all).
// False: the op is of another kind.
bool exec_scalar(Cta& cta, Group& g, OpId id, const Mask* mask);

// ---- intrinsic.cc: calls that are no functions of one thread's operands
// A call for the lanes of a group.
struct Call {
  Cta& cta;
  Group& g;
  const Op& op;
  const Mask* mask;
  bool active(size_t lane) const { return !mask || (*mask)[lane]; }
  Number at(size_t operand, size_t lane) const { return slot(cta.p, g, op.operands[operand]).at(lane); }
  DType type(size_t operand) const { return cta.p.m[op.operands[operand]].type.dtype; }
  int32_t thread(size_t lane) const { return g.threads[g.iterations ? 0 : lane]; }
  // The active lane of the group that is thread `t`; nullopt: it does not execute this.
  std::optional<size_t> lane_of(int32_t t) const;
  // f(lane) → the result of every active lane.
  template <class F>
  void result(F&& f) {
    std::vector<Number> out(g.lanes);
    for (size_t l = 0; l < g.lanes; ++l)
      if (active(l)) out[l] = f(l);
    if (mask) slot(cta.p, g, op.results[0]).lanes = std::move(out);
    else set_lanes(slot(cta.p, g, op.results[0]), std::move(out));
  }
  template <class F>
  void each(F&& f) const {
    for (size_t l = 0; l < g.lanes; ++l)
      if (active(l)) f(l);
  }
};
struct CallRow {
  std::string_view name;
  void (*exec)(Call&);
  bool in_loops = false;  // also in iterations of a parallel loop, whose threads are not known
};
bool exec_intrinsic(Cta& cta, Group& g, const Op& op, const Mask* mask);  // false: not one of them
std::span<const CallRow> exchange_rows();                                 // exchange.cc
std::span<const CallRow> random_rows();                                   // random.cc
std::span<const CallRow> cluster_rows();                                  // cluster.cc
std::span<const CallRow> access_rows();                                   // access.cc
std::span<const CallRow> rounding_rows();                                 // rounding.cc
bool is_exchange(const Op& op);                                           // lanes of a warp read each other's values
bool is_rendezvous(const Op& op);                                         // all threads of the CTA meet
bool is_at_barrier(const Op& op);  // an arrival at or a wait for a barrier of the CTA or cluster: wait.cc
void finish_rendezvous(Cta& cta, const std::vector<Group*>& here, const Op& op);

// ---- matrix.cc: ldmatrix and mma, of whole warps
bool is_matrix_instruction(std::string_view name);
void exec_matrix(Cta& cta, Group& g, const Op& op, const Mask* mask);

// ---- lanes.cc: blocks without blocking ops, under masks
void exec_inline(Cta& cta, Group& g, BlockId block, Mask& mask);
bool exec_plain_op(Cta& cta, Group& g, OpId id, Mask& mask);

// ---- tile.cc: tile operations
bool is_tile_op(OpKind kind);
// All threads of the section take part, unless an operand is a thread's own array.
bool is_collective(const Module& m, const Op& op);
void exec_tile(Cta& cta, Group& g, OpId id, size_t lane);
void exec_parallel(Cta& cta, Group& g, const Op& op, size_t lane);
struct TileRow {
  OpKind kind;
  void (*exec)(Cta&, Group&, const Op&, size_t lane);
};
std::span<const TileRow> matrix_rows();  // gemm.cc
std::span<const TileRow> fold_rows();    // fold.cc

// ---- group.cc: control and barriers
void run_ctas(std::vector<std::unique_ptr<Cta>>& ctas, BlockId body, const std::vector<Slot>& env,
              const std::vector<std::vector<std::pair<ValueId, int64_t>>>& block_index);
void arrive(Cta& cta, Group& g, const Op& op, size_t lane);
Mbarrier& mbarrier_at(Cta& cta, const Op& op, ValueId array, int64_t index);
void settle(Mbarrier& b);
void count_step(Cta& cta, const Op& op);

}  // namespace tc::ir::interp
