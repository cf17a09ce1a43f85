#!/usr/bin/env python3
"""Holds the pages to one form of decimals: check_decimals.py REPOSITORY

The programs, the pictures and the prose and tables of every Markdown page write 0.583, never without the zero. Code blocks, code
spans and the targets of links may hold anything.
"""

import re
import sys
from pathlib import Path

BARE = re.compile(r"(?<![\w.:\\`])(?<!\D/)[-−+±]?\.\d[\d.]*")
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*(?:\n[^`\n]*)?`|\]\([^)\s]*\)|https?://\S+|</?[a-zA-Z][^>\n]*>", re.M | re.S)
EXAMPLES = {".5": [".5"], "(.5 to -.25), ±.1": [".5", "-.25", "±.1"], "| .583 [.565, .602] |": [".583", ".565", ".602"], ".2/.2": [".2", ".2"],
            "0.5, 1.25, v1.2.3, `.5`, [x](a/.5), .ci/run, a.5, the end.": []}


def bare_decimals(text):
    """Returns the decimals without a leading zero, as (line, decimal)."""
    text = CODE.sub(lambda code: re.sub(r"[^\n]", "x", code.group()), text)
    return [(text.count("\n", 0, found.start()) + 1, found.group()) for found in BARE.finditer(text)]


def main():
    root = Path(sys.argv[1])
    for text, expected in EXAMPLES.items():
        assert [decimal for _, decimal in bare_decimals(text)] == expected, text
    pages = [page for page in sorted(root.rglob("*.md")) if not {"build", ".deps"} & set(page.relative_to(root).parts)]
    faults = [f"{page.relative_to(root)}:{line}: {decimal}: write the zero before the point"
              for page in pages for line, decimal in bare_decimals(page.read_text(encoding="utf-8"))]
    print("\n".join([*faults, f"{len(pages)} pages, {len(faults)} decimals without a zero"]))
    return 1 if faults or len(pages) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
