// Vector clocks: what an agent knows to have happened in the clusters of a grid.
// The agents of a cluster are numbered in rows of 32 lanes:
//   row 0 ... W-1       generic accesses of the lanes of warp w, in epochs of the warp
//   row W ... 2W-1      cp.async of the same lanes, in commit groups
//   row 2W ...          one row for each further agent: copies tracked by an mbarrier (in phases), bulk groups of a
//                       lane, wgmma groups of a warpgroup; given out as they appear, the epoch is that of all lanes
// An event of epoch e of lane l of row r is known where known.of(r, l) >= e. Mostly all lanes of a row are known up to
// one epoch (`all`); rows of which some lanes are known further have 32 numbers of their own (`ahead`).
//   warp 2 released epoch 7 as a whole, then its lane 0 alone epoch 9:   all[2] = 7, ahead: row 2, lane 0 = 9, others 0
// `known` is happens-before; `visible` is the part of it that the async proxy sees as well (FENCE-01). `passed` is more:
// what is over, though nothing that it wrote need be visible: a relaxed arrival says no more than that. It is enough to
// overwrite what was read or copied there (not what a thread wrote), and for the CTA that is told to exit. `executed` is
// the weakest: what lanes had issued when they met in a shfl, vote, match, redux or elect, which order no memory in the
// PTX model. It is enough for mbarrier.inval after what they did on the barrier (as cuda::pipeline ends), for nothing else.
// Parts are shared between clocks and copied when one of them changes; one thread uses them at a time.
#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace tc::sim {

// A counted reference. Not for several threads at once.
template <class T>
class Shared {
 public:
  Shared() = default;
  Shared(const Shared& o) : p_(o.p_) {
    if (p_) ++p_->references;
  }
  Shared(Shared&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Shared& operator=(Shared o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Shared() {
    if (p_ && --p_->references == 0) delete p_;
  }
  static Shared make(T value = {}) {
    Shared s;
    s.p_ = new T(std::move(value));
    s.p_->references = 1;
    return s;
  }
  const T* get() const { return p_; }
  const T* operator->() const { return p_; }
  const T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  bool operator==(const Shared&) const = default;
  // For changing: a copy where others hold it too.
  T& own() {
    if (!p_) *this = make();
    else if (p_->references > 1) *this = make(*p_);
    return *p_;
  }

 private:
  T* p_ = nullptr;
};

class Knowledge {
 public:
  // All lanes of the row are known up to here.
  uint32_t floor(uint32_t row) const { return row < all_.size() ? all_[row] : 0; }
  uint32_t of(uint32_t row, uint32_t lane) const;
  void raise(uint32_t row, uint32_t lanes, uint32_t epoch);
  void join(const Knowledge& other);
  void forget(uint32_t row);
  bool covers(const Knowledge& other) const;
  bool empty() const { return all_.empty() && ahead_.empty(); }

 private:
  struct Ahead {
    uint32_t row;
    std::array<uint32_t, 32> lane;
  };
  const Ahead* ahead(uint32_t row) const;
  void settle(size_t at);  // forgets an entry that `all_` says as well

  std::vector<uint32_t> all_;
  std::vector<Ahead> ahead_;  // by row
};

// About the agents of one cluster.
struct Part {
  uint32_t references = 0;
  Knowledge known, visible, passed, executed;
  Knowledge fenced;  // of `known`, what its threads have fenced: a relaxed write of whoever knows it publishes it
  Knowledge narrow;  // would be known, were scopes not looked at (sim/check/scope.h)
};

struct ForeignParts {
  uint32_t references = 0;
  std::vector<std::pair<uint32_t, Shared<Part>>> parts;  // by cluster
};

struct Clock {
  static constexpr uint32_t kNoCluster = UINT32_MAX;
  uint32_t cluster = kNoCluster;  // that `part` is about
  Shared<Part> part;
  Shared<ForeignParts> foreign;

  const Part* about(uint32_t of_cluster) const;
  bool empty() const { return !part && !foreign; }
};
void join(Clock& into, const Clock& other);
// What of the clock was fenced, as all that is known.
Clock fenced_part(const Clock& clock);

}  // namespace tc::sim
