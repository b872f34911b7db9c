#include "sim/exec/builder.h"

#include <cstring>

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Type;

struct OpRow {
  std::string_view mnemonic;
  void (*build)(Builder&);
};
constexpr OpRow kOps[] = {
#define PTX_OP(name, mnemonic, family, version, sm, section) {mnemonic, build_##family},
#include "specs/ptx_op.def"
#undef PTX_OP
};

// The longest row that is a dotted prefix of the opcode.
const OpRow* find_op(std::string_view opcode) {
  const OpRow* best = nullptr;
  for (const OpRow& r : kOps) {
    const bool prefix =
        opcode.starts_with(r.mnemonic) && (opcode.size() == r.mnemonic.size() || opcode[r.mnemonic.size()] == '.');
    if (prefix && (!best || r.mnemonic.size() > best->mnemonic.size())) best = &r;
  }
  return best;
}

}  // namespace

// ---------------------------------------------------------------- modifiers

Modifiers::Modifiers(std::string_view rest) {
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('.', 1), rest.size());
    words_.push_back(rest.substr(1, end - 1));
    rest.remove_prefix(end);
  }
}
bool Modifiers::take(std::string_view word) {
  auto it = std::find(words_.begin(), words_.end(), word);
  if (it == words_.end()) return false;
  words_.erase(it);
  return true;
}
std::optional<Type> Modifiers::take_type() {
  for (auto it = words_.begin(); it != words_.end(); ++it)
    if (auto t = ptx::type_named(*it)) {
      words_.erase(it);
      return t;
    }
  return std::nullopt;
}
std::optional<std::string_view> Modifiers::take_any() {
  if (words_.empty()) return std::nullopt;
  const std::string_view w = words_.front();
  words_.erase(words_.begin());
  return w;
}
std::string Modifiers::left() const {
  std::string out;
  for (std::string_view w : words_) out.append(".").append(w);
  return out;
}

Builder::Builder(const ptx::Module& module, GlobalMemory& global, Program& program)
    : module_(module), global_(global), program_(program) {
  if (!module.target.empty()) target_ = parse_ptx_target(module.target.front());
  for (char c : module.version)  // one digit on each side of the dot
    if (c != '.') version_ = 10 * version_ + static_cast<uint32_t>(c - '0');
}

void Builder::fail(const std::string& message) {
  if (failed_) return;
  failed_ = true;
  error_ = input_error(insn_ ? insn_->where.range : function_ ? function_->where.range : SourceRange{}, message);
}
void Builder::refuse(std::string_view rule, const std::string& message) {
  if (failed_) return;
  fail(message);
  error_.rule = rule;
}
void Builder::need_target(TargetNeed need, std::string_view rule) {
  if (!satisfies(target_, need))
    refuse(rule, insn_->opcode + " is not available on .target " + module_.target.front());
}
void Builder::unsupported_form(const std::string& what) {
  if (failed_) return;
  fail(what);
  error_.kind = DiagKind::unsupported;
  error_.message = "unsupported: " + what;
}

Insn& Builder::emit(ExecFn exec) {
  Insn i;
  i.exec = exec;
  const auto [row, fresh] = passings_.try_emplace(insn_->opcode);
  if (fresh) row->second = passing_of(insn_->opcode);
  i.passing = row->second.passing, i.result = row->second.result;
  i.place = static_cast<uint32_t>(program_.places.size() - 1);
  if (!insn_->guard.empty()) {
    Operand guard;
    guard.name = insn_->guard;
    bool ignored = false;
    i.guard = predicate(guard, ignored);
    i.guard_negated = insn_->guard_negated;
  }
  program_.code.push_back(i);
  return program_.code.back();
}

// ---------------------------------------------------------------- statements

void Builder::declare_labels(const ptx::Block& block) {
  for (const ptx::Statement& s : block.body)
    if (auto* l = std::get_if<ptx::Label>(&s.value)) {
      Name n;
      n.kind = Name::Kind::label, n.at = static_cast<uint32_t>(labels_.size());
      labels_.push_back(kNone);
      scopes_.back()[l->name] = n;
    }
  // A .branchtargets, .calltargets or .callprototype follows its label.
  for (size_t k = 0; k + 1 < block.body.size(); ++k)
    if (auto* l = std::get_if<ptx::Label>(&block.body[k].value))
      if (auto* t = std::get_if<ptx::TargetList>(&block.body[k + 1].value)) target_lists_[l->name] = t;
}

void Builder::block(const ptx::Block& b) {
  scopes_.emplace_back();
  declare_labels(b);
  for (const ptx::Statement& s : b.body)
    if (!failed_) statement(s);
  scopes_.pop_back();
}

void Builder::statement(const ptx::Statement& s) {
  if (auto* i = std::get_if<ptx::Instruction>(&s.value)) instruction(*i);
  else if (auto* l = std::get_if<ptx::Label>(&s.value)) label(*l);
  else if (auto* r = std::get_if<ptx::RegisterDecl>(&s.value)) registers(*r);
  else if (auto* v = std::get_if<ptx::Variable>(&s.value)) local_variable(*v);
  else if (auto* b = std::get_if<ptx::Block>(&s.value)) block(*b);
}

void Builder::label(const ptx::Label& l) {
  const Name* n = find(l.name);
  if (n->kind != Name::Kind::label) {
    if (!failed_) error_ = input_error(l.where.range, "'" + l.name + "' is a label and something else");
    failed_ = true;
    return;
  }
  labels_[n->at] = static_cast<uint32_t>(program_.code.size());
}

// A vector register stands for {v.x, v.y ...}.
void Builder::expand_vectors(Operand& o) const {
  for (Operand& part : o.parts) expand_vectors(part);
  const Name* n = o.kind == Operand::Kind::name ? find(o.name) : nullptr;
  if (!n || n->kind != Name::Kind::reg || n->vector == 1) return;
  constexpr std::string_view kMembers[] = {".x", ".y", ".z", ".w"};
  Operand vector;
  vector.kind = Operand::Kind::vector, vector.where = o.where;
  for (uint32_t m = 0; m < n->vector; ++m) {
    Operand member = o;
    member.name += kMembers[m];
    vector.parts.push_back(std::move(member));
  }
  o = std::move(vector);
}

void Builder::instruction(const ptx::Instruction& original) {
  ptx::Instruction in = original;
  for (Operand& o : in.operands) expand_vectors(o);
  insn_ = &in;
  const OpRow* op = find_op(in.opcode);
  if (!op) return unsupported_form("instruction " + in.opcode);
  Place place{ptx::places(module_, *function_, in), in.where.range, ptx::print(in)};
  program_.places.push_back(std::move(place));
  Modifiers mods(std::string_view(in.opcode).substr(op->mnemonic.size()));
  mods_ = &mods;
  mnemonic_ = op->mnemonic;
  program_.uses_wgmma |= mnemonic_.starts_with("wgmma");
  judge(std::string_view(in.opcode).substr(op->mnemonic.size()));
  if (failed_) return;
  op->build(*this);
  if (!failed_ && !mods.left().empty()) unsupported_form("modifier " + mods.left() + " in " + in.opcode);
  insn_ = &original;
}

// What specs/ptx_form.def says of the opcode, looked up once each.
void Builder::judge(std::string_view modifiers) {
  const auto [it, fresh] = judged_.try_emplace(insn_->opcode);
  if (fresh) it->second = judge_form(mnemonic_, modifiers);
  const FormVerdict& form = it->second;
  if (!form.has_rows) return;
  if (!form.unknown.empty()) return unsupported_form("modifier ." + form.unknown + " in " + insn_->opcode);
  if (!form.fits) return fail("there is no form " + insn_->opcode);
  if (!satisfies(target_, {form.sm, TargetFeature::any}))
    return fail(insn_->opcode + " needs .target sm_" + std::to_string(form.sm) + " or higher");
  if (version_ < form.version)
    fail(insn_->opcode + " needs .version " + std::to_string(form.version / 10) + "." + std::to_string(form.version % 10));
}

void Builder::branch(const Operand& label) {
  const Name* n = label.kind == Operand::Kind::name ? find(label.name) : nullptr;
  if (!n || n->kind != Name::Kind::label) return fail("unknown label '" + label.name + "'");
  const uint32_t target = n->at;
  Insn& i = emit(nullptr);
  i.kind = InsnKind::branch;
  i.target = target;
}

void Builder::patch_branches() {
  auto patch = [&](uint32_t& target) {
    target = labels_[target];
    assert(target != kNone && "every label of a body has a place");
  };
  for (Insn& i : program_.code) {
    if (i.kind == InsnKind::branch) patch(i.target);
    if (i.kind == InsnKind::branch_table)
      for (uint32_t k = 0; k < i.list_count; ++k) patch(program_.lists[i.list + k]);
  }
}

// Falling off the end returns.
void Builder::end_of_body() {
  const ptx::Instruction* const last = insn_;
  ptx::Instruction end;
  end.opcode = "ret";
  end.where = function_->where;
  insn_ = &end;
  program_.places.push_back({{function_->where.range}, function_->where.range, "ret;"});
  leave_function();
  insn_ = last;
}

void Builder::initial_registers() {
  std::vector<uint8_t>& image = program_.initial_registers;
  image.assign(program_.register_bytes, 0);
  for (const Program::Constant& k : program_.constants) {
    const uint32_t n = k.bits == 1 ? 1 : 32, bytes = k.bits == 1 ? 4 : k.bits / 8;
    const uint64_t v = k.bits == 1 ? (k.value ? ~0u : 0) : k.value;
    for (uint32_t l = 0; l < n; ++l) std::memcpy(image.data() + k.at + l * bytes, &v, bytes);
  }
}

Status Builder::build(const ptx::Function& entry, uint32_t dynamic_smem_bytes, uint32_t block_threads) {
  function_ = &entry;
  program_.name = entry.name;
  declare_functions();
  declare_module();
  for (const auto& item : module_.items)
    if (auto* f = std::get_if<ptx::Function>(&item); f && (f == &entry || !f->is_entry)) collect_shared(f->body);
  finish_shared(dynamic_smem_bytes);
  fill_addresses();
  declare_params(entry);
  launch_directives(entry, block_threads);
  if (!failed_) block(entry.body);
  if (!failed_) end_of_body();
  decode_functions();
  if (failed_) return error_;
  patch_branches();
  program_.local_fixed = (program_.local_bytes + 15) / 16 * 16;
  const bool stack = std::any_of(program_.functions.begin(), program_.functions.end(),
                                 [](const CalledFunction& f) { return f.again && f.pc != kNone; });
  program_.local_bytes = program_.local_fixed + (stack ? kStackBytes : 0);
  find_joins(program_);
  note_wgmma_operands(program_);
  initial_registers();
  return {};
}

Result<Program> build_program(const ptx::Module& module, const ptx::Function& entry, GlobalMemory& global,
                              uint32_t dynamic_smem_bytes, uint32_t block_threads) {
  Program program;
  Status s = Builder(module, global, program).build(entry, dynamic_smem_bytes, block_threads);
  if (!s.ok()) return s.error();
  return program;
}

}  // namespace tc::sim
