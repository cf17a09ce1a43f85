#!/usr/bin/env python3
"""Finds dead references in the documentation: check_links.py REPOSITORY

Checks every Markdown file: links and images to files, anchors of headings, and paths of the
repository in backticks or in code blocks, such as `learner/loss/policy_loss.h`. Checks
that sources, scripts and configs mention only pages of docs/ that exist, and that index.md lists
every page. Needs only Python. Exit status 1 if a reference is dead.
"""

import glob
import os
import re
import sys
from pathlib import Path

SKIPPED = {".git", ".deps", "build", "runs", "__pycache__"}
SOURCES = {".h", ".cpp", ".cu", ".cuh", ".py", ".sh", ".yaml", ".yml", ".txt", ".cmake", ".in",
           ".sbatch", ".ipynb", ".toml", ".js"}
# Endings that a path in backticks may leave out: `rewards/score` names the pair of files.
ENDINGS = ("", ".h", ".cpp", ".py", ".sh", ".yaml", ".cu")


def files_of(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - SKIPPED)
        for name in sorted(names):
            yield Path(folder) / name


def without_code(text):
    """Returns `text` with code blocks and code spans blanked, line for line."""
    blank = lambda found: re.sub(r"[^\n]", " ", found[0])
    text = re.sub(r"^ *(```+|~~~+).*?^ *\1 *$", blank, text, flags=re.S | re.M)
    return re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", blank, text)


def anchors_of(text):
    """Returns the anchors of a page: its headings as GitHub names them, and explicit ids."""
    anchors, seen = set(re.findall(r'<a (?:id|name)="([^"]+)"', text)), {}
    fenced = re.sub(r"^ *(```+).*?^ *\1 *$", "", text, flags=re.S | re.M)
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", fenced, flags=re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number = seen.get(slug, 0)
        seen[slug] = number + 1
        anchors.add(f"{slug}-{number}" if number else slug)
    return anchors


def braces(path):
    """Expands a.{h,cpp} to a.h and a.cpp."""
    found = re.search(r"\{([^{}]*,[^{}]*)\}", path)
    if not found:
        return [path]
    return [whole for choice in found[1].split(",")
            for whole in braces(path[:found.start()] + choice + path[found.end():])]


def exists(root, path):
    return any(glob.glob(str(root / (path.rstrip("/") + ending))) for ending in ENDINGS)


class Checker:
    def __init__(self, root):
        self.root = root
        self.tops = {p.name for p in root.iterdir() if p.is_dir()} - SKIPPED
        self.dead = []
        self.anchors = {}

    def report(self, page, text, place, what):
        line = text.count("\n", 0, place) + 1
        self.dead.append(f"{page.relative_to(self.root)}:{line}: {what}")

    def has_anchor(self, page, anchor):
        if page not in self.anchors:
            self.anchors[page] = anchors_of(page.read_text(encoding="utf-8"))
        return anchor in self.anchors[page]

    def check_links(self, page, text):
        prose = without_code(text)
        links = [*re.finditer(r"\]\(\s*<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)", prose),
                 *re.finditer(r"^ *\[[^\]]+\]: +<?([^\s>]+)", prose, flags=re.M)]
        for link in links:
            target = link[1]
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                self.report(page, text, link.start(), f"no such file: {target}")
            elif anchor and file.suffix == ".md" and not self.has_anchor(file, anchor):
                self.report(page, text, link.start(), f"no such heading: {target}")

    def check_paths(self, page, text):
        """Reports paths in code spans and code blocks that do not exist in the repository."""
        code = [(m.start(), m[2]) for m in re.finditer(r"(?<!`)(`)(?!`)(.+?)(?<!`)`(?!`)", text)]
        code += [(m.start(), m[2])
                 for m in re.finditer(r"^ *(```+)[^\n]*\n(.*?)^ *\1 *$", text, flags=re.S | re.M)]
        for place, piece in code:
            for found in re.finditer(r"(?<![\w./$~-])[\w.-]+(?:/[\w.{},*+-]+)+/?", piece):
                path = found[0].rstrip(".,")
                if "{" not in path:  # as in YAML: {file: a/b.txt}
                    path = path.rstrip("}")
                if path.split("/")[0] not in self.tops or re.search(r"[A-Z]{4}|\.\.\.", path):
                    continue
                for whole in braces(path):
                    if not exists(self.root, whole) and not exists(page.parent, whole):
                        self.report(page, text, place, f"no such path: {whole}")

    def check_mentions(self, file):
        text = file.read_text(encoding="utf-8", errors="replace")
        for found in re.finditer(r"(?<![\w./-])docs/[\w./-]+\.(?:md|png|svg)", text):
            if not (self.root / found[0]).exists():
                self.report(file, text, found.start(), f"no such page: {found[0]}")

    def check_index(self, pages):
        docs = self.root / "docs"
        index = docs / "index.md"
        listed = set(re.findall(r"^- \[.*?\]\(([\w/.-]+\.md)\)", index.read_text(encoding="utf-8"),
                                flags=re.M))
        for page in pages:
            if page.is_relative_to(docs) and page != index:
                name = page.relative_to(docs).as_posix()
                if name not in listed:
                    self.dead.append(f"docs/index.md: does not list {name}")


def main():
    root = Path(sys.argv[1]).resolve()
    checker = Checker(root)
    pages = []
    for file in files_of(root):
        if file.suffix == ".md":
            pages.append(file)
            text = file.read_text(encoding="utf-8")
            checker.check_links(file, text)
            checker.check_paths(file, text)
        elif file.suffix in SOURCES and file.parent != Path(__file__).resolve().parent:
            checker.check_mentions(file)
    checker.check_index(pages)
    for line in checker.dead:
        print(line)
    print(f"{len(pages)} pages, {len(checker.dead)} dead references")
    return 1 if checker.dead or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
