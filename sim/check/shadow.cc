#include "sim/check/shadow.h"

namespace tc::sim {
namespace {

constexpr size_t kPooledPages = 8192;  // 16 MiB a thread
thread_local std::vector<std::unique_ptr<Shadow::Page>> pool;

}  // namespace

Shadow::Page* Shadow::find(uint64_t number) {
  std::unique_ptr<Page>& page = pages_[number];
  if (!page) {
    if (pool.empty()) {
      page = std::make_unique<Page>();
    } else {
      page = std::move(pool.back());
      pool.pop_back();
      page->fill({});
    }
  }
  recent_[number % kRecent] = {number, page.get()};
  return page.get();
}

void Shadow::clear() {
  for (auto& [number, page] : pages_)
    if (pool.size() < kPooledPages) pool.push_back(std::move(page));
  pages_.clear();
  recent_.fill({});
}

}  // namespace tc::sim
