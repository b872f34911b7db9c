// The types of operators' results against those that a TileLang release gives: testdata/reference/promotion.tsv, made
// by tools/reference/release_promotion.py. Every row becomes statements of a kernel that assert the type, or have to
// fail.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/files.h"
#include "compiler/eval/evaluate.h"

namespace tc::eval {
namespace {
using Row = std::vector<std::string>;
struct Asked {
  size_t column;  // of the table
  const char* text;
};
// The operators of a column's family. Two kernels a row: a kernel reports 20 errors.
constexpr Asked kFirst[] = {{2, "x + y"},
                            {2, "x - y"},
                            {2, "x * y"},
                            {2, "T.max(x, y)"},
                            {2, "T.min(x, y)"},
                            {2, "T.if_then_else(c, x, y)"},
                            {3, "x / y"},
                            {4, "x // y"},
                            {4, "x % y"},
                            {4, "T.floordiv(x, y)"},
                            {4, "T.floormod(x, y)"},
                            {4, "T.truncdiv(x, y)"},
                            {4, "T.ceildiv(x, y)"}};
constexpr Asked kSecond[] = {{5, "x << y"},
                             {5, "x >> y"},
                             {5, "T.shift_left(x, y)"},
                             {5, "T.shift_right(x, y)"},
                             {6, "x & y"},
                             {6, "x | y"},
                             {6, "x ^ y"},
                             {6, "T.bitwise_and(x, y)"},
                             {6, "T.bitwise_or(x, y)"},
                             {6, "T.bitwise_xor(x, y)"},
                             {7, "x < y"},
                             {7, "x <= y"},
                             {7, "x > y"},
                             {7, "x >= y"},
                             {7, "x == y"},
                             {7, "x != y"},
                             {8, "T.pow(x, y)"},
                             {9, "T.Select(c, x, y)"}};

std::vector<Row> table(const std::string& name) {
  std::ifstream in(std::string(TC_SOURCE_ROOT) + "/testdata/reference/" + name);
  std::vector<Row> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream cells(line);
    Row row;
    for (std::string cell; std::getline(cells, cell, '\t');) row.push_back(cell);
    rows.push_back(row);
  }
  if (!rows.empty()) rows.erase(rows.begin());  // the head
  return rows;
}

bool is_number(const std::string& operand) {
  return operand == "True" || operand.find_first_not_of("-.0123456789") == std::string::npos;
}

// Of the 8-bit floats without infinities or sign the release has other bounds for constants than the types' own values:
// -1 is refused for float8_e5m2fnuz, 300 accepted for float8_e4m3 (240 is its largest). Here the values decide.
bool other_bounds(const Row& row) {
  auto rare = [](const std::string& t) { return t.ends_with("fnuz") || t == "float8_e4m3"; };
  return (rare(row[0]) && is_number(row[1])) || (rare(row[1]) && is_number(row[0]));
}

// A file of kernels, and what each of its lines has to be.
struct File {
  std::string text = "import tilelang.language as T\n";
  uint32_t lines = 1, kernels = 0;
  std::map<uint32_t, std::string> wanted;  // by line: "refused" or accepted, for the message

  void add(const std::string& line) {
    text += line + "\n";
    ++lines;
  }
  void kernel(const Row& row, std::span<const Asked> asked) {
    const std::string &left = row[0], &right = row[1];
    auto given = [](const std::string& operand) { return is_number(operand) ? "int8" : operand; };
    add("@T.prim_func");
    add("def k" + std::to_string(kernels++) + "(X: T.Tensor((1,), '" + given(left) + "'), Y: T.Tensor((1,), '" +
        given(right) + "'), c: T.bool):");
    add("    with T.Kernel(1) as bx:");
    add("        x = " + (is_number(left) ? left : "X[0]"));
    add("        y = " + (is_number(right) ? right : "Y[0]"));
    for (const Asked& a : asked) {
      bool negative_amount = a.column == 5 && right == "-1";  // accepted there where the type is not int32 or int64
      bool refused = row[a.column] == "-" || negative_amount;
      add(refused ? std::string("        ") + a.text
                  : std::string("        assert (") + a.text + ").dtype == '" + row[a.column] + "'");
      wanted[lines] = left + " and " + right + ": " + a.text + " is " + (refused ? "refused" : row[a.column]);
    }
  }
  // What differs: a line that should fail and does not, or the other way round.
  std::vector<std::string> differences() const {
    Evaluated e = evaluate(add_source_file("promotion.py", text), "", {});
    std::map<uint32_t, std::string> failed;
    for (const Diag& d : e.diags) failed[d.where.line] = d.message;
    std::vector<std::string> out;
    for (const auto& [line, what] : wanted) {
      bool refused = what.ends_with("refused");
      if (refused != failed.contains(line)) out.push_back(what + (refused ? "" : " there, here: " + failed[line]));
    }
    return out;
  }
};

TEST(Promotion, OperatorsHaveTheTypesOfTheRelease) {
  std::vector<Row> rows = table("promotion.tsv");
  ASSERT_GT(rows.size(), 1700U);
  std::map<std::string, int> wrong;
  size_t asked = 0, left_out = 0;
  for (size_t first = 0; first < rows.size(); first += 64) {
    File file;
    for (size_t i = first; i < std::min(rows.size(), first + 64); ++i) {
      ASSERT_EQ(rows[i].size(), 10U);
      if (other_bounds(rows[i])) {
        ++left_out;
        continue;
      }
      file.kernel(rows[i], kFirst);
      file.kernel(rows[i], kSecond);
    }
    asked += file.wanted.size();
    for (const std::string& what : file.differences()) ++wrong[what];
  }
  EXPECT_EQ(left_out, 56U);
  EXPECT_EQ(asked, (rows.size() - left_out) * (std::size(kFirst) + std::size(kSecond)));
  for (const auto& [what, times] : wrong) ADD_FAILURE() << what;
}

// The value that a kernel's store writes, where it is a constant.
std::optional<int64_t> stored(const ir::Module& m) {
  std::optional<int64_t> out;
  ir::walk(m, m.funcs.at(0).body, [&](ir::OpId id) {
    if (m[id].kind != ir::OpKind::store) return;
    if (auto c = ir::constant_value(m, m[id].operands.back())) out = c->value;
  });
  return out;
}

// Arithmetic on constants has the release's type and value: floor division, wrapping at the type's width, refusals.
TEST(Promotion, ConstantsFoldAsInTheRelease) {
  // Refused there alone: an unsigned 0 - 1; a truth value of 2. Here they are what the machine makes of them.
  const std::set<std::string> accepted{"T.uint32(0) - 1", "T.bool(True) + T.bool(True)"};
  size_t values = 0;
  for (const Row& row : table("folding.tsv")) {
    std::string kernel =
        "import tilelang.language as T\n@T.prim_func\ndef k(out: T.Tensor((1,), 'int64')):\n"
        "    with T.Kernel(1) as bx:\n        out[0] = " +
        row[0] + "\n";
    bool refused = row[1] == "-" && !accepted.contains(row[0]);
    if (!refused && row[1] != "-") kernel += "        assert (" + row[0] + ").dtype == '" + row[1] + "'\n";
    Evaluated e = evaluate(add_source_file("folding.py", kernel), "", {});
    EXPECT_EQ(refused, !e.diags.empty()) << row[0] << (e.diags.empty() ? "" : ": " + e.diags[0].message);
    if (!e.diags.empty() || row.size() < 3 || row[1] == "bool") continue;
    auto value = stored(e.module);
    if (!value || row[1].starts_with("float")) continue;  // left to the machine, or no integer
    ++values;
    EXPECT_EQ(std::to_string(*value), row[2]) << row[0];
  }
  EXPECT_GE(values, 16U);
}
}  // namespace
}  // namespace tc::eval
