// The address spaces of a launch.
//   generic address (64 bits)      space
//   0x0000'0001'0000'0000 + x      shared, window of the cluster; x is the 32-bit shared address
//   0x0000'0002'0000'0000 + x      local of the thread
//   0x0000'0003'0000'0000 + x      kernel parameters
//   0x0000'0004'0000'0000 + x      constants
//   0x0000'0005'0000'0000 + 16 i   function i, as the target of an indirect call
//   0x0000'7F00'0000'0000 + x      global
// Shared addresses start at 1024: the first KiB of the window belongs to the system on sm_90 (H200: reserved smem/block
// = 1024). Global allocations are 512-byte aligned with 512 bytes of nothing between, so that running off an end is
// seen.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tc::sim {

inline constexpr uint64_t kSharedWindow = 0x1'0000'0000, kLocalWindow = 0x2'0000'0000, kParamWindow = 0x3'0000'0000,
                          kConstWindow = 0x4'0000'0000, kFunctionWindow = 0x5'0000'0000, kGlobalWindow = 0x7F00'0000'0000;
inline constexpr uint64_t kWindowBytes = 0x1'0000'0000;
inline constexpr uint64_t kFunctionStride = 16;
inline constexpr uint32_t kSharedStart = 1024;
inline constexpr uint32_t kRankShift = 24, kRankMask = 0xFF00'0000;  // of a shared address, see cluster.h
inline constexpr uint64_t kGlobalAlign = 512;

// One global allocation. Its bytes are zero until written, and memory is taken from the host as it is touched; a large
// input is generated piece by piece when it is first looked at.
struct Allocation {
  // Fills [first, first + n) of the allocation; `to` is where its byte `first` lives.
  using Fill = std::function<void(uint64_t first, uint64_t n, uint8_t* to)>;
  static constexpr uint64_t kPiece = 64 * 1024;

  std::string name;
  uint64_t address = 0, bytes = 0;
  uint8_t* host = nullptr;
  std::unique_ptr<uint8_t, void (*)(void*)> storage{nullptr, std::free};
  Fill fill;  // empty: nothing is left to generate
  std::unique_ptr<std::atomic<uint8_t>[]> filled;  // by piece
  std::unique_ptr<std::mutex> filling;
  bool heap = false;      // made by malloc in a kernel
  uint64_t gone = 0;      // bytes that it had before free

  bool contains(uint64_t a, uint64_t n) const { return a >= address && n <= bytes && a - address <= bytes - n; }
  void generate(Fill how);             // from now on
  void touch(uint64_t a, uint64_t n);  // generates what is missing of [a, a + n)
};

class GlobalMemory {
 public:
  // Places one allocation; all are made before the first access.
  Allocation& allocate(std::string name, uint64_t bytes) { return place(std::move(name), bytes, 0); }
  // malloc and free of a kernel, whose clusters run on one thread. No address is given twice, so that a use after free
  // is seen; a block is aligned as the device's heap aligns it and no better. Null: the heap is full.
  Allocation* allocate_from_heap(std::string name, uint64_t bytes);
  bool free_to_heap(uint64_t address);  // false: no live block starts there
  // The allocation of an address, or null; `hint` tells apart callers that look at different ones in turn.
  Allocation* allocation_at(uint64_t address, uint32_t hint) {
    uint32_t& last = last_[hint % kHints];
    if (last < allocations_.size() && address - allocations_[last].address < allocations_[last].bytes)
      return &allocations_[last];
    return find_slow(address, last);
  }
  // Where [address, address + n) lies, or nullptr where it is not inside one allocation.
  uint8_t* find(uint64_t address, uint64_t n, uint32_t hint = 0) {
    Allocation* a = allocation_at(address, hint);
    if (!a || !a->contains(address, n)) return nullptr;
    if (a->fill) a->touch(address, n);
    return a->host + (address - a->address);
  }
  const Allocation* allocation_of(uint64_t address) const;
  // The allocation that ends at or before the address, nearest; for messages.
  const Allocation* nearest(uint64_t address) const;
  const std::vector<Allocation>& allocations() const { return allocations_; }

 private:
  Allocation& place(std::string name, uint64_t bytes, uint64_t offset);
  Allocation* find_slow(uint64_t address, uint32_t& last);
  std::vector<Allocation> allocations_;  // by address
  uint64_t end_ = 0, heap_bytes_ = 0;
  static constexpr uint32_t kHints = 64;
  static thread_local std::array<uint32_t, kHints> last_;  // indices of the allocations found last
};

}  // namespace tc::sim
