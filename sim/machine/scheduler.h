// Runs the warps of one CTA to their end, under one of the three schedules of design.md, and explains why it could not.
//   rr           paths take turns of kTurn instructions; async operations complete after a fixed small delay
//   random       the next path, the length of its turn and every delay are drawn by seed
//   adversarial  a seed draws an order of preference among warps (odd seeds: among warpgroups); the first that can make
//                progress runs; each async operation completes at once, or only when nothing else can run
// A path that polls (test_wait, try_wait) without anything having changed is put to sleep until the phase changes; when
// nothing else can run, polls time out once. Nothing can run, polls have timed out in vain, and no operation is
// outstanding: deadlock.
#pragma once
#include <atomic>
#include <chrono>
#include <vector>

#include "sim/machine/cta.h"

namespace tc::sim {

enum class CtaEnd : uint8_t { done, hang, trap, step_limit, time_limit, stopped };

struct Limits {
  uint64_t steps = UINT64_MAX;  // warp instructions of one CTA
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  const std::atomic<bool>* stop = nullptr;
};

struct SteerStep {
  enum class Kind : uint8_t { run_warp, complete_async };
  Kind kind = Kind::run_warp;
  uint32_t warp = 0;     // run_warp: until it executed one protocol event, or blocks
  uint32_t barrier = 0;  // complete_async: shared address of the mbarrier
  uint32_t n = 0;        // complete_async: the n-th outstanding operation of that barrier, from 0
};
struct SteerResult {
  bool happened = false;  // an event was executed, the operation was there
  EventKind event = EventKind::none;
  SourceRange where;
};

CtaEnd run_cta(Cta& cta, const Limits& limits);
// Follows the steps first; async operations complete only by steps or when a wait of the running warp needs them.
CtaEnd run_steered(Cta& cta, const Limits& limits, const std::vector<SteerStep>& steps,
                   std::vector<SteerResult>& results);

std::string_view name_of(EventKind kind);

}  // namespace tc::sim
