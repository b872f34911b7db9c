// language-table: prints the table of the language's names, docs/language-names.md.
#include <cstdio>

#include "compiler/eval/language_names.h"

int main() { return std::fputs(tc::eval::language_table().c_str(), stdout) < 0; }
