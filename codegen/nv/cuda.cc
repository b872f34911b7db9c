// Statements of a kernel as CUDA C++.
#include "codegen/nv/cuda_printer.h"

namespace tc::codegen {

using namespace ir;

CudaPrinter::CudaPrinter(const Module& module, const Func& func) : m(module), f(func), ranges(module) {
  walk(m, f.body, [&](OpId id) {
    for (ValueId v : m[id].operands) ++uses[v.index];
    // A region is printed wherever its buffer is used: its offsets count for each of its uses.
  });
}

std::string CudaPrinter::define(ValueId v, std::string_view hint) {
  std::string base;
  for (char c : hint) base += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
  if (base.empty() || std::isdigit(static_cast<unsigned char>(base[0]))) base = "v" + base;
  std::string name = base;
  static const std::set<std::string, std::less<>> kReserved = {
      "int",    "float",    "half",   "for",     "if",     "do",       "char",   "tl",       "new",      "this",
      "auto",   "double",   "short",  "long",    "signed", "unsigned", "bool",   "true",     "false",    "const",
      "static", "struct",   "class",  "asm",     "void",   "while",    "return", "template", "typename", "namespace",
      "using",  "operator", "delete", "default", "switch", "case",     "break",  "else",     "register"};
  for (int n = 1; taken.contains(name) || kReserved.contains(name); ++n) name = base + "_" + std::to_string(n);
  taken.insert(name);
  return names[v.index] = name;
}

void CudaPrinter::emit(const std::string& text) {
  out += std::string(2 * static_cast<size_t>(depth), ' ') + text + "\n";
  ++line;
}

void CudaPrinter::locate(const Op& op) {
  const SourceRange& at = op.loc.valid() ? op.loc : op.text_loc;
  if (!at.valid()) return;
  std::string name;
  for (char c : source_file_name(at.file)) name += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  if (line_file != at.file || line != at.line) out += "#line " + std::to_string(at.line) + " \"" + name + "\"\n";
  line_file = at.file;
  line = at.line;
}

void CudaPrinter::block(BlockId id) {
  ++depth;
  for (OpId op : m[id].ops) statement(op);
  --depth;
}

namespace {

std::vector<ValueId> indices_of(const Op& op, size_t trailing) {
  return {op.operands.begin() + 1, op.operands.end() - static_cast<std::ptrdiff_t>(trailing)};
}

void print_alloc(CudaPrinter& p, const Op& op) {
  const Value& v = p.m[op.results[0]];
  if (v.type.space == Space::shared || v.type.space == Space::barrier) {
    p.define(op.results[0], v.name);
    p.emit("// " + v.name + ": " + type_text(p.m, v.type) + " at byte " + std::to_string(int_attr(op, "offset", 0)));
    return;
  }
  std::string name = p.define(op.results[0], v.name);
  p.emit(std::string(info(v.type.dtype).cuda) + " " + name + "[" + std::to_string(element_count(v.type)) + "];");
}

void print_for(CudaPrinter& p, const Op& op) {
  ValueId k = p.m[op.blocks[0]].args[0];
  std::string name = p.define(k, p.m[k].name.empty() ? "i" : p.m[k].name);
  bool unroll = text_attr(op, "kind", "serial") == "unroll" || text_attr(op, "kind", "serial") == "vectorized";
  std::string step = std::to_string(int_attr(op, "step", 1));
  p.emit(unroll ? "#pragma unroll" : "#pragma unroll 1");
  p.emit("for (int " + name + " = " + p.expr(op.operands[0]) + "; " + name + " < " + p.expr(op.operands[1]) + "; " +
         (step == "1" ? "++" + name : name + " += " + step) + ") {");
  p.block(op.blocks[0]);
  p.emit("}");
}

void print_if(CudaPrinter& p, const Op& op, const std::string& condition) {
  p.emit("if (" + condition + ") {");
  p.block(op.blocks[0]);
  if (op.blocks.size() > 1 && !p.m[op.blocks[1]].ops.empty()) {
    p.emit("} else {");
    p.block(op.blocks[1]);
  }
  p.emit("}");
}

void print_sync(CudaPrinter& p, const Op& op) {
  int64_t id = int_attr(op, "id", 0), threads = int_attr(op, "threads", 0);
  p.emit(threads == 0 && id == 0 ? "tl::sync_cta();"
                                 : "tl::sync_named(" + std::to_string(id) + ", " + std::to_string(threads) + ");");
}

void print_tma(CudaPrinter& p, const Op& op) {
  std::string s = "tl::tma_load(" + p.region_shared_address(op.operands[0]) + ", &" + p.names.at(op.operands[3].index) +
                  ", " + p.barrier_address(op.operands[1], op.operands[2]);
  for (size_t i = 4; i < op.operands.size(); ++i) s += ", " + p.expr(op.operands[i]);
  p.emit(s + ");");
}

std::string attr_text(const Op& op, std::string_view name) { return std::to_string(int_attr(op, name, 0)); }

}  // namespace

void CudaPrinter::statement(OpId id) {
  const Op& op = m[id];
  if (op.kind == OpKind::region || op.kind == OpKind::tensor_map || op.kind == OpKind::assume) return;
  if (op.results.size() == 1 && op.kind != OpKind::alloc && op.kind != OpKind::load) {
    if (inlined(op.results[0])) return;
    locate(op);
    std::string value = expr(op.results[0]);
    std::string type(info(m[op.results[0]].type.dtype).cuda);
    std::string name = define(op.results[0], m[op.results[0]].name.empty() ? "t" : m[op.results[0]].name);
    return emit("const " + type + " " + name + " = " + value + ";");
  }
  locate(op);
  auto barrier = [&] { return barrier_address(op.operands[0], op.operands[1]); };
  switch (op.kind) {
    case OpKind::alloc: return print_alloc(*this, op);
    case OpKind::for_: return print_for(*this, op);
    case OpKind::if_: return print_if(*this, op, expr(op.operands[0]));
    case OpKind::ws: {
      int64_t lo = int_attr(op, "lo", 0), hi = int_attr(op, "hi", 0);
      std::string low = lo > 0 ? "tl::thread_index() >= " + std::to_string(lo) + " && " : "";
      ranges.set_threads(lo, hi);
      print_if(*this, op, low + "tl::thread_index() < " + std::to_string(hi));
      return ranges.set_threads(0, 1024);
    }
    case OpKind::elected: return print_if(*this, op, "tl::thread_index() == " + attr_text(op, "thread"));
    case OpKind::load: {
      std::string name = define(op.results[0], m[op.results[0]].name.empty() ? "x" : m[op.results[0]].name);
      return emit("const " + std::string(info(m[op.results[0]].type.dtype).cuda) + " " + name + " = " +
                  element(op.operands[0], indices_of(op, 0)) + ";");
    }
    case OpKind::store:
      return emit(element(op.operands[0], indices_of(op, 1)) + " = " + expr(op.operands.back()) + ";");
    case OpKind::store_pair:
      return emit("tl::store_pair(" + pointer(op.operands[0], indices_of(op, 2)) + ", " +
                  expr(op.operands[op.operands.size() - 2]) + ", " + expr(op.operands.back()) + ");");
    case OpKind::mbarrier_init: return emit("tl::mbarrier_init(" + barrier() + ", " + attr_text(op, "count") + ");");
    case OpKind::mbarrier_arrive: return emit("tl::mbarrier_arrive(" + barrier() + ");");
    case OpKind::mbarrier_expect_tx:
      return emit("tl::mbarrier_expect_tx(" + barrier() + ", " + attr_text(op, "bytes") + ");");
    case OpKind::mbarrier_arrive_expect_tx:
      return emit("tl::mbarrier_arrive_expect_tx(" + barrier() + ", " + attr_text(op, "bytes") + ");");
    case OpKind::mbarrier_wait: return emit("tl::mbarrier_wait(" + barrier() + ", " + expr(op.operands[2]) + ");");
    case OpKind::fence_mbarrier_init: return emit("tl::fence_mbarrier_init();");
    case OpKind::fence_proxy_async: return emit("tl::fence_proxy_async();");
    case OpKind::sync_threads: return print_sync(*this, op);
    case OpKind::tma_load: return print_tma(*this, op);
    case OpKind::bulk_load:
      return emit("tl::bulk_load(" + region_shared_address(op.operands[0]) + ", " + region_pointer(op.operands[3]) +
                  ", " + attr_text(op, "bytes") + ", " + barrier_address(op.operands[1], op.operands[2]) + ");");
    case OpKind::cp_async:
      return emit("tl::cp_async<" + attr_text(op, "bytes") + ">(" + region_shared_address(op.operands[0]) + ", " +
                  region_pointer(op.operands[1]) + ", " + expr(op.operands[2]) + ");");
    case OpKind::cp_async_commit: return emit("tl::cp_async_commit();");
    case OpKind::cp_async_wait: return emit("tl::cp_async_wait<" + attr_text(op, "pending") + ">();");
    case OpKind::vector_copy:
      return emit("tl::copy_wide<" + attr_text(op, "bytes") + ">(" + region_pointer(op.operands[0]) + ", " +
                  region_pointer(op.operands[1]) + ");");
    case OpKind::wgmma_fence: return emit("tl::wgmma_fence();");
    case OpKind::wgmma: return wgmma(op);
    case OpKind::wgmma_commit: return emit("tl::wgmma_commit();");
    case OpKind::wgmma_wait:
      emit("tl::wgmma_wait<" + attr_text(op, "pending") + ">();");
      for (ValueId acc : accumulators) emit("tl::pin(" + names.at(acc.index) + ");");
      return accumulators.clear();
    default: assert(false && "every device operation has a spelling in CUDA");
  }
}

std::string print_cuda(const Module& m, const Func& f) {
  CudaPrinter p(m, f);
  KernelParams params = kernel_params(m, f);
  const Op& launch = m[params.launch];
  std::string signature;
  std::set<uint32_t> written;
  walk(m, f.body, [&](OpId id) {
    const Op& op = m[id];
    for (size_t i = 0; i < op.operands.size(); ++i)
      if (char role = operand_role(op, i); role == 'w' || role == 'u')
        written.insert(buffer_of(m, op.operands[i]).index);
  });
  auto add = [&](const std::string& s) { signature += (signature.empty() ? "" : ", ") + s; };
  for (ValueId v : params.values) {
    std::string type(info(m[v].type.dtype).cuda), name = p.define(v, m[v].name);
    if (m[v].type.kind == TypeKind::buffer)
      add(std::string(written.contains(v.index) ? "" : "const ") + type + "* " + name);
    else add(type + " " + name);
  }
  for (OpId id : params.maps)
    add("const __grid_constant__ tl::TensorMap " + p.define(m[id].results[0], m[m[id].results[0]].name));
  constexpr std::string_view kBlocks[] = {"tl::block_x()", "tl::block_y()", "tl::block_z()"};
  const Block& body = m[launch.blocks[0]];
  p.taken.insert({"tl_base", "tl_shared", "tl_smem"});
  for (size_t i = 0; i < body.args.size(); ++i) {
    std::string name = p.define(body.args[i], m[body.args[i]].name.empty() ? "b" : m[body.args[i]].name);
    p.emit("const int " + name + " = " + std::string(kBlocks[i]) + ";");
  }
  if (int_attr(launch, "smem", 0) > 0) {
    p.emit("unsigned char* const tl_base = tl::align_1024(tl_smem);");
    p.emit("const tl::u32 tl_shared = tl::shared_address(tl_base);");
  }
  for (OpId id : m[f.body].ops)
    if (m[id].kind != OpKind::launch) p.statement(id);  // scalars before the launch
  --p.depth;
  p.block(launch.blocks[0]);
  std::string head = "// " + f.instance + ", " + m.arch + "\n" + runtime::print_manifest_header(make_manifest(m, f)) +
                     "#include \"tl/tl.h\"\n\n";
  if (int_attr(launch, "smem", 0) > 0)
    head += "extern __shared__ __attribute__((aligned(1024))) unsigned char tl_smem[];\n\n";
  return head + p.wgmma_functions() + "extern \"C\" __global__ void __launch_bounds__(" +
         std::to_string(int_attr(launch, "threads", 128)) + ", 1)\n" + entry_name(f) + "(" + signature + ") {\n" +
         p.out + "}\n";
}

}  // namespace tc::codegen
