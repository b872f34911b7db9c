#include "sim/exec/builder.h"

#include <bit>
#include <cstring>

#include "runtime/dtype.h"

namespace tc::sim {
namespace {

constexpr uint64_t kGridWorkspaceBytes = 64;

using ptx::Operand;
using ptx::Space;
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

struct SpecialRow {
  std::string_view name;
  Special special;
};
constexpr SpecialRow kSpecials[] = {
    {"%tid.x", Special::tid_x},
    {"%tid.y", Special::tid_y},
    {"%tid.z", Special::tid_z},
    {"%ntid.x", Special::ntid_x},
    {"%ntid.y", Special::ntid_y},
    {"%ntid.z", Special::ntid_z},
    {"%ctaid.x", Special::ctaid_x},
    {"%ctaid.y", Special::ctaid_y},
    {"%ctaid.z", Special::ctaid_z},
    {"%nctaid.x", Special::nctaid_x},
    {"%nctaid.y", Special::nctaid_y},
    {"%nctaid.z", Special::nctaid_z},
    {"%laneid", Special::laneid},
    {"%warpid", Special::warpid},
    {"%nwarpid", Special::nwarpid},
    {"%smid", Special::smid},
    {"%nsmid", Special::nsmid},
    {"%gridid", Special::gridid},
    {"%lanemask_eq", Special::lanemask_eq},
    {"%lanemask_le", Special::lanemask_le},
    {"%lanemask_lt", Special::lanemask_lt},
    {"%lanemask_ge", Special::lanemask_ge},
    {"%lanemask_gt", Special::lanemask_gt},
    {"%cluster_ctarank", Special::cluster_ctarank},
    {"%cluster_nctarank", Special::cluster_nctarank},
    {"%cluster_ctaid.x", Special::cluster_ctaid_x},
    {"%cluster_ctaid.y", Special::cluster_ctaid_y},
    {"%cluster_ctaid.z", Special::cluster_ctaid_z},
    {"%cluster_nctaid.x", Special::cluster_nctaid_x},
    {"%cluster_nctaid.y", Special::cluster_nctaid_y},
    {"%cluster_nctaid.z", Special::cluster_nctaid_z},
    {"%clusterid.x", Special::clusterid_x},
    {"%clusterid.y", Special::clusterid_y},
    {"%clusterid.z", Special::clusterid_z},
    {"%nclusterid.x", Special::nclusterid_x},
    {"%nclusterid.y", Special::nclusterid_y},
    {"%nclusterid.z", Special::nclusterid_z},
    {"%is_explicit_cluster", Special::is_explicit_cluster},
    {"%dynamic_smem_size", Special::dynamic_smem_size},
    {"%total_smem_size", Special::total_smem_size},
};

uint32_t slot_bits(Type t) { return t == Type::pred ? 1 : row(t).bits <= 32 ? 32 : row(t).bits; }

// A literal as the bits of a type: 0f3F800000 for .f16 is 0x3C00, 1.5 for .f32 is 0x3FC00000, 2 for .f32 is 2.0.
uint64_t literal_bits(const Operand& o, Type type) {
  if (o.kind == Operand::Kind::integer) {
    if (type == Type::f32 || type == Type::f64) {
      const double v = static_cast<double>(static_cast<int64_t>(o.bits));
      return type == Type::f64 ? std::bit_cast<uint64_t>(v) : std::bit_cast<uint32_t>(static_cast<float>(v));
    }
    return row(type).bits >= 64 ? o.bits : o.bits & ((uint64_t{1} << row(type).bits) - 1);
  }
  const bool single = o.type == Type::f32;
  if (!is_real(type)) return o.bits;  // untyped: the bits as they are
  const double v = single ? std::bit_cast<float>(static_cast<uint32_t>(o.bits)) : std::bit_cast<double>(o.bits);
  switch (type) {
    case Type::f64: return std::bit_cast<uint64_t>(v);
    case Type::f16: return runtime::float_to_half(static_cast<float>(v));
    case Type::bf16: return runtime::float_to_bf16(static_cast<float>(v));
    default: return std::bit_cast<uint32_t>(static_cast<float>(v));
  }
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

// ---------------------------------------------------------------- names

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

const Builder::Name* Builder::find(const std::string& name) const {
  for (size_t i = scopes_.size(); i-- > 0;)
    if (auto it = scopes_[i].find(name); it != scopes_[i].end()) return &it->second;
  return nullptr;
}

uint32_t Builder::allocate(Type type) {
  if (type == Type::pred) {  // sixteen predicates share 64 bytes
    if (predicate_bytes_left_ == 0)
      predicate_next_ = program_.register_bytes, program_.register_bytes += 64, predicate_bytes_left_ = 64;
    predicate_bytes_left_ -= 4;
    predicate_next_ += 4;
    if (current()) current()->registers.push_back({predicate_next_ - 4, 1});
    return predicate_next_ - 4;
  }
  const uint32_t at = program_.register_bytes;
  program_.register_bytes += 32 * slot_bits(type) / 8;
  if (current()) current()->registers.push_back({at, slot_bits(type)});
  return at;
}

uint32_t Builder::scratch(uint32_t bits) {
  return allocate(bits == 1 ? Type::pred : bits == 64 ? Type::b64 : Type::b32);
}

uint32_t Builder::constant(uint32_t bits, uint64_t value) {
  auto [it, fresh] = constants_.try_emplace({bits, value}, 0);
  if (fresh) {
    it->second = scratch(bits);
    program_.constants.push_back({it->second, bits, value});
  }
  return it->second;
}

uint32_t Builder::shared_constant(uint32_t bits, uint64_t address) {
  auto [it, fresh] = shared_constants_.try_emplace({bits, address}, 0);
  if (fresh) {
    it->second = scratch(bits);
    program_.constants.push_back({it->second, bits, address, true});
  }
  return it->second;
}

uint32_t Builder::special(const std::string& name, Type type, bool& known) {
  known = false;
  const bool wide = row(type).bits == 64;
  for (const SpecialRow& s : kSpecials) {
    if (s.name != name) continue;
    known = true;
    auto [it, fresh] = specials_.try_emplace(name + (wide ? "/64" : ""), 0);
    if (fresh) {
      it->second = scratch(wide ? 64 : 32);
      program_.specials.push_back({it->second, s.special, wide});
    }
    return it->second;
  }
  return kNone;
}

// Special registers that are the same in every thread: no profiler counts, no graph runs. Of the environment what a
// cooperative launch sets up: %envreg1 and %envreg2 are the upper and lower half of the address of a zeroed workspace,
// where the barrier of the grid counts (cooperative_groups/details/driver_abi.h). The system's part of shared memory is
// what lies below the first allocation.
std::optional<uint64_t> Builder::fixed_special(std::string_view name) {
  if (name == "%envreg1" || name == "%envreg2") {
    if (!workspace_) workspace_ = global_.allocate("workspace of the grid", kGridWorkspaceBytes).address;
    return name == "%envreg1" ? workspace_ >> 32 : workspace_ & UINT32_MAX;
  }
  if (name.starts_with("%envreg") || name.starts_with("%pm") || name == "%current_graph_exec") return 0;
  if (name == "%reserved_smem_offset_begin" || name == "%reserved_smem_offset_0" || name == "%reserved_smem_offset_1") return 0;
  if (name == "%reserved_smem_offset_end" || name == "%reserved_smem_offset_cap") return kSharedStart;
  if (name == "%aggr_smem_size") return program_.shared_end;
  return std::nullopt;
}

const Operand& Builder::operand(size_t i) {
  static const Operand none;
  if (i < insn_->operands.size()) return insn_->operands[i];
  fail("too few operands of " + insn_->opcode);
  return none;
}

void Builder::expect_operands(size_t least, size_t most) {
  if (operand_count() < least || operand_count() > most) fail("wrong number of operands of " + insn_->opcode);
}

void Builder::emit_typed(ExecFn exec, Type result, const std::vector<Type>& sources) {
  expect_operands(sources.size() + 1, sources.size() + 1);
  if (!exec) return unsupported_form(insn_->opcode);
  std::array<uint32_t, 4> src{kNone, kNone, kNone, kNone};
  assert(sources.size() <= src.size() && "an instruction of this kind has up to four sources");
  const uint32_t dst = destination(0, result);
  for (size_t k = 0; k < sources.size(); ++k) src[k] = source(k + 1, sources[k]);
  Insn& i = emit(exec);
  i.dst = dst, i.src = src;
}

std::optional<uint64_t> Builder::literal(const Operand& o) const {
  if (o.kind == Operand::Kind::integer) return o.bits;
  return std::nullopt;
}
std::optional<Type> Builder::register_type(const Operand& o) const {
  const Name* n = o.kind == Operand::Kind::name ? find(o.name) : nullptr;
  if (n && n->kind == Name::Kind::reg) return n->type;
  return std::nullopt;
}
std::optional<Space> Builder::symbol_space(const Operand& o) const {
  const Name* n = find(o.name);
  if (n && n->kind == Name::Kind::symbol) return n->space;
  return std::nullopt;
}

uint32_t Builder::source(const Operand& o, Type type) {
  if (o.kind == Operand::Kind::integer || o.kind == Operand::Kind::real)
    return constant(slot_bits(type) == 64 ? 64 : 32, literal_bits(o, type));
  if (o.kind != Operand::Kind::name) return fail("a register or a literal is expected in " + insn_->opcode), 0;
  const Name* n = find(o.name);
  if (!n) {
    for (const auto& item : module_.items)
      if (auto* f = std::get_if<ptx::Function>(&item); f && f->is_entry && f->name == o.name)
        return unsupported_form("the address of the kernel " + o.name + " (launches from a kernel)"), 0;
    bool known = false;
    const uint32_t at = special(o.name, type, known);
    if (known) return at;
    if (const auto fixed = fixed_special(o.name)) return constant(slot_bits(type) == 64 ? 64 : 32, *fixed);
    if (o.name == "WARP_SZ") return constant(slot_bits(type), 32);
    return fail("unknown name '" + o.name + "'"), 0;
  }
  if (n->kind == Name::Kind::function) {
    wanted_.push_back(static_cast<uint32_t>(n->address));
    return constant(slot_bits(type), kFunctionWindow + kFunctionStride * n->address);
  }
  if (n->kind == Name::Kind::symbol) {
    const uint64_t at = n->address + static_cast<uint64_t>(o.offset);
    if (n->framed) return frame_address(at);
    const uint32_t bits = slot_bits(type) == 64 ? 64 : 32;
    return n->space == Space::shared ? shared_constant(bits, at) : constant(bits, at);
  }
  if (n->kind != Name::Kind::reg) return fail("'" + o.name + "' is no value"), 0;
  if (slot_bits(n->type) != slot_bits(type))
    return fail("register " + o.name + " of type ." + std::string(row(n->type).name) + " in " + insn_->opcode), 0;
  return n->at;
}

uint32_t Builder::destination(const Operand& o, Type type) {
  if (o.kind == Operand::Kind::sink) return allocate(type);
  const Name* n = o.kind == Operand::Kind::name ? find(o.name) : nullptr;
  if (!n || n->kind != Name::Kind::reg) return fail("a register is expected as the destination of " + insn_->opcode), 0;
  return source(o, type);
}

uint32_t Builder::data_register(const Operand& o, bool& wide) {
  if (o.kind == Operand::Kind::sink) return wide = false, allocate(Type::b32);
  const auto type = register_type(o);
  if (!type) return fail("a register is expected in " + insn_->opcode), 0;
  if (*type == Type::pred || row(*type).bits > 64)
    return fail("register " + o.name + " cannot be used in " + insn_->opcode), 0;
  wide = slot_bits(*type) == 64;
  return find(o.name)->at;
}

uint32_t Builder::predicate(const Operand& o, bool& negated) {
  negated = o.negated;
  if (o.kind == Operand::Kind::sink) return allocate(Type::pred);
  if (o.kind == Operand::Kind::integer) return constant(1, o.bits != 0);
  const Name* n = o.kind == Operand::Kind::name ? find(o.name) : nullptr;
  if (!n || n->kind != Name::Kind::reg || n->type != Type::pred)
    return fail("a predicate is expected in " + insn_->opcode), 0;
  return n->at;
}

AddressOperand Builder::address(const Operand& o) {
  AddressOperand a;
  if (o.kind != Operand::Kind::address) return fail("an address is expected in " + insn_->opcode), a;
  a.displacement = static_cast<uint64_t>(o.offset);
  if (o.name.empty()) return a.displacement += o.bits, a;
  const Name* n = find(o.name);
  if (!n) return fail("unknown name '" + o.name + "'"), a;
  if (n->kind == Name::Kind::symbol && n->space == Space::shared) return a.base = shared_constant(32, n->address), a;
  if (n->kind == Name::Kind::symbol && n->framed) return a.base = frame_address(n->address), a.wide = true, a;
  if (n->kind == Name::Kind::symbol) return a.displacement += n->address, a;
  if (n->kind != Name::Kind::reg || n->type == Type::pred) return fail("'" + o.name + "' is no address"), a;
  a.base = n->at;
  a.wide = slot_bits(n->type) == 64;
  return a;
}

uint32_t Builder::list(const std::vector<uint32_t>& registers) {
  const auto at = static_cast<uint32_t>(program_.lists.size());
  program_.lists.insert(program_.lists.end(), registers.begin(), registers.end());
  return at;
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

// ---------------------------------------------------------------- declarations

void Builder::declare_module() {
  scopes_.emplace_back();
  for (const auto& item : module_.items) {
    if (auto* v = std::get_if<ptx::Variable>(&item)) {
      if (v->space == Space::shared) declare_shared(*v);
      else declare_global(*v);
    }
  }
}

// A variable of global or constant memory, with its initial bytes; addresses among them are filled in later.
void Builder::declare_global(const ptx::Variable& v) {
  std::vector<uint8_t> bytes(v.bytes());
  const uint32_t element = byte_size(v.type);
  for (size_t i = 0; i < v.values.size() && (i + 1) * element <= bytes.size(); ++i) {
    if (v.values[i].kind == Operand::Kind::name) {
      addresses_.push_back({&v, i});
      continue;
    }
    const uint64_t bits = literal_bits(v.values[i], v.type);
    std::memcpy(bytes.data() + i * element, &bits, element);
  }
  Name n;
  n.kind = Name::Kind::symbol, n.space = v.space;
  if (v.space == Space::constant) {
    auto& c = program_.const_bytes;
    c.resize((c.size() + v.alignment() - 1) / v.alignment() * v.alignment());
    n.address = c.size();
    c.insert(c.end(), bytes.begin(), bytes.end());
  } else {
    const Allocation& a = global_.allocate(v.name, bytes.size());
    n.address = a.address;
    if (!bytes.empty()) std::memcpy(a.host, bytes.data(), bytes.size());
  }
  scopes_[0][v.name] = n;
}

namespace {
uint64_t generic_window(Space space) {
  switch (space) {
    case Space::shared: return kSharedWindow;
    case Space::local: return kLocalWindow;
    case Space::param: return kParamWindow;
    case Space::constant: return kConstWindow;
    case Space::generic:
    case Space::global: return 0;
  }
  return 0;
}
}  // namespace

// Addresses of variables and functions in initial values, once all have their place.
void Builder::fill_addresses() {
  for (const auto& [v, i] : addresses_) {
    const Operand& o = v->values[i];
    const Name* n = find(o.name);
    if (!n || (n->kind != Name::Kind::symbol && n->kind != Name::Kind::function))
      return fail("'" + o.name + "' in the initial value of " + v->name + " has no address");
    uint64_t value = n->address + static_cast<uint64_t>(o.offset);
    if (n->kind == Name::Kind::function) {
      wanted_.push_back(static_cast<uint32_t>(n->address));
      value = kFunctionWindow + kFunctionStride * n->address;
    } else if (o.generic) {
      value += generic_window(n->space);
    }
    if (o.mask) value = (value & o.mask) >> std::countr_zero(o.mask);
    const uint32_t element = byte_size(v->type);
    const Name& variable = *find(v->name);
    uint8_t* to = v->space == Space::constant ? program_.const_bytes.data() + variable.address
                                              : global_.find(variable.address, v->bytes());
    if (to) std::memcpy(to + i * element, &value, element);
  }
}

void Builder::declare_shared(const ptx::Variable& v) {
  const bool dynamic = v.bytes() == 0;
  if (dynamic) return dynamic_.push_back(&v);
  const uint32_t at = (program_.shared_end + v.alignment() - 1) / v.alignment() * v.alignment();
  program_.shared_end = at + static_cast<uint32_t>(v.bytes());
  shared_[v.name] = {at, static_cast<uint32_t>(v.bytes())};
  program_.shared.push_back({v.name, at, static_cast<uint32_t>(v.bytes())});
}

void Builder::collect_shared(const ptx::Block& block) {
  for (const ptx::Statement& s : block.body) {
    if (auto* v = std::get_if<ptx::Variable>(&s.value); v && v->space == Space::shared && !shared_.contains(v->name))
      declare_shared(*v);
    if (auto* b = std::get_if<ptx::Block>(&s.value)) collect_shared(*b);
  }
}

// Dynamic shared memory starts behind the static, aligned as its declarations ask (at least 16 bytes).
void Builder::finish_shared(uint32_t dynamic_smem_bytes) {
  uint32_t align = 16;
  for (const ptx::Variable* v : dynamic_) align = std::max(align, v->alignment());
  const uint32_t at = (program_.shared_end + align - 1) / align * align;
  if (!dynamic_.empty() || dynamic_smem_bytes) program_.shared_end = at + dynamic_smem_bytes;
  for (const ptx::Variable* v : dynamic_) shared_[v->name] = {at, dynamic_smem_bytes};
  if (!dynamic_.empty()) program_.shared.push_back({dynamic_.front()->name, at, dynamic_smem_bytes});
  for (const auto& [name, where] : shared_) {
    Name n;
    n.kind = Name::Kind::symbol, n.space = Space::shared, n.address = where.first;
    scopes_[0][name] = n;
  }
}

void Builder::declare_params(const ptx::Function& entry) {
  scopes_.emplace_back();
  for (const ptx::Variable& p : entry.params) {
    const uint32_t at = (program_.param_bytes + p.alignment() - 1) / p.alignment() * p.alignment();
    program_.param_bytes = at + static_cast<uint32_t>(p.bytes());
    program_.params.push_back({p.name, at, static_cast<uint32_t>(p.bytes())});
    Name n;
    n.kind = Name::Kind::symbol, n.space = Space::param, n.address = at;
    scopes_.back()[p.name] = n;
  }
}

// A variable of the function being decoded: at a fixed place of the thread's local memory, or in its frame.
Builder::Name Builder::place_local(const ptx::Variable& v) {
  CalledFunction* f = current();
  const bool framed = f && f->again;
  uint32_t& end = framed ? f->frame_bytes : program_.local_bytes;
  const uint32_t align = std::max(v.alignment(), 8u);
  Name n;
  n.kind = Name::Kind::symbol, n.space = Space::local, n.framed = framed;
  n.address = (end + align - 1) / align * align;
  n.bytes = static_cast<uint32_t>(v.bytes());
  end = (static_cast<uint32_t>(n.address) + n.bytes + 15) / 16 * 16;
  return n;
}

void Builder::reserve_stack() {
  if (program_.stack_at != kNone) return;
  program_.stack_at = (program_.local_bytes + 15) / 16 * 16;
  program_.local_bytes = program_.stack_at + kStackHeader + kStackBytes;
}

void Builder::local_variable(const ptx::Variable& v) {
  if (v.space == Space::shared) return;  // placed already
  if (v.space != Space::local && v.space != Space::param)
    return unsupported_form("a variable in this state space inside a function");
  if (v.bytes() > (1u << 20)) return unsupported_form("a local variable of more than 1 MiB");
  scopes_.back()[v.name] = place_local(v);
}

void Builder::registers(const ptx::RegisterDecl& d) {
  constexpr std::string_view kMembers[] = {".x", ".y", ".z", ".w"}, kColours[] = {".r", ".g", ".b", ".a"};
  for (const auto& name : d.names) {
    program_.register_names.push_back({name.name, d.where.range});
    const auto names = static_cast<uint32_t>(program_.register_names.size() - 1);
    for (uint32_t k = 0; k < std::max(name.count, 1u); ++k) {
      const std::string whole = name.count ? name.name + std::to_string(k) : name.name;
      Name n;
      n.type = d.type;
      for (uint32_t m = 0; m < d.vector; ++m) {
        n.at = allocate(d.type);
        if (row(d.type).bits <= 64) program_.declared.push_back({n.at, names, name.count ? k : kNone});
        if (d.vector == 1) continue;
        scopes_.back()[whole + std::string(kMembers[m])] = n;
        scopes_.back()[whole + std::string(kColours[m])] = n;
      }
      n.vector = d.vector;
      scopes_.back()[whole] = n;
    }
    if (program_.register_bytes > (1u << 28)) return unsupported_form("this many registers");
  }
}

void Builder::launch_directives(const ptx::Function& entry, uint32_t block_threads) {
  uint64_t registers = 65536 / std::max(block_threads, 1u) / 8 * 8;
  bool limited = false, sized = false, resident = false;
  for (const ptx::Directive& d : entry.directives) {
    if (d.name == "maxnreg") registers = std::min<uint64_t>(registers, (d.values[0] + 7) / 8 * 8);
    limited |= d.name == "maxnreg", sized |= d.name == "maxntid" || d.name == "reqntid";
    resident |= d.name == "minnctapersm";
    uint64_t threads = 1;
    for (uint64_t v : d.values) threads *= v;
    const bool wrong =
        (d.name == "maxntid" && block_threads > threads) || (d.name == "reqntid" && block_threads != threads);
    if (wrong)
      fail("the launch has " + std::to_string(block_threads) + " threads, the kernel says ." + d.name + " " +
           std::to_string(threads));
  }
  program_.known_registers = limited || (sized && resident);
  program_.launch_registers = static_cast<uint32_t>(std::min<uint64_t>(registers, 255 / 8 * 8));
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
  else if (auto* l = std::get_if<ptx::Label>(&s.value))
    labels_[find(l->name)->at] = static_cast<uint32_t>(program_.code.size());
  else if (auto* r = std::get_if<ptx::RegisterDecl>(&s.value)) registers(*r);
  else if (auto* v = std::get_if<ptx::Variable>(&s.value)) local_variable(*v);
  else if (auto* b = std::get_if<ptx::Block>(&s.value)) block(*b);
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
