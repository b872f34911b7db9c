// Shadow memory: a cell for each word of 4 bytes that was touched. Pages of 1 KiB are made when they are touched first,
// taken from a pool of the thread and given back at the end, so that a small CTA costs little.
//   word 0x1203 (byte address 0x480C) is cell 3 of page 0x12
#pragma once
#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/check/history.h"

namespace tc::sim {

class Shadow {
 public:
  static constexpr uint64_t kPageWords = 256;
  using Page = std::array<Cell, kPageWords>;

  Shadow() = default;
  Shadow(const Shadow&) = delete;
  ~Shadow() { clear(); }

  // The cell of a word; the cells up to the end of its page follow it.
  Cell* cell(uint64_t word) {
    const uint64_t page = word / kPageWords;
    const Recent& r = recent_[page % kRecent];
    return (r.page && r.number == page ? r.page : find(page))->data() + word % kPageWords;
  }
  static uint64_t left_in_page(uint64_t word) { return kPageWords - word % kPageWords; }
  void clear();
  size_t pages() const { return pages_.size(); }
  template <class Visit>  // visit(page number, page), in no order
  void each_page(Visit visit) {
    for (auto& [number, page] : pages_) visit(number, *page);
  }

 private:
  static constexpr size_t kRecent = 256;
  struct Recent {
    uint64_t number = 0;
    Page* page = nullptr;
  };
  Page* find(uint64_t number);

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  std::array<Recent, kRecent> recent_{};
};

}  // namespace tc::sim
