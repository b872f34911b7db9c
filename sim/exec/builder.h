// Decodes one kernel of a module and the functions that it may call into a Program: names to registers and addresses,
// one Insn a PTX instruction (family functions build_<family>), branches with their reconvergence points.
// Fails: input error (unknown name, wrong operand), unsupported (instruction, modifier), by range of the PTX.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "sim/machine/program.h"
#include "sim/ptx/module.h"
#include "specs/ptx_form.h"
#include "specs/ptx_target.h"

namespace tc::sim {

// The modifier words of an opcode, taken one by one; what is left over is unsupported.
class Modifiers {
 public:
  explicit Modifiers(std::string_view rest);
  bool take(std::string_view word);
  // The first word that is a type, in order of appearance.
  std::optional<ptx::Type> take_type();
  std::optional<std::string_view> take_any();  // whatever comes first
  std::string left() const;                    // ".x.y"

 private:
  std::vector<std::string_view> words_;
};

// A literal as the bits of a type: 0f3F800000 for .f16 is 0x3C00, 1.5 for .f32 is 0x3FC00000, 2 for .f32 is 2.0.
uint64_t literal_bits(const ptx::Operand& o, ptx::Type type);

// Base and displacement of a memory operand.
struct AddressOperand {
  uint32_t base = kNone;  // register, kNone: the displacement alone
  bool wide = false;      // the register has 64 bits
  uint64_t displacement = 0;
};

class Builder {
 public:
  Builder(const ptx::Module& module, GlobalMemory& global, Program& program);
  Status build(const ptx::Function& entry, uint32_t dynamic_smem_bytes, uint32_t block_threads);

  // ---- for the families
  const ptx::Instruction& insn() const { return *insn_; }
  const std::string& mnemonic() const { return mnemonic_; }  // the row's
  Modifiers& mods() { return *mods_; }
  size_t operand_count() const { return insn_->operands.size(); }
  const ptx::Operand& operand(size_t i);
  // Registers of a slot that fits the type; a literal becomes a constant.
  uint32_t source(const ptx::Operand& o, ptx::Type type);
  uint32_t source(size_t i, ptx::Type type) { return source(operand(i), type); }
  uint32_t destination(const ptx::Operand& o, ptx::Type type);
  uint32_t destination(size_t i, ptx::Type type) { return destination(operand(i), type); }
  // Any data register, 32 or 64 bits: for ld, st, cvt, whose registers may be wider than the type.
  uint32_t data_register(const ptx::Operand& o, bool& wide);
  uint32_t predicate(const ptx::Operand& o, bool& negated);
  uint32_t constant(uint32_t bits, uint64_t value);
  uint32_t shared_constant(uint32_t bits, uint64_t address);  // of the executing CTA
  uint32_t scratch(uint32_t bits);  // a register of the builder's own
  AddressOperand address(const ptx::Operand& o);
  std::optional<uint64_t> literal(const ptx::Operand& o) const;
  // The type of the register that an operand names, if it is one.
  std::optional<ptx::Type> register_type(const ptx::Operand& o) const;
  std::optional<ptx::Space> symbol_space(const ptx::Operand& o) const;
  uint32_t list(const std::vector<uint32_t>& registers);
  Insn& emit(ExecFn exec);
  void expect_operands(size_t least, size_t most);
  // One result and its sources, in this order; unsupported where there is no body.
  void emit_typed(ExecFn exec, ptx::Type result, const std::vector<ptx::Type>& sources);
  void unsupported_form(const std::string& what);
  void fail(const std::string& message);
  // The same with the rule that is broken.
  void refuse(std::string_view rule, const std::string& message);
  // Refuses the instruction where the module's target lacks what it needs.
  void need_target(TargetNeed need, std::string_view rule);
  PtxTarget target() const { return target_; }
  bool failed() const { return failed_; }
  Program& program() { return program_; }

  // ---- for control
  void branch(const ptx::Operand& label);
  void branch_table(const ptx::Operand& index, const ptx::Operand& list);
  void leave_function();
  void reserve_stack();  // of alloca
  void call(const ptx::Instruction& in);

 private:
  struct Name {
    enum class Kind : uint8_t { reg, symbol, label, function };
    Kind kind = Kind::reg;
    uint32_t at = 0;  // register offset, or label number
    ptx::Type type = ptx::Type::b32;
    uint32_t vector = 1;  // members of a vector register; they have names of their own: v.x, v.y ...
    ptx::Space space = ptx::Space::generic;
    uint64_t address = 0;     // of a symbol; index of a function
    uint32_t bytes = 0;       // of a variable
    bool framed = false;      // local memory of a function that can be entered again
  };
  using Scope = std::unordered_map<std::string, Name>;

  const Name* find(const std::string& name) const;
  uint32_t allocate(ptx::Type type);
  uint32_t special(const std::string& name, ptx::Type type, bool& known);
  void declare_module();
  void declare_global(const ptx::Variable& v);
  void fill_addresses();
  void declare_shared(const ptx::Variable& v);
  void collect_shared(const ptx::Block& block);
  void finish_shared(uint32_t dynamic_smem_bytes);
  void declare_params(const ptx::Function& entry);
  void declare_labels(const ptx::Block& block);
  void block(const ptx::Block& b);
  void statement(const ptx::Statement& s);
  void label(const ptx::Label& l);
  void registers(const ptx::RegisterDecl& d);
  void local_variable(const ptx::Variable& v);
  Name place_local(const ptx::Variable& v);
  uint32_t frame_address(uint64_t address);  // a register with the address of a framed variable
  void instruction(const ptx::Instruction& in);
  void expand_vectors(ptx::Operand& o) const;
  std::optional<uint64_t> fixed_special(std::string_view name);
  void judge(std::string_view modifiers);
  void end_of_body();
  void patch_branches();
  // ---- functions (builder_calls.cc)
  void declare_functions();
  void decode_functions();
  void decode_function(uint32_t index);
  Slot declare_formal(const ptx::Variable& v);
  Slot actual(const ptx::Operand& o);
  void call_external(const std::string& name, const std::vector<Slot>& results, const std::vector<Slot>& arguments);
  CalledFunction* current() { return in_ == kNone ? nullptr : &program_.functions[in_]; }
  void initial_registers();
  void launch_directives(const ptx::Function& entry, uint32_t block_threads);

  const ptx::Module& module_;
  PtxTarget target_;
  uint32_t version_ = 0;                                 // x 10
  std::unordered_map<std::string, FormVerdict> judged_;  // by opcode
  std::unordered_map<std::string, PassingRow> passings_;  // likewise
  GlobalMemory& global_;
  Program& program_;
  std::vector<Scope> scopes_;
  std::vector<const ptx::Function*> bodies_;  // of Program::functions; null: external
  std::vector<uint32_t> wanted_;              // functions to decode, in order of their first use
  uint32_t in_ = kNone;                       // the function being decoded; kNone: the kernel
  std::vector<uint32_t> labels_;              // label -> code index
  std::unordered_map<std::string, const ptx::TargetList*> target_lists_;  // of the body, by label
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> constants_, shared_constants_;
  std::map<std::string, uint32_t> specials_;
  std::unordered_map<std::string, std::pair<uint32_t, uint32_t>> shared_;  // name -> address, bytes
  std::vector<const ptx::Variable*> dynamic_;
  std::vector<std::pair<const ptx::Variable*, size_t>> addresses_;  // initial values that are addresses
  uint64_t workspace_ = 0;  // of the grid; 0: none is used
  uint32_t predicate_bytes_left_ = 0, predicate_next_ = 0;
  const ptx::Function* function_ = nullptr;
  const ptx::Instruction* insn_ = nullptr;
  std::string mnemonic_;
  Modifiers* mods_ = nullptr;
  bool failed_ = false;
  Diag error_;
};

// Decodes `entry`; module-scope variables are placed in `global`.
Result<Program> build_program(const ptx::Module& module, const ptx::Function& entry, GlobalMemory& global,
                              uint32_t dynamic_smem_bytes, uint32_t block_threads);

// Sets `join` of every branch to the immediate post-dominator (sim/exec/reconverge.cc).
void find_joins(Program& program);
// Bodies that note what wgmma uses (sim/exec/wgmma_fence.cc).
void note_wgmma_operands(Program& program);
// Sets `unwritten` of the program and its functions (sim/exec/unwritten_registers.cc).
void find_unwritten_registers(Program& program);

// ---- families: each decodes the instructions whose row names it
#define PTX_FAMILY(name) void build_##name(Builder& b);
PTX_FAMILY(arithmetic)
PTX_FAMILY(carry) PTX_FAMILY(integer) PTX_FAMILY(video) PTX_FAMILY(logic) PTX_FAMILY(real_function) PTX_FAMILY(compare) PTX_FAMILY(move)
    PTX_FAMILY(convert) PTX_FAMILY(load_store) PTX_FAMILY(nothing) PTX_FAMILY(cache_policy) PTX_FAMILY(atomic)
        PTX_FAMILY(warp) PTX_FAMILY(barrier) PTX_FAMILY(cluster_barrier) PTX_FAMILY(fence) PTX_FAMILY(mbarrier)
            PTX_FAMILY(async_copy) PTX_FAMILY(bulk_copy) PTX_FAMILY(bulk_group) PTX_FAMILY(tensor_copy) PTX_FAMILY(tensor_map) PTX_FAMILY(remote_store)
                PTX_FAMILY(wgmma) PTX_FAMILY(wgmma_mma) PTX_FAMILY(matrix) PTX_FAMILY(mma) PTX_FAMILY(wmma) PTX_FAMILY(control)
                    PTX_FAMILY(register_budget) PTX_FAMILY(stack) PTX_FAMILY(cluster_address)
#undef PTX_FAMILY
// Of the arithmetic family: what floats take.
void build_real_arithmetic(Builder& b, ptx::Type type);

}  // namespace tc::sim
