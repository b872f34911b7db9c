// The front end as a whole: which instances a file has, that every kernel of the corpus passes it, and that damaged
// files end in diagnostics. What single constructs become is tested by testdata/eval.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "compiler/eval/builtin.h"
#include "compiler/eval/evaluate.h"
#include "compiler/eval/language_names.h"

namespace tc::eval {
namespace {
namespace fs = std::filesystem;

const std::string kRoot = std::string(TC_SOURCE_ROOT) + "/testdata/";
constexpr const char* kHead = "import tilelang\nimport tilelang.language as T\n";
constexpr const char* kFactory = R"(
@tilelang.jit
def scale(N, two=2):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32")):
        with T.Kernel(1) as bx:
            for i in T.Parallel(N):
                A[i] = A[i] * two
    return main
)";

Evaluated text(const std::string& body, const EvalOptions& options = {}) {
  return evaluate(add_source_file("k.py", kHead + body), "", options);
}
std::vector<std::string> instances(const Evaluated& e) {
  std::vector<std::string> out;
  for (const ir::Func& f : e.module.funcs) out.push_back(f.instance + " " + f.specialisation);
  for (const Diag& d : e.diags) out.push_back(place_text(d.where) + ": " + d.message);
  return out;
}
using Names = std::vector<std::string>;

TEST(Instances, OfCallsAndDefaults) {
  std::string f = kFactory;
  EXPECT_EQ(instances(text(f + "scale(8)\n")), (Names{"scale[N=8, two=2] literal"}));
  EXPECT_EQ(instances(text(f + "def main():\n    scale(8)\nif __name__ == '__main__':\n    main()\n")),
            (Names{"scale[N=8, two=2] main"}));
  EXPECT_EQ(instances(text(f + "def main():\n    scale(8)\n")), (Names{"scale[N=8, two=2] main"}));
  EXPECT_EQ(instances(text(f + "if __name__ == '__main__':\n    for n in (4, 8, 4):\n        scale(n)\n")),
            (Names{"scale[N=4, two=2] main", "scale[N=8, two=2] main"}));
  std::string with_default = f;
  with_default.replace(with_default.find("scale(N,"), 8, "scale(N=16,");
  EXPECT_EQ(instances(text(with_default)), (Names{"scale[N=16, two=2] default"}));
}

// Without a main(): tests with the first values of their marks. A kernel that only another command line reaches.
TEST(Instances, OfTestsAndOtherCommandLines) {
  std::string f = kFactory;
  EXPECT_EQ(instances(text("import pytest\n" + f +
                           "@pytest.mark.parametrize('n,k', [(4, 1), (8, 2)])\n"
                           "def test_scale(n, k):\n    scale(n, two=k)\n")),
            (Names{"scale[N=4, two=1] test_scale"}));
  std::string other = f;
  other.replace(other.find("scale(N"), 5, "twice");
  std::string program = f + other +
                        "import argparse\n"
                        "if __name__ == '__main__':\n"
                        "    p = argparse.ArgumentParser()\n"
                        "    p.add_argument('--kind', choices=['one', 'two'], default='one')\n"
                        "    args = p.parse_args()\n"
                        "    scale(4)\n"
                        "    if args.kind == 'two':\n        twice(8)\n";
  EXPECT_EQ(instances(text(program)), (Names{"scale[N=4, two=2] main", "twice[N=8, two=2] main --kind two"}));
}

// A call that fails is reported where it is; the factory is not reported again.
TEST(Instances, FailingCallsAreReportedOnce) {
  std::string f = kFactory;
  EXPECT_EQ(instances(text(f + "scale()\n")),
            (Names{"k.py:12:1: 'scale' needs a value for N: a call, --arg or a manifest can give it"}));
}

TEST(Instances, AreListedWithTheirReasons) {
  std::string f = kFactory;
  Evaluated called = text(f + "scale(8)\n"), open = text(f);
  ASSERT_EQ(called.kernels.size(), 1u);
  EXPECT_EQ(called.kernels[0].params, "N, two=2");
  ASSERT_EQ(called.kernels[0].instances.size(), 1u);
  EXPECT_EQ(called.kernels[0].instances[0].text, "scale[N=8, two=2]");
  ASSERT_EQ(open.kernels.size(), 1u);
  EXPECT_TRUE(open.kernels[0].instances.empty());
  EXPECT_EQ(open.kernels[0].unresolved, "'scale' needs a value for N: a call, --arg or a manifest can give it");
}

TEST(Bounds, EndWithADiagnostic) {
  auto first = [](const std::string& body, int64_t steps) {
    Evaluated e = text(body, {.bounds = {.steps = steps}});
    return e.diags.empty() ? std::string() : e.diags[0].message;
  };
  EXPECT_EQ(first("while True:\n    pass\n", 1000),
            "the evaluation takes more than 1000 steps; --bound steps=N allows more");
  EXPECT_EQ(first("def f(n):\n    return f(n)\nf(1)\n", 100000),
            "calls nested more than 100 deep; --bound calls=N allows more");
  EXPECT_EQ(first("s = 'a'\nwhile True:\n    s = s + s\n", 100000),
            "the lists and texts of the file have more than 10000000 items; --bound items=N allows more");
  EXPECT_EQ(first("l = []\nl.append(l)\nprint(str(l), l == l)\n", 1000),
            "the file defines no kernel: no @T.prim_func and no @tilelang.jit factory");
}

TEST(Instances, ArgsOverrideByName) {
  std::string f = kFactory;
  EXPECT_EQ(instances(text(f, {.args = {{"N", "32"}}})), (Names{"scale[N=32, two=2] arg"}));
  EXPECT_EQ(instances(text(f + "scale(8, two=3)\n", {.args = {{"N", "32"}}})), (Names{"scale[N=32, two=3] arg"}));
  EXPECT_EQ(instances(text(f + "scale(8)\n", {.args = {{"M", "32"}}})),
            (Names{"scale[N=8, two=2] literal", "k.py: no kernel of the file has a parameter 'M' (--arg M=32)"}));
}

TEST(Instances, KernelChoosesByEitherName) {
  std::string f = std::string(kFactory) +
                  "def other():\n    @T.prim_func\n    def inner(A: T.Tensor((8,), 'float32')):\n        with "
                  "T.Kernel(1) as bx:\n            A[0] = 1.0\n    return inner\nscale(8)\nother()\n";
  EXPECT_EQ(instances(text(f, {.kernel = "scale"})), (Names{"scale[N=8, two=2] literal"}));
  EXPECT_EQ(instances(text(f, {.kernel = "other"})), (Names{"inner literal"}));
  EXPECT_EQ(instances(text(f, {.kernel = "inner"})), (Names{"inner literal"}));
  EXPECT_EQ(instances(text(f, {.kernel = "nobody"})), (Names{"k.py: the file has no kernel 'nobody'"}));
}

TEST(Instances, PassConfigsFromTheCommandLine) {
  Evaluated e = text(std::string(kFactory) + "scale(8)\n", {.pass_configs = {{"tl.disable_wgmma", "True"}}});
  ASSERT_EQ(e.module.funcs.size(), 1u);
  const ir::AttrValue* a = ir::find_attr(e.module.funcs[0].attrs, "tl.disable_wgmma");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(std::get<ir::MetaInt>(*a).value, 1);
  EXPECT_EQ(text(std::string(kFactory) + "scale(8)\n", {.pass_configs = {{"tl.disable_wgma", "True"}}}).diags.size(),
            1u);
}

TEST(Instances, ArgumentsAreTyped) {
  EXPECT_EQ(parse_arg("12"), ArgValue(int64_t{12}));
  EXPECT_EQ(parse_arg("-1"), ArgValue(int64_t{-1}));
  EXPECT_EQ(parse_arg("1.5"), ArgValue(1.5));
  EXPECT_EQ(parse_arg("True"), ArgValue(true));
  EXPECT_EQ(parse_arg("float16"), ArgValue(std::string("float16")));
}

TEST(Bounds, AreSetByName) {
  Bounds bounds;
  EXPECT_TRUE(set_bound(bounds, "calls=300").ok());
  EXPECT_EQ(bounds.calls, 300);
  for (const char* wrong : {"calls=0", "calls", "depth=3", "calls=x"}) {
    EXPECT_FALSE(set_bound(bounds, wrong).ok()) << wrong;
  }
}

TEST(Manifest, ErrorsNameTheirKey) {
  auto failure = [](const std::string& t) {
    auto r = parse_manifest(add_source_file("m.toml", t));
    return r ? std::string() : place_text(r.error().where) + ": " + r.error().message;
  };
  EXPECT_EQ(failure("[[kernel]]\nname = 'a'\nargs = { N = 1 }\n"), "");
  EXPECT_EQ(failure("[[kernel]]\nargs = { N = 1 }\n"), "m.toml:1:1: the kernel has no name");
  EXPECT_EQ(failure("[[kernel]]\nname = 'a'\nfoo = 1\n"),
            "m.toml:3:7: a kernel has name, instance, args, shapes, dtypes, sm_count and pass_configs, not 'foo'");
  EXPECT_EQ(failure("[[kernel]]\nname = 'a'\nargs = { N = [1.5] }\n"),
            "m.toml:3:14: 'N' has to be a number, a truth value, text or a list of integers");
  EXPECT_EQ(failure("[[kernel]]\nname = 3\n"), "m.toml:2:8: 'name' has to be text");
  EXPECT_EQ(failure("sm_count = -4\n"), "m.toml:1:12: 'sm_count' has to be a positive integer");
  EXPECT_EQ(failure("[[kernel]]\nname = 'a'\ninstance = 'x'\n[[kernel]]\nname = 'a'\ninstance = 'x'\n"),
            "m.toml:4:1: two instances of 'a' are called 'x'");
  EXPECT_NE(failure("[[kernel]\n"), "");
  EXPECT_NE(failure("x = 1\n"), "");
}

TEST(Language, EveryBuiltinIsAName) {
  for (auto table : {alloc_builtins, view_builtins, copy_builtins, gemm_builtins, tile_builtins, atomic_builtins,
                     layout_builtins, schedule_builtins, launch_builtins, loop_builtins, sync_builtins,
                     intrinsic_builtins, memory_builtins, scalar_builtins, dtype_builtins})
    for (const Builtin& b : table())
      if (std::string_view(b.space) == "T") {
        EXPECT_TRUE(is_language_name(b.name) || b.name[0] == '_') << b.name;
      }
  EXPECT_EQ(pass_config_of_member("TL_DISABLE_WARP_SPECIALIZED"), "tl.disable_warp_specialized");
  EXPECT_EQ(pass_config_of_member("TL_SIMPLIFY"), "tl.Simplify");
  EXPECT_EQ(pass_config_of_member("TL_NOTHING"), "");
}

TEST(Language, TheTableOfNamesIsCurrent) {
  std::ifstream file(kRoot + "../docs/language-names.md");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text, language_table()) << "tools/language-table prints it";
}

TEST(Checks, ABufferThatIsReadAndNeverWrittenIsWarnedAbout) {
  Evaluated e = evaluate_file(kRoot + "eval/gemms.py", {});
  ASSERT_FALSE(e.warnings.empty());
  EXPECT_EQ(e.warnings[0].rule, "LANG-04");
  EXPECT_EQ(e.warnings[0].message, "'a' is read and never written");
}

// The lines of a file that end in "# warning: TEXT" are those with warnings of a rule.
void expect_warnings(const std::string& path, std::string_view rule, size_t count) {
  Evaluated e = evaluate_file(kRoot + path, {});
  EXPECT_TRUE(e.diags.empty());
  std::ifstream file(kRoot + path);
  Names wanted, found;
  size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    size_t at = line.find("  # warning: ");
    if (at != std::string::npos) wanted.push_back(std::to_string(number) + ": " + line.substr(at + 13));
  }
  for (const Diag& d : e.warnings)
    if (d.rule == rule) found.push_back(std::to_string(d.where.line) + ": " + d.message);
  EXPECT_EQ(found, wanted);
  EXPECT_EQ(wanted.size(), count);
}
TEST(Checks, BuffersReadBeforeTheyAreWritten) { expect_warnings("eval/buffer_init.py", "LANG-04", 8); }
TEST(Checks, IterationsThatWriteOneElement) { expect_warnings("eval/races.py", "LANG-05", 6); }

std::vector<fs::path> corpus(const std::string& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(kRoot + folder))
    if (entry.path().extension() == ".py") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Corpus, EveryKernelPassesAndReadsBack) {
  int kernels = 0;
  for (const char* folder : {"kernels", "cases", "mutants"})
    for (const fs::path& path : corpus(folder)) {
      Evaluated e = evaluate_file(path.string(), {});
      for (const Diag& d : e.diags) ADD_FAILURE() << render(d);
      ASSERT_EQ(e.module.funcs.size(), 1u) << path;
      EXPECT_TRUE(ir::validate(e.module).ok()) << path;
      std::string printed = ir::print(e.module);
      auto again = ir::parse("again.ir", printed);
      ASSERT_TRUE(again.ok()) << render(again.error());
      EXPECT_EQ(ir::print(*again), printed);
      ++kernels;
    }
  EXPECT_GT(kernels, 35);
}

// The lines that the tables blame exist, and are no blank lines.
TEST(Corpus, TablesPointAtCode) {
  for (const char* folder : {"cases", "mutants"}) {
    auto table = read_file(kRoot + folder + "/" + folder + ".tsv");
    ASSERT_TRUE(table.ok());
    std::istringstream in(*table);
    std::string row, name, arch, expected, blamed;
    std::getline(in, row);
    while (std::getline(in, row)) {
      std::istringstream fields(row);
      for (std::string* field : {&name, &arch, &expected, &blamed}) std::getline(fields, *field, '\t');
      auto source = read_file(kRoot + folder + "/" + name);
      ASSERT_TRUE(source.ok()) << name;
      EXPECT_EQ(expected == "clean", blamed == "-") << name;
      if (blamed == "-") continue;
      FileId file = add_source_file(name, *source);
      EXPECT_FALSE(source_line(file, static_cast<uint32_t>(std::stoul(blamed))).empty()) << name;
    }
  }
}

// Files cut anywhere, and files with a token replaced, end in diagnostics or kernels, never in a crash.
TEST(Robustness, DamagedFiles) {
  for (const fs::path& path : corpus("kernels")) {
    auto whole = read_file(path.string());
    ASSERT_TRUE(whole.ok());
    for (size_t n = 0; n < whole->size(); n += 37) {
      Evaluated e = evaluate(add_source_file("cut.py", whole->substr(0, n)), "", {});
      EXPECT_TRUE(!e.diags.empty() || !e.module.funcs.empty());
    }
    for (const char* junk :
         {"None", "-1", "0", "T", "[]", "(1, 2)", "'x'", "A", "2 ** 62", "k", "T.float16", "lambda: 0", "1.5"})
      for (size_t at = whole->find_first_of("(,["); at != std::string::npos; at = whole->find_first_of("(,[", at + 1)) {
        size_t end = whole->find_first_of("),]:=\n", at + 1);
        std::string damaged = whole->substr(0, at + 1) + junk + whole->substr(std::min(end, whole->size()));
        Evaluated e = evaluate(add_source_file("damaged.py", damaged), "", {});
        for (const Diag& d : e.diags) EXPECT_FALSE(d.message.empty());
        EXPECT_TRUE(ir::validate(e.module).ok());
      }
  }
}

}  // namespace
}  // namespace tc::eval
