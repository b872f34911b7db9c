#include "sim/machine/calls.h"

#include <bit>
#include <cstring>

namespace tc::sim {

uint8_t* slot_bytes(Warp& w, const Slot& s, uint32_t base, uint32_t lane) {
  if (s.is_register) return w.regs + s.at + lane * (s.bytes <= 4 ? 4 : 8);
  return w.local.data() + size_t{lane} * w.local_bytes + s.at + (s.framed ? base : 0);
}

uint64_t stack_taken(const Warp& w, uint32_t lane) {
  uint64_t taken = 0;
  std::memcpy(&taken, w.local.data() + size_t{lane} * w.local_bytes + w.cta->program.stack_at, sizeof taken);
  return taken;
}
void set_stack_taken(Warp& w, uint32_t lane, uint64_t taken) {
  std::memcpy(w.local.data() + size_t{lane} * w.local_bytes + w.cta->program.stack_at, &taken, sizeof taken);
}

namespace {

// Whether its bytes are written, a byte each; null where nobody asks.
uint8_t* slot_written(Warp& w, const Slot& s, uint32_t base, uint32_t lane) {
  if (s.is_register || w.local_written.size() == 0) return nullptr;
  return w.local_written.data() + size_t{lane} * w.local_bytes + s.at + (s.framed ? base : 0);
}

}  // namespace

void slot_defined(Warp& w, const Slot& s, uint32_t base, uint32_t lane) {
  if (s.is_register && w.undefined) w.undefined->define(s.at, 1u << lane);
  if (uint8_t* flags = slot_written(w, s, base, lane)) std::memset(flags, 1, s.bytes);
}

namespace {

void copy_written(Warp& w, const Slot& from, uint32_t from_base, const Slot& to, uint32_t to_base, uint32_t lane) {
  const uint8_t* source = slot_written(w, from, from_base, lane);
  uint8_t* flags = slot_written(w, to, to_base, lane);
  if (source && flags) std::memmove(flags, source, std::min(from.bytes, to.bytes));
  else slot_defined(w, to, to_base, lane);
}
// Local memory of a function is new each time that it is entered.
void forget_written(Warp& w, const CalledFunction& f, uint32_t top) {
  if (w.local_written.size() == 0) return;
  const uint32_t first = f.again ? top : f.local_first, end = f.again ? top + f.frame_bytes : f.local_end;
  // What alloca takes is one block for all functions, placed with the first that asks.
  const uint32_t stack_at = w.cta->program.stack_at, stack_end = stack_at + kStackHeader + kStackBytes;
  const bool holds_stack = stack_at != kNone && stack_at >= first && stack_end <= end;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    uint8_t* flags = w.local_written.data() + static_cast<size_t>(std::countr_zero(m)) * w.local_bytes;
    std::fill(flags + first, flags + (holds_stack ? stack_at : end), 0);
    if (holds_stack) std::fill(flags + stack_end, flags + end, 0);
  }
}
// Copies `from` to `to` for the lanes of Warp::mask; the bases are those of framed local memory on either side.
void copy(Warp& w, const Slot& from, uint32_t from_base, const Slot& to, uint32_t to_base) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    std::memmove(slot_bytes(w, to, to_base, l), slot_bytes(w, from, from_base, l), std::min(from.bytes, to.bytes));
    copy_written(w, from, from_base, to, to_base, l);
  }
}

const CalledFunction* function_of(Warp& w, const Insn& i) {
  const Program& p = w.cta->program;
  if (i.target != kNone) return &p.functions[i.target];
  const uint64_t address = w.reg<uint64_t>(i.src[0])[std::countr_zero(w.mask)];
  const uint64_t index = (address - kFunctionWindow) / kFunctionStride;
  if (address < kFunctionWindow || index >= p.functions.size() || address % kFunctionStride ||
      p.functions[index].pc == kNone) {
    w.cta->fault("BOUND-01", i.place, "there is no function at the address that is called");
    return nullptr;
  }
  const CalledFunction& f = p.functions[index];
  if (f.params.size() != i.b || f.results.size() != i.a) {
    w.cta->fault("BOUND-01", i.place, "function " + f.name + " takes other arguments than this call gives");
    return nullptr;
  }
  return &f;
}

// Registers are saved whole; only the lanes that return get theirs back.
void save(Warp& w, const CalledFunction& f, std::vector<uint8_t>& to) {
  for (const CalledFunction::Register& r : f.registers)
    to.insert(to.end(), w.regs + r.at, w.regs + r.at + (r.bits == 1 ? 4 : size_t{32} * r.bits / 8));
}
void restore(Warp& w, const CalledFunction& f, const uint8_t* saved) {
  for (const CalledFunction::Register& r : f.registers) {
    if (r.bits == 1) {
      uint32_t bits = 0;
      std::memcpy(&bits, saved, sizeof bits);
      w.pred(r.at) = (w.pred(r.at) & ~w.mask) | (bits & w.mask);
      saved += sizeof bits;
      continue;
    }
    const size_t n = r.bits / 8;
    for (uint32_t m = w.mask; m; m &= m - 1) {
      const auto l = static_cast<size_t>(std::countr_zero(m));
      std::memcpy(w.regs + r.at + l * n, saved + l * n, n);
    }
    saved += 32 * n;
  }
}

}  // namespace

bool enter_function(Warp& w, Path& p, const Insn& i) {
  const Program& program = w.cta->program;
  const CalledFunction* f = function_of(w, i);
  if (!f) return false;
  const bool first = p.calls.function == kNone;
  const uint32_t top =
      first ? program.local_fixed : p.calls.local_base + program.functions[p.calls.function].frame_bytes;
  if (p.calls.depth + 1 > kMaxCallDepth || top + f->frame_bytes > w.local_bytes) {
    w.cta->fault("BOUND-01", i.place, "the stack of " + std::to_string(w.local_bytes - program.local_fixed) +
                                          " bytes a thread is full: calls are nested too deeply");
    return false;
  }
  auto frame = std::make_shared<Frame>();
  frame->call = p.pc, frame->caller = p.calls;
  // Arguments pass through local memory of the new frame or fixed memory; those in registers must not be overwritten
  // before they are saved.
  if (f->again) save(w, *f, frame->saved);
  if (program.stack_at != kNone)
    for (uint32_t l = 0; l < 32; ++l) frame->stack_taken[l] = static_cast<uint32_t>(stack_taken(w, l));
  forget_written(w, *f, top);
  undefine_unwritten(w, f, w.mask);
  for (size_t k = 0; k < f->params.size(); ++k)
    copy(w, program.slots[i.imm + i.a + k], p.calls.local_base, f->params[k], top);
  p.calls = {p.calls.depth + 1, static_cast<uint32_t>(f - program.functions.data()), top, std::move(frame)};
  p.pc = f->pc;
  return true;
}

void leave_function(Warp& w, Path& p) {
  const Program& program = w.cta->program;
  const std::shared_ptr<const Frame> frame = p.calls.frame;
  const Insn& call = program.code[frame->call];
  const CalledFunction& f = program.functions[p.calls.function];
  // Results in registers are held while the registers of an outer run of the same function come back.
  std::vector<std::array<uint64_t, 32>> held(f.results.size());
  for (size_t k = 0; k < f.results.size(); ++k)
    for (uint32_t l = 0; f.results[k].is_register && l < 32; ++l)
      std::memcpy(&held[k][l], slot_bytes(w, f.results[k], 0, l), std::min<size_t>(8, std::max(4u, f.results[k].bytes)));
  if (f.again) {
    restore(w, f, frame->saved.data());
    for (const CalledFunction::Register& r : f.registers)
      if (w.undefined) w.undefined->define(r.at, w.mask);
  }
  for (uint32_t m = program.stack_at == kNone ? 0 : w.mask; m; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    set_stack_taken(w, l, frame->stack_taken[l]);
  }
  for (size_t k = 0; k < f.results.size(); ++k) {
    const Slot& to = program.slots[call.imm + k];
    if (!f.results[k].is_register) {
      copy(w, f.results[k], p.calls.local_base, to, frame->caller.local_base);
      continue;
    }
    for (uint32_t m = w.mask; m; m &= m - 1) {
      const auto l = static_cast<uint32_t>(std::countr_zero(m));
      std::memcpy(slot_bytes(w, to, frame->caller.local_base, l), &held[k][l], std::min<size_t>(8, to.bytes));
      slot_defined(w, to, frame->caller.local_base, l);
    }
  }
  p.pc = frame->call + 1;
  p.calls = frame->caller;
}

}  // namespace tc::sim
