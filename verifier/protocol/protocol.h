// The protocol of a kernel: what is left of it when arithmetic on data is forgotten (design.md, "The protocol and its
// proofs"). Rings of mbarriers, buffers of slots, and for every role a structured program of events.
//   kernel text / device IR  →  Protocol  →  verifier/proof
// Text form (one statement a line, bodies by indentation; `#` starts a comment):
//   kernel NAME [arch ARCH]            S 3                       param K [means "T.ceildiv(K, 64)"] [of "K"]
//   param K=8 W                        assume K >= 1 [because "text"]
//   ring full S count 1                buf A S                   role producer 4x32 [at 128]
//     for i < K     if i >= 1 and i < K     ifdata mask          inc it     flip m[i % S]
//     syncwarp | syncrole | syncthreads
//     one wait full[i % S] (i // S) & 1 [meant i]     all arrive empty[i % S] [x 2] [tx 4096]
//     one expect full[i % S] 4096                     one copy A[i % S] [tile i] bytes 4096 on full[i % S]
//     all read A[i % S] [tile i]   write …   mma … (tensor cores, for the whole role)   aread … (async, one thread)
//     all mmawait 1                                   (all but the newest 1 mma/aread of this thread are complete)
// who: one = lane 0 of warp 0 of the role, warp = lane 0 of every warp, all = every thread. Any statement may end in
// `loc FILE:L:C-L:C`, the place it was made from. `param K=8` has the actual value of the specialisation at hand.
// A read or copy without `tile` gets its meaning from the counter run of the protocol (verifier/proof/tickets.h).
// Slots: ticket t of a ring of n slots works on slot t mod n in phase t div n. n = 3: ticket 7 is slot 1, phase 2.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/source.h"
#include "verifier/protocol/expr.h"

namespace tc::verify {

// Where diagnostics point: the line of the protocol or .ir text, or the source. No part of a protocol's value.
struct Place {
  SourceRange range;
  bool operator==(const Place&) const { return true; }
};
// The printed `loc`: the source statement behind an event. Equal where file name and numbers are.
struct Loc {
  SourceRange range;
  bool operator==(const Loc& other) const;
};
struct Origin {
  Place where;
  Loc loc;
  bool operator==(const Origin&) const = default;
};

struct Param {
  std::string name;
  std::optional<int64_t> actual;         // the value in this specialisation
  std::string means;                     // source text it stands for
  std::vector<std::string> generalises;  // factory parameters in it
  bool operator==(const Param&) const = default;
};
struct Assumption {
  Expr condition;    // conjunction of comparisons over parameters
  std::string text;  // how a person would say it; empty: the condition itself
  Origin origin;
  bool operator==(const Assumption&) const = default;
};
struct Ring {
  std::string name;
  int64_t slots = 1, count = 1;  // count: arrivals a phase (the init count)
  Origin origin;
  bool operator==(const Ring&) const = default;
};
struct Buffer {
  std::string name;
  int64_t slots = 1;
  Origin origin;
  bool operator==(const Buffer&) const = default;
};

enum class EventKind : uint8_t {
  wait,
  arrive,
  expect,
  copy,
  read,
  write,
  mma,
  aread,
  mma_wait,
  sync_warp,
  sync_role,
  sync_threads,
  increment,
  flip
};
enum class Who : uint8_t { one, warp, all };

struct Event {
  EventKind kind = EventKind::wait;
  Who who = Who::all;
  int ring = -1;                         // wait, arrive, expect, copy: index into Protocol::rings
  Expr slot;                             // of the ring; of a flip the mask bit
  std::optional<Expr> parity, meant;     // wait
  int64_t count = 1, tx = 0, bytes = 0;  // arrive: count and expected bytes; expect: tx; copy: bytes
  int buffer = -1;                       // copy, read, write, mma, aread
  Expr at;                               // slot of the buffer
  std::optional<Expr> tile;
  int64_t pending = 0;   // mma_wait
  std::string variable;  // increment: the counter; flip: the mask
  Origin origin;
  bool operator==(const Event&) const = default;
};

struct Stmt;
struct Loop {
  std::string var;
  Expr trip;  // iterations 0 … trip - 1
  std::vector<Stmt> body;
  Origin origin;
  bool operator==(const Loop&) const;
};
struct Branch {
  Expr condition;         // conjunction of comparisons; unused where predicate is set
  std::string predicate;  // an opaque predicate of the iteration (`ifdata`), equal in all roles; empty: none
  std::vector<Stmt> body;
  Origin origin;
  bool operator==(const Branch&) const;
};
struct Stmt {
  std::variant<Event, Loop, Branch> node;
  bool operator==(const Stmt&) const = default;
};

struct Role {
  std::string name;
  int64_t warps = 1, lanes = 32,
          first_thread = -1;  // threads [first_thread, first_thread + warps*lanes); -1: not known
  std::vector<Stmt> body;
  Origin origin;
  bool operator==(const Role&) const = default;
  int64_t threads() const { return warps * lanes; }
};

struct Protocol {
  std::string kernel, arch;
  int64_t stages = 1;  // the name S in expressions
  std::vector<Param> params;
  std::vector<Assumption> assumptions;
  std::vector<Ring> rings;
  std::vector<Buffer> buffers;
  std::vector<Role> roles;
  bool operator==(const Protocol&) const = default;
};

// Reads a protocol text; every name is resolved and every number in range. The first mistake is the error.
Result<Protocol> parse_protocol(std::string_view file_name, std::string_view text);
std::string print(const Protocol& p);
// One event as its line, without who-prefix arguments left out: "all arrive empty[i % S]".
std::string print(const Protocol& p, const Event& e);
std::string_view name_of(Who who);
std::string_view name_of(EventKind kind);
// Every event of a body in program order.
std::vector<const Event*> events_in(const std::vector<Stmt>& body);

}  // namespace tc::verify
