// The address spaces of a launch.
//   generic address (64 bits)      space
//   0x0000'0001'0000'0000 + x      shared, window of the CTA; x is the 32-bit shared address
//   0x0000'0002'0000'0000 + x      local of the thread
//   0x0000'0003'0000'0000 + x      kernel parameters
//   0x0000'0004'0000'0000 + x      constants
//   0x0000'7F00'0000'0000 + x      global
// Shared addresses start at 1024: the first KiB of the window belongs to the system on sm_90 (H200: reserved smem/block
// = 1024). Global allocations are 512-byte aligned with 512 bytes of nothing between, so that running off an end is
// seen.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tc::sim {

inline constexpr uint64_t kSharedWindow = 0x1'0000'0000, kLocalWindow = 0x2'0000'0000, kParamWindow = 0x3'0000'0000,
                          kConstWindow = 0x4'0000'0000, kGlobalWindow = 0x7F00'0000'0000;
inline constexpr uint64_t kWindowBytes = 0x1'0000'0000;
inline constexpr uint32_t kSharedStart = 1024;
inline constexpr uint64_t kGlobalAlign = 512;

struct Allocation {
  std::string name;
  uint64_t address = 0, bytes = 0;
  bool contains(uint64_t a, uint64_t n) const { return a >= address && n <= bytes && a - address <= bytes - n; }
};

class GlobalMemory {
 public:
  // Places one allocation; all are made before the first access.
  uint64_t allocate(std::string name, uint64_t bytes);
  // Where [address, address + n) lies, or nullptr where it is not inside one allocation.
  uint8_t* find(uint64_t address, uint64_t n) {
    if (last_ < allocations_.size() && allocations_[last_].contains(address, n)) return at(address);
    return find_slow(address, n);
  }
  const Allocation* allocation_of(uint64_t address) const;
  // The allocation that ends at or before the address, nearest; for messages.
  const Allocation* nearest(uint64_t address) const;
  uint8_t* at(uint64_t address) { return bytes_.data() + (address - kGlobalWindow); }
  const std::vector<Allocation>& allocations() const { return allocations_; }

 private:
  uint8_t* find_slow(uint64_t address, uint64_t n);
  std::vector<Allocation> allocations_;
  std::vector<uint8_t> bytes_;
  static thread_local size_t last_;  // index of the allocation found last
};

}  // namespace tc::sim
