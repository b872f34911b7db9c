// The functions of the language against what the release states about itself (testdata/reference/language-names.tsv):
// every name of the library's own is read or refused by name, with the release's parameters in its order, and a
// parameter that is given its default means what leaving it out means.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/files.h"
#include "compiler/eval/builtin.h"
#include "compiler/eval/evaluate.h"
#include "compiler/eval/language_names.h"

namespace tc::eval {
namespace {
const std::string kRoot = std::string(TC_SOURCE_ROOT) + "/testdata/";
using Row = std::vector<std::string>;

std::vector<Row> table(const std::string& path) {
  std::vector<Row> out;
  std::istringstream in(*read_file(kRoot + path));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    Row row(1);
    for (char c : line)
      if (c == '\t') row.emplace_back();
      else row.back() += c;
    out.push_back(std::move(row));
  }
  return out;
}

// "(src, dst=None, *, f=g('a', 1))" → "src", "dst=None", "*", "f=g('a', 1)".
Row split(std::string_view params) {
  Row out(1);
  int depth = 0;
  char quote = 0;
  for (char c : params.substr(1, params.size() - 2)) {
    if (quote) quote = c == quote ? '\0' : quote;
    else if (c == '\'' || c == '"') quote = c;
    depth += c == '(' || c == '<' ? 1 : c == ')' || c == '>' ? -1 : 0;
    if (c == ',' && depth == 0 && !quote) out.emplace_back();
    else if (c != ' ' || !out.back().empty()) out.back() += c;
  }
  if (out.back().empty()) out.pop_back();
  return out;
}

// As a row of the evaluator writes them.
std::string shape_of(const Row& params) {
  std::string out;
  for (const std::string& p : params) {
    size_t equals = p.find('=');
    out += (out.empty() ? "" : ", ") + (equals == std::string::npos ? p : p.substr(0, equals + 1));
  }
  return out;
}

// The parameters in the documentation's table, which is made from the evaluator's rows.
std::map<std::string, std::string> documented() {
  std::map<std::string, std::string> out;
  std::istringstream in(language_table());
  for (std::string line; std::getline(in, line);) {
    Row cells(1);
    for (char c : line)
      if (c == '|') cells.emplace_back();
      else if (c != '`') cells.back() += c;
    if (cells.size() != 5) continue;
    auto bare = [](std::string t) { return t.substr(t.find_first_not_of(' ') == t.npos ? t.size() : 1); };
    std::string params = bare(cells[2]);
    while (params.ends_with(' ')) params.pop_back();
    std::string name = bare(cells[1]);
    out[name.substr(0, name.find(' '))] = params;
  }
  return out;
}

bool is_own(const Row& row) { return row.size() == 4 && row[2] != "tir" && row[2] != "-" && row[2] != "top level"; }

TEST(Names, EveryOneOfTheReleaseIsReadOrRefused) {
  size_t names = 0;
  for (const Row& row : table("reference/language-names.tsv")) {
    if (!is_own(row) || row[0] == "name") continue;
    EXPECT_TRUE(is_language_name(row[0])) << row[0];
    ++names;
  }
  EXPECT_GT(names, 300u);
}

TEST(Names, ParametersAreTheReleases) {
  // The release states these as (*args, **kwargs), as an enumeration, or as a class whose objects are called.
  const std::set<std::string> other = {"BaseTileScheduler", "GemmWarpPolicy", "PersistentTileScheduler", "WSSyncKind",
                                       "device_assert",
                                       "ptr",  // a type here
                                       // dtype may stand before or behind the name, as a keyword
                                       "call_extern", "call_intrin", "call_pure_extern"};
  auto ours = documented();
  size_t compared = 0;
  for (const Row& row : table("reference/language-names.tsv")) {
    if (!is_own(row) || !ours.contains(row[0]) || other.contains(row[0]) || row[0] == "name") continue;
    EXPECT_EQ(ours[row[0]], shape_of(split(row[3]))) << row[0];
    ++compared;
  }
  EXPECT_GT(compared, 250u);
}

// The value as a program writes it; empty: None, which is how a parameter is left out.
std::string as_source(std::string value) {
  if (value == "None") return "";
  if (value.starts_with("dtype(")) return value.substr(6, value.size() - 7);
  if (value.starts_with("GemmWarpPolicy")) return "T." + value;
  return value;
}

constexpr const char* kKernel = R"(
@T.prim_func
def NAME(F: T.Tensor((64,), "float32"), I: T.Tensor((64,), "int32"), U: T.Tensor((64,), "uint64"), p: T.int64, n: T.int32):
    with T.ClusterKernel(2, cluster_dims=2, threads=128) as bx:
        S, S4 = T.alloc_shared((64,), "float32"), T.alloc_shared((128, 4), "uint32")
        H, H8 = T.alloc_shared((64, 64), "float16"), T.alloc_shared((64, 64), "float8_e4m3fn")
        E, EM = T.alloc_shared((64, 32), "float16"), T.alloc_shared((64, 4), "int16")
        X, Y = T.alloc_fragment((64, 64), "float32"), T.alloc_fragment((64,), "float32")
        XI, YI = T.alloc_fragment((64, 64), "int32"), T.alloc_fragment((64,), "int32")
        M, R = T.alloc_shared((64, 64), "float32"), T.alloc_reducer((64,), "float32", replication="all")
        TM, TU, SA = T.alloc_tmem((64, 64), "float32"), T.alloc_tmem((128, 32), "uint32"), T.alloc_tmem((128, 4), "uint32")
        DW, DT = T.alloc_wgmma_desc(), T.alloc_tcgen05_smem_desc()
        bar = T.alloc_barrier(1)
)";

// The tile IR of a kernel with that statement, without places, constants (whose order varies) and attributes that are 0
// (which is what an attribute that is not there means); or its errors.
std::string ir_of(const std::string& statement) {
  std::string source = std::string("import tilelang.language as T\n") + kKernel + "        " + statement + "\n";
  source.replace(source.find("NAME"), 4, "f");
  Evaluated e = evaluate(add_source_file("defaults.py", source), "", {});
  std::string out;
  for (const Diag& d : e.diags) out += "error: " + d.message + "\n";
  std::istringstream in(ir::print(e.module));
  for (std::string line; std::getline(in, line);) {
    if (line.find(" = constant ") != std::string::npos) continue;
    static const std::regex zero("(, )?\\w+=0(?=[,}])");
    out += std::regex_replace(line.substr(0, line.find(" loc(")), zero, "") + "\n";
  }
  return out;
}

TEST(Names, DefaultsAreTheReleases) {
  std::map<std::string, std::string> statements;
  for (const Row& row : table("reference/language-defaults.tsv"))
    if (row.size() == 2) statements[row[0]] = row[1];
  auto ours = documented();
  // Types of parameters, eager kernels, decorators, source text, host values and the matrix emitters have tests of
  // their own.
  const std::set<std::string> elsewhere = {"Buffer",
                                           "CUDASourceCodeKernel",
                                           "FragmentBuffer",
                                           "GemmWarpPolicy",
                                           "LocalBuffer",
                                           "SharedBuffer",
                                           "StridedTensor",
                                           "Tensor",
                                           "TensorCoreIntrinEmitter",
                                           "TensorCoreIntrinEmitterWithLadderTransform",
                                           "WSSync",
                                           "const",
                                           "dynamic",
                                           "empty",
                                           "get_ldmatrix_offset",
                                           "make_blockscaled_gemm_layout",
                                           "prim_func",
                                           "ptr",
                                           "ptx_mma_block_scale",
                                           "ptx_tcgen05_mma_blockscaled_ss",
                                           "ptx_tcgen05_mma_ss",
                                           "ptx_tcgen05_mma_ts",
                                           "symbolic",
                                           "validate_gemm_ab_dtypes"};
  size_t compared = 0;
  for (const Row& row : table("reference/language-names.tsv")) {
    if (!is_own(row) || !ours.contains(row[0]) || elsewhere.contains(row[0])) continue;
    for (const std::string& p : split(row[3])) {
      size_t equals = p.find('=');
      std::string value = equals == std::string::npos ? "" : as_source(p.substr(equals + 1));
      if (value.empty()) continue;
      ASSERT_TRUE(statements.contains(row[0])) << row[0] << " has no statement in language-defaults.tsv";
      std::string plain = statements[row[0]], full = plain;
      size_t at = plain.find('@');
      std::string separator = at > 0 && plain[at - 1] == '(' ? "" : ", ";
      full.replace(at, 1, separator + p.substr(0, equals + 1) + value);
      plain.erase(at, 1);
      std::string without = ir_of(plain);
      EXPECT_EQ(without.find("error:"), std::string::npos) << plain << "\n" << without;
      EXPECT_EQ(without, ir_of(full)) << full;
      ++compared;
    }
  }
  EXPECT_GT(compared, 100u);
}

TEST(Names, OfOtherVersionsAreAcceptedWithANote) {
  std::string source = std::string("import tilelang.language as T\n") + kKernel +
                       "        T.sync_global()\n        T.gemm(H, H, X, wg_wait=-1, k_pack=1)\n";
  source.replace(source.find("NAME"), 4, "f");
  Evaluated e = evaluate(add_source_file("older.py", source), "", {});
  EXPECT_TRUE(e.diags.empty());
  std::string notes;
  for (const Diag& d : e.warnings)
    if (d.rule.empty()) notes += d.message + "\n";
  EXPECT_EQ(notes,
            "T.sync_global is a name of other versions; release 0.1.15 has T.sync_grid\n"
            "'wg_wait' of T.gemm is a parameter of other versions, not of release 0.1.15: it means nothing here\n"
            "'k_pack' of T.gemm is a parameter of other versions, not of release 0.1.15\n");
}

}  // namespace
}  // namespace tc::eval
