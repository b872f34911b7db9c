// Functions: which ones a kernel can reach, their formals, calls with their actuals. PTX ISA 9.7.12.5, 5.1.6, 7.1.
// A function that can be entered again before it returns (it reaches itself, or is called by address) has its local
// variables in a frame; all others have them at fixed places.
#include <cstring>

#include "sim/exec/builder.h"
#include "sim/exec/external.h"
#include "sim/exec/lanes.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

Step frame_place(Warp& w, const Insn& i) {
  const uint64_t at = i.imm + w.path->calls.local_base;
  write_lanes(w.mask, w.reg<uint64_t>(i.dst), [=](uint32_t) { return at; });
  return Step::next;
}

template <class Visit>
void each_instruction(const ptx::Block& block, Visit visit) {
  for (const ptx::Statement& s : block.body) {
    if (auto* i = std::get_if<ptx::Instruction>(&s.value)) visit(*i);
    if (auto* b = std::get_if<ptx::Block>(&s.value)) each_instruction(*b, visit);
  }
}

// The functions that a body names, in calls or as values.
void names_in(const Operand& o, std::vector<std::string>& out) {
  if (o.kind == Operand::Kind::name) out.push_back(o.name);
  for (const Operand& p : o.parts) names_in(p, out);
}

// Which functions can be entered again: those on a cycle of references.
std::vector<bool> reenterable(const std::vector<const ptx::Function*>& bodies,
                              const std::unordered_map<std::string, uint32_t>& index) {
  const size_t n = bodies.size();
  std::vector<std::vector<uint32_t>> uses(n);
  for (size_t f = 0; f < n; ++f) {
    if (!bodies[f]) continue;
    bool indirect = false;
    each_instruction(bodies[f]->body, [&](const ptx::Instruction& i) {
      std::vector<std::string> names;
      for (const Operand& o : i.operands) names_in(o, names);
      bool direct = false;
      for (const std::string& name : names)
        if (auto it = index.find(name); it != index.end()) uses[f].push_back(it->second), direct = true;
      indirect |= i.opcode.starts_with("call") && !direct;
    });
    for (uint32_t g = 0; g < n && indirect; ++g) uses[f].push_back(g);  // any function may be meant
  }
  std::vector<bool> again(n, false);
  for (uint32_t f = 0; f < n; ++f) {
    std::vector<bool> seen(n, false);
    std::vector<uint32_t> stack(uses[f]);
    while (!stack.empty() && !again[f]) {
      const uint32_t g = stack.back();
      stack.pop_back();
      if (g == f) again[f] = true;
      if (seen[g]) continue;
      seen[g] = true;
      stack.insert(stack.end(), uses[g].begin(), uses[g].end());
    }
  }
  return again;
}

}  // namespace

void Builder::declare_functions() {
  scopes_.emplace_back();
  std::unordered_map<std::string, uint32_t> index;
  for (const auto& item : module_.items) {
    auto* f = std::get_if<ptx::Function>(&item);
    if (!f || f->is_entry) continue;
    auto [it, fresh] = index.try_emplace(f->name, static_cast<uint32_t>(bodies_.size()));
    if (fresh) bodies_.push_back(nullptr), program_.functions.push_back({.name = f->name});
    if (f->has_body) bodies_[it->second] = f;
    Name n;
    n.kind = Name::Kind::function, n.address = it->second;
    scopes_[0][f->name] = n;
  }
  const std::vector<bool> again = reenterable(bodies_, index);
  for (size_t f = 0; f < bodies_.size(); ++f) program_.functions[f].again = again[f];
}

uint32_t Builder::frame_address(uint64_t address) {
  const uint32_t at = scratch(64);
  Insn& i = emit(frame_place);
  i.dst = at, i.imm = address;
  return at;
}

Slot Builder::declare_formal(const ptx::Variable& v) {
  const bool in_register = std::find(v.attributes.begin(), v.attributes.end(), "reg") != v.attributes.end();
  Name n;
  if (in_register) n.type = v.type, n.at = allocate(v.type), n.bytes = byte_size(v.type);
  else n = place_local(v);
  scopes_.back()[v.name] = n;
  if (in_register && v.type == Type::pred) unsupported_form("a predicate as a parameter of a function");
  return {in_register, n.framed, in_register ? n.at : static_cast<uint32_t>(n.address), n.bytes};
}

void Builder::decode_function(uint32_t index) {
  const ptx::Function& f = *bodies_[index];
  in_ = index;
  function_ = &f;
  insn_ = nullptr;
  scopes_.resize(1);
  scopes_.emplace_back();
  target_lists_.clear();
  program_.functions[index].pc = static_cast<uint32_t>(program_.code.size());
  program_.functions[index].local_first = program_.local_bytes;
  std::vector<Slot> params, results;
  for (const ptx::Variable& v : f.params) params.push_back(declare_formal(v));
  for (const ptx::Variable& v : f.results) results.push_back(declare_formal(v));
  program_.functions[index].params = std::move(params);
  program_.functions[index].results = std::move(results);
  block(f.body);
  if (!failed_) end_of_body();
  program_.functions[index].local_end = program_.local_bytes;
  in_ = kNone;
}

void Builder::decode_functions() {
  for (size_t k = 0; k < wanted_.size() && !failed_; ++k) {
    const uint32_t f = wanted_[k];
    if (program_.functions[f].pc == kNone && bodies_[f]) decode_function(f);
  }
}

void Builder::leave_function() { emit(nullptr).kind = in_ == kNone ? InsnKind::leave : InsnKind::ret; }

void Builder::branch_table(const Operand& index, const Operand& list) {
  const auto found = target_lists_.find(list.name);
  if (found == target_lists_.end() || found->second->directive != "branchtargets")
    return fail("'" + list.name + "' names no .branchtargets");
  std::vector<uint32_t> targets;
  for (const std::string& word : found->second->words) {
    if (word == ",") continue;
    const Name* n = find(word);
    if (!n || n->kind != Name::Kind::label) return fail("unknown label '" + word + "'");
    targets.push_back(n->at);
  }
  const uint32_t at = source(index, Type::u32);
  Insn& i = emit(nullptr);
  i.kind = InsnKind::branch_table;
  i.src[0] = at;
  i.list = this->list(targets), i.list_count = static_cast<uint32_t>(targets.size());
}

// The caller's side of an argument or result: a .param variable, a register, or a constant.
Slot Builder::actual(const Operand& o) {
  const Name* n = o.kind == Operand::Kind::name ? find(o.name) : nullptr;
  if (n && n->kind == Name::Kind::symbol && n->space == Space::local)
    return {false, n->framed, static_cast<uint32_t>(n->address), n->bytes};
  if (n && n->kind == Name::Kind::reg && n->type != Type::pred)
    return {true, false, n->at, row(n->type).bits <= 32 ? 4u : 8u};
  if (o.kind == Operand::Kind::integer || o.kind == Operand::Kind::real)
    return {true, false, source(o, Type::b64), 8};
  fail("'" + o.name + "' cannot be an argument of a call");
  return {};
}

// call (results), function, (arguments): the function by name, or by its address and a prototype.
void Builder::call(const ptx::Instruction& in) {
  std::vector<Operand> results, arguments;
  size_t at = 0;
  if (at < in.operands.size() && in.operands[at].kind == Operand::Kind::group) results = in.operands[at++].parts;
  if (at >= in.operands.size()) return fail("a call needs a function");
  const Operand& callee = in.operands[at++];
  if (at < in.operands.size() && in.operands[at].kind == Operand::Kind::group) arguments = in.operands[at++].parts;
  if (results.size() > UINT8_MAX || arguments.size() > UINT8_MAX) return unsupported_form("a call of this many arguments");
  std::vector<Slot> given, wanted;
  for (const Operand& o : results) wanted.push_back(actual(o));
  for (const Operand& o : arguments) given.push_back(actual(o));
  if (failed_) return;

  const Name* n = find(callee.name);
  uint32_t target = kNone, address = kNone;
  if (n && n->kind == Name::Kind::function) {
    target = static_cast<uint32_t>(n->address);
    const ptx::Function* f = bodies_[target];
    if (!f) return call_external(callee.name, wanted, given);
    if (results.size() != f->results.size() || arguments.size() != f->params.size())
      return fail("wrong number of arguments of " + callee.name);
    for (size_t k = 0; k < given.size(); ++k)
      if (!given[k].is_register && given[k].bytes != f->params[k].bytes())
        return fail("argument " + std::to_string(k) + " of " + callee.name + " has " + std::to_string(given[k].bytes) +
                    " bytes, its parameter " + std::to_string(f->params[k].bytes()));
    wanted_.push_back(target);
  } else {
    address = source(callee, Type::u64);
  }
  const auto first = static_cast<uint32_t>(program_.slots.size());
  program_.slots.insert(program_.slots.end(), wanted.begin(), wanted.end());
  program_.slots.insert(program_.slots.end(), given.begin(), given.end());
  Insn& i = emit(nullptr);
  i.kind = InsnKind::call;
  i.target = target, i.src[0] = address;
  i.imm = first, i.a = static_cast<uint8_t>(wanted.size()), i.b = static_cast<uint8_t>(given.size());
}

void Builder::call_external(const std::string& name, const std::vector<Slot>& results,
                            const std::vector<Slot>& arguments) {
  const ExternalFunction* f = external_function(name);
  if (!f) return unsupported_form("a call of the external function " + name);
  program_.orders_ctas |= f->orders_ctas;
  if (arguments.size() != f->arguments || results.size() > 1) return fail("wrong number of arguments of " + name);
  const auto first = static_cast<uint32_t>(program_.slots.size());
  program_.slots.insert(program_.slots.end(), arguments.begin(), arguments.end());
  program_.slots.insert(program_.slots.end(), results.begin(), results.end());
  Insn& i = emit(f->exec);
  i.imm = first, i.a = static_cast<uint8_t>(arguments.size()), i.b = static_cast<uint8_t>(results.size());
}

}  // namespace tc::sim
