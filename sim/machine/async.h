// Operations that the machine carries out later than they were issued: bulk and tensor copies, cp.async, wgmma. They
// stay in one list until the schedule completes them: each `step` does one piece. Operations of one queue (cp.async of
// a warp, wgmma of a warpgroup) complete in order; queue 0 has no order.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tc::sim {

struct Cta;

struct AsyncOp {
  static constexpr uint64_t kLate = UINT64_MAX;
  uint64_t due = 0;       // time of the next piece; kLate: only when nothing else can run
  uint64_t sequence = 0;  // order of issue
  uint64_t issued_at = 0;  // time
  uint32_t queue = 0;
  uint32_t barrier = 0;     // shared address of the mbarrier it completes on, 0 for none
  uint32_t thread = 0;      // 32 * warp + lane that issued it
  uint64_t group = 0;       // bulk group of that thread
  Cta* cta = nullptr;       // that issued it
  bool reads_done = false;  // a store that has read its source
  uint32_t place = 0;
  virtual ~AsyncOp() = default;
  // Does one piece; true when that was the last. A fault is put into Cta::trap. `cta` is the one that issued it.
  virtual bool step(Cta& cta) = 0;
  virtual std::string describe(const Cta& cta) const = 0;
};

// Non-bulk copies of the lanes of one warp; lane l belongs to its commit group groups[l].
struct CpAsyncOp : AsyncOp {
  uint32_t lanes = 0;
  std::array<uint32_t, 32> groups{};
};

inline constexpr uint32_t kCpQueue = 1, kWgmmaQueue = 1000;  // + warp, + warpgroup

struct AsyncList {
  std::vector<std::unique_ptr<AsyncOp>> ops;  // in order of issue
  uint64_t next_due = AsyncOp::kLate;
  uint64_t issued = 0;

  bool empty() const { return ops.empty(); }
  // The oldest outstanding operation of the same queue, or the operation itself.
  AsyncOp* first_of_queue(AsyncOp* op) const {
    if (op->queue == 0) return op;
    for (const auto& o : ops)
      if (o->queue == op->queue && o->cta == op->cta) return o.get();
    return op;
  }
};

}  // namespace tc::sim
