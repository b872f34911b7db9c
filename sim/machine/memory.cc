#include "sim/machine/memory.h"

namespace tc::sim {

thread_local size_t GlobalMemory::last_ = 0;

uint64_t GlobalMemory::allocate(std::string name, uint64_t bytes) {
  const uint64_t start = (bytes_.size() + kGlobalAlign - 1) / kGlobalAlign * kGlobalAlign;
  allocations_.push_back({std::move(name), kGlobalWindow + start, bytes});
  bytes_.resize(start + bytes + kGlobalAlign);
  return kGlobalWindow + start;
}

uint8_t* GlobalMemory::find_slow(uint64_t address, uint64_t n) {
  for (size_t i = 0; i < allocations_.size(); ++i)
    if (allocations_[i].contains(address, n)) {
      last_ = i;
      return at(address);
    }
  return nullptr;
}

const Allocation* GlobalMemory::allocation_of(uint64_t address) const {
  for (const Allocation& a : allocations_)
    if (a.contains(address, 1)) return &a;
  return nullptr;
}

const Allocation* GlobalMemory::nearest(uint64_t address) const {
  const Allocation* best = nullptr;
  for (const Allocation& a : allocations_)
    if (a.address <= address && (!best || a.address > best->address)) best = &a;
  return best;
}

}  // namespace tc::sim
