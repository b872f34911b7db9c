// Bulk stores whose groups other threads commit or wait for (TMA-14): a group belongs to the thread that issued its
// stores, so that a commit or a wait of a thread that has issued none is for nothing.
//   thread 0 stores and commits, thread 32 executes wait_group 0: it goes through at once, though nothing has been read
// Judged at the end of the CTA, and where a race names a store: by what each thread has executed, not by when.
#pragma once
#include <optional>

#include "base/diag.h"

namespace tc::sim {

struct Cta;

// What is wrong with the last store of a thread that has not waited for it (TMA-14, else TMA-15).
Diag unread_store(const Cta& cta, uint32_t thread);
// For a race with a store of this row of the vector clocks: who should have waited; nothing for other rows, or where
// nobody else waits.
std::optional<Note> wait_for_nothing(const Cta& cta, uint32_t row);

}  // namespace tc::sim
