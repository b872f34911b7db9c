#include <gtest/gtest.h>

#include <filesystem>

#include "base/diag.h"
#include "base/files.h"
#include "base/id.h"
#include "base/result.h"

namespace tc {
namespace {

TEST(Diag, RendersPlaceLineAndCaret) {
  FileId f = add_source_file("a.py", "x = 1\n  wait(b, 1)\n");
  Diag d = input_error({f, 2, 3, 2, 7}, "parity differs");
  d.rule = "MBAR-06";
  d.notes.push_back({{f, 1, 1, 1, 2}, "set here"});
  EXPECT_EQ(render(d),
            "a.py:2:3: error: parity differs [MBAR-06]\n"
            "    2 |   wait(b, 1)\n"
            "      |   ^^^^\n"
            "a.py:1:1: note: set here\n"
            "    1 | x = 1\n"
            "      | ^\n");
}

TEST(Diag, SurvivesRangesPastTheText) {
  FileId f = add_source_file("b.py", "x\n");
  EXPECT_NE(render(input_error({f, 1, 90, 1, 95}, "m")).find("b.py:1:90: error: m\n"), std::string::npos);
  EXPECT_EQ(render(input_error({f, 7, 1, 7, 2}, "m")), "b.py:7:1: error: m\n");
  EXPECT_EQ(render(input_error({}, "m")), "error: m\n");
}

TEST(Files, WriteThenReadAndFailuresAreNamed) {
  std::string path = std::filesystem::temp_directory_path() / "tilecheck_base_test.txt";
  ASSERT_TRUE(write_file(path, "hello").ok());
  auto text = read_file(path);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "hello");
  std::filesystem::remove(path);
  auto gone = read_file(path);
  ASSERT_FALSE(gone.ok());
  EXPECT_NE(gone.error().message.find("No such file"), std::string::npos);
  EXPECT_FALSE(write_file("/nonexistent/dir/file", "x").ok());
}

}  // namespace
}  // namespace tc
