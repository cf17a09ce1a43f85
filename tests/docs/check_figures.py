#!/usr/bin/env python3
"""Holds studies to their words: check_figures.py REPOSITORY

A page of docs/studies holds at most four figures per 100 words of prose: more belong into a table. Prose is what is left
without code, tables, headings, and the targets of links; a figure is a number written in digits, an interval of two has two.
"""

import re
import sys
from pathlib import Path

MOST = 4.0
FIGURE = re.compile(r"(?<![\w.])[-−+±]?(?:\d[\d,]*)?\.?\d+(?:[eE][-−]?\d+)?(?![\w])")


def prose_of(text):
    """Returns the text of a page without code, tables, headings and link targets."""
    text = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.M | re.S)
    text = "\n".join(line for line in text.splitlines() if not re.match(r"\s*(\||#|!\[)", line))
    text = re.sub(r"`[^`]*`", "code", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"<[^>]*>|https?://\S+", "", text)


def figures_of(prose):
    """Returns the figures of a text, without those of dates and of names such as `arXiv:2602.11748`."""
    prose = re.sub(r"\d{4}-\d\d-\d\d|arXiv:\S+", "", prose)
    return FIGURE.findall(prose)


def density_of(text):
    """Returns the figures per 100 words of a page."""
    prose = prose_of(text)
    words = len(re.findall(r"[^\W\d_][\w'’-]*", prose))
    return 100 * len(figures_of(prose)) / max(1, words)


def main():
    pages = sorted((Path(sys.argv[1]) / "docs/studies").glob("*.md"))
    densities = {page.name: density_of(page.read_text(encoding="utf-8")) for page in pages}
    for name, density in sorted(densities.items(), key=lambda item: -item[1]):
        print(f"{name:24} {density:4.1f}" + ("  too many figures: move some into a table" if density > MOST else ""))
    faults = sum(density > MOST for density in densities.values())
    print(f"{len(pages)} pages, {faults} with more than {MOST:g} figures per 100 words of prose")
    return 1 if faults or len(pages) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
