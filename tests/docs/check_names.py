#!/usr/bin/env python3
"""Compares reference pages with the sources: check_names.py REPOSITORY

docs/reference/trajectory-log.md must name the columns of common/trajectory/schema.h and no others;
docs/reference/metrics.md must name every metric that learner/record adds under a fixed name.
docs/design/step.md must name only functions and types that the file of the same row holds.
No two pages may start runs in one directory: a reader who follows both would be refused.
Commands must work with more ranks than cores. They must name the path of a program, unless the line gives it otherwise.
"""

import re
import sys
from pathlib import Path


def columns_of_schema(root):
    text = (root / "common/trajectory/schema.h").read_text(encoding="utf-8")
    return set(re.findall(r'"(/(?:text|prompt|token|problem|sample|version_run|step)/\w+)"', text))


def metrics_of_sources(root):
    names = set()
    for path in sorted((root / "learner/record").glob("*metrics.cpp")):
        text = path.read_text(encoding="utf-8")
        names |= set(re.findall(r'(?:out\.add\(|add_mean\(out, )"(\w+)"[,)]', text))
    return names


def faults_of_step(root):
    """Returns the faults of the table of files in docs/design/step.md."""
    text = (root / "docs/design/step.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \d+ \| `([^`]+)` \| ([^|]+) \|", text, re.M)
    faults = [] if len(rows) >= 20 else [f"step.md: only {len(rows)} files in the table"]
    for path, names in rows:
        source = (root / path).read_text(encoding="utf-8") if (root / path).is_file() else ""
        for name in re.findall(r"`(\w+)`", names):
            if not re.search(rf"\b{name}\b", source):
                faults.append(f"step.md: {path} has no {name}")
    return faults


def faults_of_commands(root):
    """Returns the lines of console blocks that fail as they are in a fresh clone on a small machine."""
    faults = []
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        for line in re.findall(r"^\$ .*", page.read_text(encoding="utf-8"), re.M):
            if "mpirun" in line and "--oversubscribe" not in line:
                faults.append(f"{page.name}: mpirun without --oversubscribe: {line}")
            program = re.search(r"(?<![\w./-])lie_(?:cluster|analyze|replay|verify) [a-z-]+ ", line)
            if program and not re.search(r"LIE_CLUSTER_HOME|/usr/share/lie_cluster|apptainer|/start ", line):
                faults.append(f"{page.name}: no path of the program: {line}")
    return faults


def faults_of_directories(root):
    """Returns the run directories in which more than one page starts a run."""
    pages = {}
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        for block in re.findall(r"^```(?:console|yaml)\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
            for directory in re.findall(r"(?:run\.directory=|run: \{directory: )([\w/-]+)", block):
                pages.setdefault(directory, set()).add(page.name)
    return [f"{directory}: runs of {' and '.join(sorted(names))}" for directory, names in pages.items() if len(names) > 1]


def main():
    root = Path(sys.argv[1])
    log = (root / "docs/reference/trajectory-log.md").read_text(encoding="utf-8")
    metrics = (root / "docs/reference/metrics.md").read_text(encoding="utf-8")
    columns, documented = columns_of_schema(root), set(re.findall(r"^\| `(/\w+/\w+)` ", log, re.M))
    names, quoted = metrics_of_sources(root), set(re.findall(r"`(\w+)`", metrics))
    faults = [f"trajectory-log.md lacks the column {c}" for c in sorted(columns - documented)]
    faults += [f"trajectory-log.md: no column {c}" for c in sorted(documented - columns)]
    faults += [f"metrics.md lacks the metric {m}" for m in sorted(names - quoted)]
    faults += faults_of_step(root) + faults_of_commands(root) + faults_of_directories(root)
    print("\n".join([*faults, f"{len(columns)} columns, {len(names)} metrics, {len(faults)} faults"]))
    return 1 if faults or len(columns) < 50 or len(names) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
