// Control of the tile interpreter where threads can block: what group.cc (control flow), split.cc (groups
// that part and meet again) and wait.cc (barriers) share. Internal to the files of this folder.
#pragma once
#include "compiler/interp/machine.h"

namespace tc::ir::interp {

enum class Step { go_on, blocked, split };

// ---- split.cc
// Moves the threads for which `keep` is false into a new group that is about to execute the same op.
void split(Cta& cta, size_t index, const std::vector<bool>& keep);
// True if the values agree in all threads; else splits off those that differ from the first.
bool agree(Cta& cta, size_t index, const std::vector<ValueId>& values);
bool same_place(const Group& a, const Group& b);
// Adds the threads of `b`, which is at the same place, to `a`; they stay in order.
void merge(Group& a, Group& b);
inline int64_t value(const Cta& cta, const Group& g, ValueId v) { return slot(cta.p, g, v).at(0).i; }

// ---- wait.cc
// Executes an op that can block; nullopt: it is another kind.
std::optional<Step> exec_blocking(Cta& cta, size_t index, OpId id);
// Of all CTAs that run together, the first that cannot go on is reported.
[[noreturn]] void deadlock(Cta& cta);

Step exec_thread_return(Cta& cta, size_t index);

}  // namespace tc::ir::interp
