// Registers that a kernel or function may read before it has written them: those that are live where it starts.
//   @%p mov %r1, 0;  add %r2, %r1, 1     %r1 is: the guard may be false. Whether it was is seen when it is executed.
// A guarded write does not end the life of what was there. Backward flow over blocks, a bit a register.
#include "sim/exec/builder.h"
#include "sim/exec/code_flow.h"

namespace tc::sim {
namespace {

using Bits = std::vector<uint64_t>;

class Liveness {
 public:
  explicit Liveness(const Program& p) : p_(p), flow_(flow_of(p)), number_(p.register_bytes / 4 + 1, kNone) {
    for (uint32_t k = 0; k < p.declared.size(); ++k) number_[p.declared[k].at / 4] = k;
    words_ = p.declared.size() / 64 + 1;
    const size_t blocks = flow_.next.size();
    reads_.assign(blocks, Bits(words_)), writes_.assign(blocks, Bits(words_)), live_.assign(blocks, Bits(words_));
    for (uint32_t b = 0; b + 1 < blocks; ++b) scan(b);
    solve();
  }

  std::vector<uint32_t> at_start(uint32_t pc) const {
    std::vector<uint32_t> out;
    const Bits& live = live_[flow_.block_of[pc]];
    for (uint32_t k = 0; k < p_.declared.size(); ++k)
      if (live[k / 64] >> (k % 64) & 1) out.push_back(p_.declared[k].at);
    return out;
  }

 private:
  template <class Visit>
  void numbered(uint32_t at, Visit visit) const {
    if (at != kNone && number_[at / 4] != kNone) visit(number_[at / 4]);
  }
  static void add(Bits& b, uint32_t k) { b[k / 64] |= uint64_t{1} << (k % 64); }
  static void drop(Bits& b, uint32_t k) { b[k / 64] &= ~(uint64_t{1} << (k % 64)); }

  void scan(uint32_t block) {
    const uint32_t end = block + 2 < flow_.next.size() ? flow_.first[block + 1] : static_cast<uint32_t>(p_.code.size());
    for (uint32_t n = end; n-- > flow_.first[block];) step(p_.code[n], reads_[block], writes_[block]);
  }
  // Backwards over one instruction.
  void step(const Insn& i, Bits& reads, Bits& writes) const {
    const uint32_t* list = p_.lists.data() + i.list;
    auto written = [&](uint32_t at) {
      if (i.guard == kNone) numbered(at, [&](uint32_t k) { add(writes, k), drop(reads, k); });
    };
    auto read = [&](uint32_t at) { numbered(at, [&](uint32_t k) { add(reads, k); }); };
    const bool table = i.kind == InsnKind::branch_table, calls = i.passing == Passing::nothing && i.kind == InsnKind::call;
    written(i.dst);
    if (i.result != UINT8_MAX) written(i.src[i.result]);
    if (calls)
      for (uint32_t k = 0; k < i.a; ++k) slot(i.imm + k, written);
    for (uint32_t k = 0; k < i.list_dst && i.kind != InsnKind::wgmma; ++k) written(list[k]);
    for (uint32_t k = 0; k < i.src.size(); ++k)
      if (k != i.result) read(i.src[k]);
    for (uint32_t k = i.kind == InsnKind::wgmma ? 0 : i.list_dst; k < i.list_count && !table; ++k) read(list[k]);
    if (calls)
      for (uint32_t k = 0; k < i.b; ++k) slot(i.imm + i.a + k, read);
    read(i.guard);
  }
  template <class Visit>
  void slot(uint64_t number, Visit visit) const {
    if (const Slot& s = p_.slots[number]; s.is_register) visit(s.at);
  }

  void solve() {
    for (bool more = true; more;) {
      more = false;
      for (size_t b = live_.size() - 1; b-- > 0;)
        for (size_t x = 0; x < words_; ++x) {
          uint64_t out = 0;
          for (uint32_t n : flow_.next[b]) out |= live_[n][x];
          const uint64_t in = reads_[b][x] | (out & ~writes_[b][x]);
          more |= in != live_[b][x];
          live_[b][x] = in;
        }
    }
  }

  const Program& p_;
  CodeFlow flow_;
  std::vector<uint32_t> number_;  // index into Program::declared, by offset / 4
  size_t words_ = 0;
  std::vector<Bits> reads_, writes_, live_;  // by block: read before written, written, live at its start
};

}  // namespace

void find_unwritten_registers(Program& p) {
  if (p.code.empty()) return;
  const Liveness live(p);
  p.unwritten = live.at_start(0);
  for (CalledFunction& f : p.functions) {
    if (f.pc == kNone) continue;
    f.unwritten = live.at_start(f.pc);
    std::erase_if(f.unwritten, [&](uint32_t at) {
      return std::ranges::any_of(f.params, [&](const Slot& s) { return s.is_register && s.at == at; });
    });
  }
}

}  // namespace tc::sim
