// Zeroed bytes that are handed out again to the same thread when they are given back: registers and shared memory of
// thousands of CTAs one after another cost no system calls.
//   Buffer b(4096); b.data()[0] == 0; at the end of its life its block goes to the pool of the thread
#pragma once
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace tc::sim {

class Buffer {
 public:
  static constexpr size_t kAlign = 64;

  Buffer() = default;
  // `zero` false: the bytes hold whatever was there; the caller writes all of them.
  explicit Buffer(size_t bytes, bool zero = true) : size_(bytes) {
    std::vector<Block>& pool = free_blocks();
    for (size_t i = pool.size(); i-- > 0;)
      if (pool[i].bytes >= bytes && pool[i].bytes <= 2 * bytes + kAlign) {
        block_ = std::move(pool[i]);
        pool.erase(pool.begin() + static_cast<std::ptrdiff_t>(i));
        break;
      }
    if (!block_.bytes) block_ = {std::make_unique_for_overwrite<uint8_t[]>(bytes + kAlign), bytes};
    if (zero) std::memset(data(), 0, bytes);
  }
  ~Buffer() { release(); }
  Buffer(Buffer&& o) noexcept : block_(std::move(o.block_)), size_(o.size_) { o.block_.bytes = o.size_ = 0; }
  Buffer& operator=(Buffer&& o) noexcept {
    if (this == &o) return *this;
    release();
    block_ = std::move(o.block_), size_ = o.size_;
    o.block_.bytes = o.size_ = 0;
    return *this;
  }

  uint8_t* data() { return aligned(block_.bytes_at.get()); }
  const uint8_t* data() const { return aligned(block_.bytes_at.get()); }
  size_t size() const { return size_; }
  uint8_t* begin() { return data(); }
  uint8_t* end() { return data() + size_; }

 private:
  struct Block {
    std::unique_ptr<uint8_t[]> bytes_at;
    size_t bytes = 0;
  };
  static constexpr size_t kMostFree = 64;
  static std::vector<Block>& free_blocks() {
    thread_local std::vector<Block> pool;
    return pool;
  }
  template <class P>
  static P* aligned(P* p) {
    return p + (kAlign - reinterpret_cast<uintptr_t>(p) % kAlign) % kAlign;
  }
  void release() {
    if (block_.bytes && free_blocks().size() < kMostFree) free_blocks().push_back(std::move(block_));
    block_.bytes = 0;
  }
  Block block_;
  size_t size_ = 0;
};

}  // namespace tc::sim
