// Where variables, parameters and registers lie. PTX ISA 5.1, 5.4, 11.
//   .shared .align 16 .b8 a[20]; .shared .b32 b;   a at kSharedStart, b at kSharedStart + 20
// Fails: a variable in a state space or of a size that is not supported; a launch that the kernel's directives forbid.
#include <bit>
#include <cstring>

#include "sim/exec/builder.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Space;

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

}  // namespace tc::sim
