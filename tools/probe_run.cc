// probe_run DIR RESULTS: the kernels of DIR/plan.txt (tools/gpu/probe_forms.py) in the simulator, their results one
// after another into a file. A line of the plan: module entry blocks threads result-bytes scratch-bytes. Kernels that
// do not run are named and leave zeros; exit 1 then. Inputs: DIR/MODULE.ptx and its operands DIR/MODULE.bin.
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "base/files.h"
#include "sim/api.h"

namespace {

struct PlanRow {
  std::string module, entry;
  uint64_t grid = 0, block = 0, result_bytes = 0, scratch_bytes = 0;
};

// The output of one kernel, result bytes only.
tc::Result<std::vector<uint8_t>> run_kernel(const tc::ptx::Module& module, const PlanRow& row,
                                            const tc::runtime::Tensor& operands) {
  std::ostringstream text;
  text << "launch: kernel=" << row.entry << " grid=" << row.grid << " block=" << row.block
       << "\ntensor: in u8 shape=" << operands.bytes.size()
       << "\ntensor: out u8 shape=" << row.result_bytes + row.scratch_bytes
       << " role=out\narg: in buffer of=in\narg: out buffer of=out\n";
  auto manifest = tc::runtime::parse_manifest(text.str());
  if (!manifest.ok()) return tc::input_error({}, manifest.error().message);
  tc::sim::Options options;
  options.checks = false;
  auto r = tc::sim::run(module, *manifest, {operands}, options);
  if (!r.ok()) return r.error();
  if (!r->findings.empty()) return r->findings[0];
  std::vector<uint8_t> out = std::move(r->outputs[0].bytes);
  out.resize(row.result_bytes);
  return out;
}

struct Prepared {
  tc::ptx::Module module;
  tc::runtime::Tensor operands;
};
tc::Result<Prepared> prepare(const std::string& folder, const std::string& name) {
  auto text = tc::read_file(folder + "/" + name + ".ptx"), raw = tc::read_file(folder + "/" + name + ".bin");
  if (!text.ok()) return text.error();
  if (!raw.ok()) return raw.error();
  auto module = tc::ptx::parse(*text, name + ".ptx");
  if (!module.ok()) return module.error();
  return Prepared{std::move(*module),
                  {"in", tc::runtime::DType::u8, {raw->size()}, std::vector<uint8_t>(raw->begin(), raw->end())}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: probe_run DIR RESULTS\n"), 2;
  const std::string folder = argv[1];
  std::ifstream plan(folder + "/plan.txt");
  std::ofstream results(argv[2], std::ios::binary);
  if (!plan || !results) return std::fprintf(stderr, "probe_run: cannot read %s\n", folder.c_str()), 2;
  std::map<std::string, Prepared> modules;
  int failures = 0;
  PlanRow row;
  while (plan >> row.module >> row.entry >> row.grid >> row.block >> row.result_bytes >> row.scratch_bytes) {
    if (!modules.contains(row.module)) {
      auto prepared = prepare(folder, row.module);
      if (!prepared.ok()) return std::fprintf(stderr, "%s\n", tc::render(prepared.error()).c_str()), 2;
      modules.emplace(row.module, std::move(*prepared));
    }
    const Prepared& p = modules.at(row.module);
    auto out = run_kernel(p.module, row, p.operands);
    if (!out.ok()) ++failures, std::printf("%s %s\n", row.entry.c_str(), out.error().message.c_str());
    const std::vector<uint8_t> bytes = out.ok() ? *out : std::vector<uint8_t>(row.result_bytes);
    results.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  return failures ? 1 : 0;
}
