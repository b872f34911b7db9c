// What the simulator accepts of the matrix and asynchronous-copy instructions is what ptxas accepts: the tables of
// testdata/ptx/probe hold its verdict on each form and target. The exceptions stand with their tests.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "runtime/inputs.h"
#include "sim/api.h"
#include "sim/exec/builder.h"
#include "sim/machine/memory.h"

namespace tc::sim {
namespace {

struct Row {
  std::string instruction;
  std::vector<bool> accepted;  // by column
};
struct Table {
  std::vector<std::string> targets;
  std::vector<Row> rows;
};

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, '\t');) out.push_back(cell);
  return out;
}
// {%f200..%f203} -> {%f200,%f201,%f202,%f203}
std::string expand(std::string text) {
  for (size_t dots; (dots = text.find("..%")) != std::string::npos;) {
    const size_t open = text.rfind('{', dots), close = text.find('}', dots);
    const std::string first = text.substr(open + 1, dots - open - 1), last = text.substr(dots + 2, close - dots - 2);
    const size_t digits = first.find_first_of("0123456789");
    std::string list;
    for (int n = std::stoi(first.substr(digits)); n <= std::stoi(last.substr(digits)); ++n)
      list += (list.empty() ? "" : ",") + first.substr(0, digits) + std::to_string(n);
    text.replace(open + 1, close - open - 1, list);
  }
  return text;
}

Table read_table(const std::string& name) {
  std::ifstream in(std::string(TESTDATA) + "/ptx/probe/" + name + ".tsv");
  Table t;
  std::string line;
  std::getline(in, line);
  t.targets = split(line);
  t.targets.erase(t.targets.begin());
  while (std::getline(in, line)) {
    const auto cells = split(line);
    Row r{expand(cells[0]), {}};
    for (size_t i = 1; i < cells.size(); ++i) r.accepted.push_back(cells[i] == "y");
    t.rows.push_back(std::move(r));
  }
  return t;
}

struct Verdict {
  bool accepted;
  std::string rule, message;
};
std::string kernel_text(const std::string& instruction, const std::string& target) {
  return ".version 9.0\n.target " + target +
         "\n.address_size 64\n.visible .entry k(.param .u64 pin, .param .align 64 .b8 tmap[128])\n{\n"
         ".reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<600>; .reg .b64 %rd<40>; .reg .f32 %f<600>; .reg .f64 "
         "%d<64>;\n"
         ".shared .align 1024 .b8 sm[2048];\nld.param.u64 %rd0, [pin];\nmov.b64 %rd1, tmap;\nmov.u32 %r0, sm;\n" +
         instruction + "\nret;\n}\n";
}
Verdict decode(const std::string& instruction, const std::string& target) {
  const std::string text = kernel_text(instruction, target);
  auto module = ptx::parse(text, "row.ptx");
  if (!module.ok()) return {false, module.error().rule, module.error().message};
  GlobalMemory global;
  auto program = build_program(*module, *module->entries().front(), global, 0, 128);
  if (!program.ok()) return {false, program.error().rule, program.error().message};
  return {true, "", ""};
}

// Rows that hold `part` and end with `tail`: ptxas lets them pass, a rule of rules.md forbids them and must be named.
struct Exception {
  std::string_view part, tail, rule;
};

void check_table(const std::string& name, const std::set<std::string>& targets,
                 const std::vector<Exception>& exceptions, double least_ruled) {
  const Table t = read_table(name);
  ASSERT_GT(t.rows.size(), 10u) << name;
  int wrong = 0, refused = 0, ruled = 0;
  for (const Row& r : t.rows) {
    if (r.instruction.starts_with("fence.mbarrier_init")) continue;  // of another family
    std::string_view forbidden;
    for (const Exception& e : exceptions)
      if (r.instruction.find(e.part) != std::string::npos && r.instruction.ends_with(e.tail)) forbidden = e.rule;
    for (size_t c = 0; c < t.targets.size(); ++c) {
      if (!targets.contains(t.targets[c])) continue;
      const Verdict v = decode(r.instruction, t.targets[c]);
      if (!forbidden.empty() && r.accepted[c]) {
        EXPECT_TRUE(!v.accepted && v.rule == forbidden) << r.instruction;
        continue;
      }
      if (!r.accepted[c]) ++refused, ruled += !v.rule.empty();
      if (v.accepted == r.accepted[c]) continue;
      if (++wrong <= 12)
        ADD_FAILURE() << t.targets[c] << " ptxas " << (r.accepted[c] ? "accepts " : "refuses ")
                      << r.instruction.substr(0, 200) << "\n  " << v.message;
    }
  }
  EXPECT_EQ(wrong, 0) << name;
  EXPECT_GE(ruled, least_ruled * refused) << name << ": refusals that name a rule: " << ruled << " of " << refused;
}

const std::set<std::string> kAll = {"sm_75", "sm_80", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120", "sm_120a"};

TEST(Legality, Mma) { check_table("mma", kAll, {}, 0.95); }
TEST(Legality, MmaKinds) { check_table("mma_kind", kAll, {}, 0.95); }
// MMA-52: ptxas lets selectors 2 and 3 of m16n8k32 f32.f16 pass.
TEST(Legality, SparseMma) {
  check_table("mma_sp", kAll,
              {{"m16n8k32.row.col.f32.f16.f16.f32", "%r400,2;", "MMA-52"},
               {"m16n8k32.row.col.f32.f16.f16.f32", "%r400,3;", "MMA-52"}},
              0.95);
}
TEST(Legality, LoadAndStoreMatrix) { check_table("ldstmatrix", kAll, {}, 0.95); }
TEST(Legality, Wgmma) { check_table("wgmma", kAll, {}, 0.95); }

TEST(Legality, Mbarrier) { check_table("mbarrier", kAll, {}, 0.95); }

// Targets up to sm_90a: what later ones add is unsupported.
TEST(Legality, Tma) { check_table("tma", {"sm_80", "sm_90", "sm_90a"}, {}, 0.95); }
TEST(Legality, CpAsync) { check_table("cpasync_misc", kAll, {}, 0.95); }

// Mutated rows are decoded and, where that works, run: a verdict or a diagnostic, never a crash.
std::string mutated(std::string text, uint64_t seed) {
  for (uint64_t n = 0; n < 1 + seed % 2; ++n) {
    const uint64_t r = runtime::splitmix64(seed + 17 * n);
    const size_t at = r % text.size();
    const size_t next = text.find_first_of(".,{}[]; ", at + 1);
    switch (r >> 32 & 3) {
      case 0: text.erase(at, next == std::string::npos ? 1 : next - at); break;
      case 1: text.insert(at, ",%r3"); break;
      case 2: text.replace(at, 1, std::to_string(r >> 40 & 31)); break;
      case 3: text.insert(at, text.substr(at, next == std::string::npos ? 1 : next - at)); break;
    }
    if (text.empty()) return "ret;";
  }
  return text;
}

TEST(Legality, MutatedRowsEndInADiagnostic) {
  auto manifest = runtime::parse_manifest(
      "launch: kernel=k grid=1 block=128\ntensor: t u8 shape=4096\ntensor: src f16 shape=16,64\narg: pin buffer "
      "of=t\narg: tmap tensormap f16 dims=64,16 strides=128 box=64,8 swizzle=128B of=src\n");
  ASSERT_TRUE(manifest.ok());
  uint64_t seed = 1;
  int ran = 0, refused = 0;
  for (const char* name : {"mma", "mma_sp", "ldstmatrix", "wgmma", "tma", "mbarrier", "cpasync_misc"}) {
    const Table t = read_table(name);
    for (size_t row = 0; row < t.rows.size(); ++row) {
      const std::string text = kernel_text(mutated(t.rows[row].instruction, seed += 1001), "sm_90a");
      auto module = ptx::parse(text, "row.ptx");
      if (!module.ok() || module->entries().empty()) {
        ++refused;
        continue;
      }
      Options o;
      o.step_limit = 20000;
      auto r = run(*module, *manifest, {}, o);
      ++(r.ok() ? ran : refused);
    }
  }
  EXPECT_GT(ran, 20);
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace tc::sim
