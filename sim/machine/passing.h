// How instructions pass on what nobody has defined: a register that was never written, bytes that were never stored.
// A row a mnemonic (the longest dotted prefix of the opcode counts); what has no row passes it on from any source.
//   add.f32 %f3, %f1, %f2    %f3 is undefined where %f1 or %f2 is           (any)
//   mov.b64 %rd1, {%r1, %r2} %rd1 is undefined where both are: one half may be nobody's concern   (all)
//   ld.shared.f32 %f1, [%r1] %f1 is as the bytes are; an undefined address is a finding           (load)
// Source: PTX ISA 9.7, what each instruction computes. `result`: a source of Insn that is really written.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace tc::sim {

enum class Passing : uint8_t {
  any,          // undefined where any source is
  all,          // where all of the pieces that are put together are
  conjunction,  // of predicates: a defined false decides
  disjunction,  // a defined true decides
  compare,      // any, then combined with a predicate
  select,       // as the source that is chosen
  lanes,        // results depend on several lanes: where the sources of all of them are
  load,         // results are as memory is; the address matters
  store,        // memory becomes as the sources are; the address matters
  product,      // mma: by rows of A, columns of B, and accumulators
  wgmma,
  operands,  // every operand matters
  nothing,   // results are defined whatever the sources
};

struct PassingRow {
  std::string_view mnemonic;
  Passing passing;
  uint8_t result = UINT8_MAX;
};
inline constexpr std::array kPassings = {
    PassingRow{"setp", Passing::compare, 3},
    PassingRow{"set", Passing::compare},
    PassingRow{"and.pred", Passing::conjunction},
    PassingRow{"or.pred", Passing::disjunction},
    PassingRow{"or", Passing::all},
    PassingRow{"lop3", Passing::all},
    PassingRow{"prmt", Passing::all},
    PassingRow{"bfi", Passing::all},
    PassingRow{"shf", Passing::all},
    PassingRow{"mov", Passing::all},
    PassingRow{"selp", Passing::select},
    PassingRow{"shfl.sync", Passing::lanes},
    PassingRow{"vote.sync", Passing::lanes},
    PassingRow{"redux.sync", Passing::lanes},
    PassingRow{"match", Passing::lanes, 2},
    PassingRow{"movmatrix", Passing::lanes},
    PassingRow{"elect.sync", Passing::nothing, 1},
    PassingRow{"ld", Passing::load},
    PassingRow{"ldu", Passing::load},
    PassingRow{"ldmatrix", Passing::load},
    PassingRow{"wmma.load", Passing::load},
    PassingRow{"atom", Passing::load},
    PassingRow{"red", Passing::store},
    PassingRow{"st", Passing::store},
    PassingRow{"stmatrix", Passing::store},
    PassingRow{"wmma.store", Passing::store},
    PassingRow{"mma", Passing::product},
    PassingRow{"wmma.mma", Passing::product},
    PassingRow{"wgmma.mma_async", Passing::wgmma},
    PassingRow{"bar", Passing::operands},
    PassingRow{"barrier", Passing::operands},
    PassingRow{"mbarrier", Passing::operands},
    PassingRow{"cp", Passing::operands},
    PassingRow{"st.async", Passing::operands},
    PassingRow{"red.async", Passing::operands},
    PassingRow{"tensormap", Passing::operands},
    PassingRow{"prefetch", Passing::nothing},
    PassingRow{"prefetchu", Passing::nothing},
    PassingRow{"call", Passing::nothing},
};

constexpr PassingRow passing_of(std::string_view opcode) {
  PassingRow best{"", Passing::any};
  for (const PassingRow& r : kPassings) {
    const bool prefix =
        opcode.starts_with(r.mnemonic) && (opcode.size() == r.mnemonic.size() || opcode[r.mnemonic.size()] == '.');
    if (prefix && r.mnemonic.size() > best.mnemonic.size()) best = r;
  }
  return best;
}
static_assert(passing_of("st.async.weak.shared::cluster.b32").passing == Passing::operands);
static_assert(passing_of("setp.lt.s32").result == 3 && passing_of("and.b32").passing == Passing::any);

}  // namespace tc::sim
