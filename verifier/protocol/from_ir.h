// Device IR → protocol: the part of a kernel that synchronises, role by role (design.md, "The protocol and its
// proofs").
//   for k { ws [128,256) { wait empty[k % 3] …; elected { expect full; tma_load a[k % 3] … }; arrive full } ws [0,128)
//   { … } } → role t128 4x32: for k < n0 { all wait …; one expect …; one copy …; all arrive … }   role t0 4x32: …
// * Roles are the maximal ranges of threads that the sections of the launch tell apart.
// * A compile-time trip count that carries an expression becomes a parameter (n0 = "ceildiv(K, 64)", actual 8), unless
// its
//   factory parameters also shape shared memory, barriers or slots: those stay as they are.
// * An array of mbarriers becomes a ring for every range of slots that its uses index separately (full: [0, S), empty:
// [S, 2S)).
// * Several TMA boxes of one statement into one slot are one copy; a run of wgmma reads each operand slot once.
// What the model does not hold is refused (unsupported, with its range) or listed in `not_judged` with its obligation.
#pragma once
#include <map>

#include "compiler/ir/ir.h"
#include "verifier/protocol/protocol.h"

namespace tc::verify {

struct NotJudged {
  std::string obligation, why;
  SourceRange where;
};
struct Extracted {
  Protocol protocol;
  std::vector<NotJudged> not_judged;
  // For replaying a trace on the generated code: byte offset of slot 0 of each ring in the kernel's shared memory, and
  // how many instructions a copy or matrix event of a statement stands for.
  std::vector<int64_t> ring_offsets;
  std::map<SourceRange, int64_t> copies_of, matrix_ops_of;
  bool has_rings = false;  // no mbarrier: obligations 0 to 3 do not apply
};
// `m` is at the device level with one function.
Result<Extracted> protocol_from_ir(const ir::Module& m);

}  // namespace tc::verify
