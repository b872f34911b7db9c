// Undefined values of a warp, followed from where they come from to where they matter (BOUND-02).
// They come from a register that nothing has written, from local memory that the thread has never stored to, and from
// vector loads, ldmatrix and wgmma of shared memory of which nobody has written a byte. Moves, arithmetic, selections,
// matrix products and stores to local and shared memory pass them on (sim/machine/passing.h). They matter, and are
// reported, as an address, a branch condition or guard, an operand of a barrier or copy, a value stored to global memory.
//   ld.local.f32 %f1, [%SP+8]   lanes 0-31 have never stored there: %f1 undefined in all lanes, nothing is said
//   st.global.f32 [%rd1], %f1   finding at the load, with this store as a note
// A warp without undefined registers costs nothing. After a finding the register counts as defined.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/machine/insn.h"

namespace tc::sim {

struct Warp;
struct Cta;
struct CalledFunction;

struct UndefinedCause {
  enum class Kind : uint8_t { reg, local, shared };
  Kind kind = Kind::reg;
  uint32_t at = 0;     // offset of the register, address in local or (without rank) shared memory
  uint32_t place = 0;  // of the read; of a register: what computed with it first, kNone: nothing yet
};

class UndefinedRegisters {
 public:
  explicit UndefinedRegisters(uint32_t register_bytes) : some_(register_bytes / kSlot / 64 + 1) {}
  bool any() const { return !of_.empty(); }
  // Lanes in which the register at this offset is undefined; kNone is no register.
  uint32_t lanes(uint32_t at) const {
    if (at == kNone || !(some_[at / kSlot / 64] >> (at / kSlot % 64) & 1)) return 0;
    return of_.find(at)->second.lanes;
  }
  const UndefinedCause& cause(uint32_t at) const { return of_.find(at)->second.cause; }
  // In the lanes of `mask` the register becomes undefined where `lanes` says, and defined elsewhere.
  void set(uint32_t at, uint32_t mask, uint32_t lanes, const UndefinedCause& cause);
  void define(uint32_t at, uint32_t mask) { set(at, mask, 0, {}); }

 private:
  struct Entry {
    uint32_t lanes = 0;
    UndefinedCause cause;
  };
  static constexpr uint32_t kSlot = 4;  // bytes of the smallest register
  std::vector<uint64_t> some_;          // by offset / kSlot
  std::unordered_map<uint32_t, Entry> of_;
};

// Where undefined values that were stored came from, by address: the newest of each.
using UndefinedStores = std::unordered_map<uint32_t, UndefinedCause>;

// Makes a register undefined in these lanes.
void undefine(Warp& w, uint32_t at, uint32_t lanes, const UndefinedCause& cause);
// Those that the kernel (null), or a function that is entered, may read before it writes them.
void undefine_unwritten(Warp& w, const CalledFunction* function, uint32_t lanes);
// Called before lanes `mask` of a path with lanes `path` execute the instruction: reports what matters, and says what is
// undefined of the results.
void follow_undefined(Warp& w, const Insn& i, uint32_t path, uint32_t mask);
// Lanes of `lanes` in which all registers that the instruction stores are undefined.
uint32_t undefined_values(const Warp& w, const Insn& i, uint32_t lanes);
// Reports lanes in which a register that is undefined matters, once.
void report_undefined(Warp& w, const Insn& i, uint32_t at, uint32_t lanes, const char* what);

}  // namespace tc::sim
