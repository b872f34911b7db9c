"""The tables of kernels with known verdicts (docs/cases.md), and copies of their files that give nothing away: a neutral name, and the header
lines that describe the case emptied, so that a verdict can rest on the code alone. Line numbers stay what they are."""
import csv
import os
import re

TELLING = re.compile(r"^((?://|#) (?:case|title|source|expect|why|note):).*$", re.M)


def rows(folder):
    """The rows of FOLDER's table; `lines` are the accepted lines of a bug, `classes` the accepted classes."""
    name = next(n for n in sorted(os.listdir(folder)) if n.endswith(".tsv"))
    with open(os.path.join(folder, name), encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            row["clean"] = row["expected"] == "clean"
            row["lines"] = {int(x) for f in ("blamed_lines", "also_lines") for x in (row[f] or "").split(",") if x.strip().isdigit()}
            row["classes"] = set() if row["clean"] else {row["expected"].split(":", 1)[1]} | set(row["also_classes"].split("|")) - {"-"}
            yield row


def neutral_copy(path, number, folder):
    """Writes kernel_NNN.EXT into FOLDER and returns its path."""
    with open(path, encoding="utf-8") as f:
        text = TELLING.sub(r"\1", f.read())
    out = os.path.join(folder, f"kernel_{number:03}{os.path.splitext(path)[1]}")
    with open(out, "w", encoding="utf-8") as f:
        f.write(text)
    return out


def accepted(row, findings):
    """Those of the findings ({class, line}) that describe the bug of this row."""
    return [f for f in findings if f["class"] in row["classes"] and f["line"] in row["lines"]]
