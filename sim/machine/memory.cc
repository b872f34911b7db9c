#include "sim/machine/memory.h"

#include <algorithm>
#include <new>

#include "specs/arch.h"

namespace tc::sim {

thread_local std::array<uint32_t, GlobalMemory::kHints> GlobalMemory::last_{};

void Allocation::generate(Fill how) {
  fill = std::move(how);
  filled = std::make_unique<std::atomic<uint8_t>[]>((bytes + kPiece - 1) / kPiece);
  filling = std::make_unique<std::mutex>();
}

void Allocation::touch(uint64_t a, uint64_t n) {
  if (n == 0) return;
  const uint64_t first = (a - address) / kPiece, last = (a - address + n - 1) / kPiece;
  for (uint64_t piece = first; piece <= last; ++piece) {
    if (filled[piece].load(std::memory_order_acquire)) continue;
    const std::lock_guard lock(*filling);
    if (filled[piece].load(std::memory_order_relaxed)) continue;
    const uint64_t at = piece * kPiece;
    fill(at, std::min(kPiece, bytes - at), host + at);
    filled[piece].store(1, std::memory_order_release);
  }
}

Allocation& GlobalMemory::place(std::string name, uint64_t bytes, uint64_t offset) {
  const uint64_t start = (end_ + kGlobalAlign - 1) / kGlobalAlign * kGlobalAlign + offset;
  end_ = start + bytes + kGlobalAlign;
  Allocation& a = allocations_.emplace_back();
  a.name = std::move(name);
  a.address = kGlobalWindow + start;
  a.bytes = bytes;
  // calloc takes large blocks from the system, which hands out zero pages when they are touched.
  a.storage.reset(static_cast<uint8_t*>(std::calloc(bytes + 2 * kGlobalAlign, 1)));
  if (!a.storage) throw std::bad_alloc();
  const auto raw = reinterpret_cast<uintptr_t>(a.storage.get());
  a.host = a.storage.get() + (kGlobalAlign - raw % kGlobalAlign) % kGlobalAlign + offset;
  return a;
}

Allocation* GlobalMemory::allocate_from_heap(std::string name, uint64_t bytes) {
  if (bytes > kDeviceHeapBytes - heap_bytes_) return nullptr;
  heap_bytes_ += bytes;
  Allocation& a = place(std::move(name), bytes, kDeviceHeapAlign);
  a.heap = true;
  return &a;
}

bool GlobalMemory::free_to_heap(uint64_t address) {
  Allocation* a = const_cast<Allocation*>(nearest(address));
  if (!a || !a->heap || a->address != address || a->gone) return false;
  heap_bytes_ -= a->bytes;
  a->gone = std::max<uint64_t>(a->bytes, 1);
  a->bytes = 0;
  a->storage.reset();
  a->host = nullptr;
  return true;
}

Allocation* GlobalMemory::find_slow(uint64_t address, uint32_t& last) {
  auto it = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                             [](uint64_t x, const Allocation& a) { return x < a.address; });
  if (it == allocations_.begin() || !(--it)->contains(address, 1)) return nullptr;
  last = static_cast<uint32_t>(it - allocations_.begin());
  return &*it;
}

const Allocation* GlobalMemory::allocation_of(uint64_t address) const {
  for (const Allocation& a : allocations_)
    if (a.contains(address, 1)) return &a;
  return nullptr;
}

const Allocation* GlobalMemory::nearest(uint64_t address) const {
  auto it = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                             [](uint64_t x, const Allocation& a) { return x < a.address; });
  return it == allocations_.begin() ? nullptr : &*(it - 1);
}

}  // namespace tc::sim
