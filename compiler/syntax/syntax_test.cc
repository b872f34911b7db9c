// The parser: places, isolation from every Python file around, and refusals instead of crashes.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "compiler/syntax/parse.h"

namespace tc::syntax {
namespace {
using namespace tc::ast;

Result<ModulePtr> parse_text(std::string_view text) { return parse(add_source_file("k.py", text)); }

std::string failure_of(std::string_view text) {
  auto r = parse_text(text);
  return r ? "" : place_text(r.error().where) + ": " + r.error().message;
}

// A folder with Python files that leave a mark when anybody runs them. Must come first in this process: it sets the
// scene before the interpreter starts, and every later test would start it as well.
TEST(AIsolation, NothingAroundIsExecuted) {
  namespace fs = std::filesystem;
  fs::path dir = fs::temp_directory_path() / ("tc_syntax_" + std::to_string(getpid()));
  fs::create_directories(dir / "bin");
  fs::create_directories(dir / "lib" / "python3.11");
  fs::path mark = dir / "mark";
  std::string evil = "open(" + std::string("'") + mark.string() + "', 'a').write(__name__)\n";
  for (const char* name : {"sitecustomize.py", "usercustomize.py", "ast.py", "_ast.py", "encodings.py", "codecs.py",
                           "os.py", "warnings.py", "kernel.py", "lib/python3.11/ast.py", "lib/python3.11/os.py",
                           "lib/python3.11/site.py", "bin/ast.py"})
    std::ofstream(dir / name) << evil;
  std::ofstream(dir / "bin" / "python3") << "#!/bin/sh\ntouch " << mark.string() << "\n";
  std::ofstream(dir / "pyvenv.cfg") << "home = " << (dir / "bin").string() << "\n";
  fs::permissions(dir / "bin" / "python3", fs::perms::owner_all);
  fs::path before = fs::current_path();
  fs::current_path(dir);
  setenv("PATH", (dir / "bin").c_str(), 1);
  setenv("PYTHONPATH", dir.c_str(), 1);
  setenv("PYTHONHOME", dir.c_str(), 1);
  setenv("PYTHONSTARTUP", (dir / "kernel.py").c_str(), 1);
  setenv("PYTHONPLATLIBDIR", dir.c_str(), 1);
  setenv("PYTHONWARNINGS", "error", 1);

  std::string text;
  {
    std::ifstream in(dir / "kernel.py");
    std::getline(in, text);
  }
  auto started = std::chrono::steady_clock::now();
  auto module =
      parse(add_source_file((dir / "kernel.py").string(), text + "\nx = '\\d'\nimport os, ast, sitecustomize\n"));
  double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
  ASSERT_TRUE(module.ok()) << module.error().message;
  EXPECT_EQ((*module)->body.size(), 3u);
  EXPECT_FALSE(fs::exists(mark));
  RecordProperty("start_ms", std::to_string(ms));
  std::printf("start and first parse: %.1f ms\n", ms);
  EXPECT_LT(ms, 1000) << "generous: the machine may be busy; 60 ms is the aim";
  // The control: an ordinary interpreter does fall into the trap.
  int status = std::system("cd bin && /usr/bin/env -i /usr/bin/python3 -c 'import ast' >/dev/null 2>&1");
  EXPECT_TRUE(fs::exists(mark)) << "the trap is blunt, status " << status;
  fs::current_path(before);
  fs::remove_all(dir);
}

TEST(Parse, PlacesAreOneBasedBytes) {
  auto module = parse_text("é = 'ü' + x\nif a:\n    f(b, k=c)\n");
  ASSERT_TRUE(module.ok());
  const Stmt* first = (*module)->body[0];
  EXPECT_EQ(first->where, (SourceRange{(*module)->file, 1, 1, 1, 14}));
  const auto& sum = std::get<BinaryExpr>(std::get<Assign>(first->node).value->node);
  EXPECT_EQ(sum.right->where.column, 13u);
  EXPECT_EQ(std::get<std::string>(std::get<Constant>(sum.left->node).value), "ü");
  const auto& call =
      std::get<Call>(std::get<ExprStmt>(std::get<If>((*module)->body[1]->node).body[0]->node).value->node);
  EXPECT_EQ(call.keywords[0].name, "k");
  EXPECT_EQ(call.keywords[0].where, (SourceRange{(*module)->file, 3, 10, 3, 13}));
}

TEST(Parse, ByteOrderMarkShiftsTheFirstLine) {
  auto module = parse_text("\xEF\xBB\xBFx = 1\ny = 2\n");
  ASSERT_TRUE(module.ok());
  EXPECT_EQ((*module)->body[0]->where.column, 4u);
  EXPECT_EQ((*module)->body[1]->where.column, 1u);
}

TEST(Parse, FunctionsKeepDefaultsAndDecorators) {
  auto module =
      parse_text("@jit(out_idx=[-1])\ndef f(a, b=2, *, c, d: int = 4):\n    return a if b else lambda x: x\n");
  ASSERT_TRUE(module.ok());
  const auto& f = std::get<FunctionDef>((*module)->body[0]->node);
  ASSERT_EQ(f.params.list.size(), 4u);
  EXPECT_EQ(f.params.list[0].default_value, nullptr);
  EXPECT_EQ(std::get<int64_t>(std::get<Constant>(f.params.list[1].default_value->node).value), 2);
  EXPECT_TRUE(f.params.list[2].keyword_only);
  EXPECT_EQ(f.params.list[2].default_value, nullptr);
  EXPECT_EQ(std::get<int64_t>(std::get<Constant>(f.params.list[3].default_value->node).value), 4);
  EXPECT_EQ(f.decorators.size(), 1u);
  EXPECT_EQ(f.name_where.line, 2u);
  EXPECT_EQ(f.name_where.end_column, 6u);
}

TEST(Parse, NodesInsideFStringsHaveTheStringsPlace) {
  auto module = parse_text("x = f'a{b + 1}c'\n");
  ASSERT_TRUE(module.ok());
  const Expr* value = std::get<Assign>((*module)->body[0]->node).value;
  const auto& parts = std::get<JoinedStr>(value->node).parts;
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1]->where, value->where);
}

TEST(Parse, HostCodeBecomesOther) {
  auto module = parse_text(
      "class A: pass\nasync def f(): await g()\nmatch x:\n  case 1: pass\nx = {1, 2}\ny = 1j\nz = 1 << 2\nw = " +
      std::string("99999999999999999999\nglobal q\n"));
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(std::get<OtherStmt>((*module)->body[1]->node).kind, "AsyncFunctionDef");
  const auto& set = std::get<Assign>((*module)->body[3]->node).value->node;
  EXPECT_EQ(std::get<SetExpr>(set).items.size(), 2u);
  const auto& big = std::get<Constant>(std::get<Assign>((*module)->body[6]->node).value->node);
  EXPECT_TRUE(std::holds_alternative<BigIntLit>(big.value));
}

TEST(Parse, RefusalsHavePlaces) {
  EXPECT_EQ(failure_of("x = (1,\n"), "k.py:1:5: syntax error: '(' was never closed");
  EXPECT_EQ(failure_of("é = 1 1\n"), "k.py:1:8: syntax error: invalid syntax");
  EXPECT_EQ(failure_of("if x:\ny\n"),
            "k.py:2:1: syntax error: expected an indented block after 'if' statement on line 1");
  EXPECT_EQ(failure_of(std::string_view("a = 1\nb\0 = 2\n", 13)), "k.py:2:2: the file contains a NUL byte");
  EXPECT_EQ(failure_of("a\n  \xFF\n"), "k.py:2:3: the file is not valid UTF-8");
  EXPECT_EQ(failure_of("\xC0\x80"), "k.py:1:1: the file is not valid UTF-8");
  EXPECT_NE(failure_of("x = '''\n"), "");
  EXPECT_NE(failure_of("\tx\n  y\n"), "");
}

TEST(Parse, DeepNestingIsRefused) {
  auto repeat = [](const char* s, int n) {
    std::string out;
    while (n-- > 0) out += s;
    return out;
  };
  EXPECT_NE(failure_of("x = " + repeat("(", 3000) + repeat(")", 3000)), "");
  EXPECT_NE(failure_of("x = " + repeat("-", 5000) + "1\n"), "");
  EXPECT_NE(failure_of("x = " + repeat("-", 100000) + "1\n"), "");
  EXPECT_NE(failure_of("x = 1" + repeat(" + 1", 1000) + "\n").find("levels deep"), std::string::npos);
  EXPECT_NE(failure_of("x = 1" + repeat(" + 1", 100000) + "\n"), "");
  EXPECT_NE(failure_of("x = a" + repeat(".a", 100000) + "\n"), "");
  EXPECT_EQ(failure_of("x = [" + repeat("1, ", 100000) + "]\n"), "");
}

TEST(Parse, HugeFilesAreRefused) {
  EXPECT_NE(failure_of(std::string(kMaxSourceBytes + 1, '#')).find("bytes, more than"), std::string::npos);
}

TEST(Parse, EmptyFile) { EXPECT_EQ(failure_of(""), ""); }

}  // namespace
}  // namespace tc::syntax
