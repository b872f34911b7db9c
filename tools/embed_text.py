#!/usr/bin/python3
"""embed_text.py IN OUT NAME: writes a C++ header that holds the text of IN as `constexpr std::string_view NAME`."""
import sys

source, target, name = sys.argv[1:4]
text = open(source, encoding="utf-8").read()
# A string literal may hold 65,536 bytes: pieces of 8,192 characters, joined by the compiler.
pieces = [text[i:i + 8192] for i in range(0, len(text), 8192)]
with open(target, "w", encoding="utf-8") as out:
    out.write("#pragma once\n#include <string_view>\n\ninline constexpr std::string_view %s =\n" % name)
    for piece in pieces:
        out.write('    R"TLTEXT(%s)TLTEXT"\n' % piece)
    out.write("    ;\n")
