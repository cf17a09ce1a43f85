#!/usr/bin/env python3
"""Writes docs/reference/python.md from the docstrings of python/lie_cluster: docs_python.py [--check]

--check fails where the page differs. Needs only Python.
"""

import ast
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/python.md"
MODULES = ["export", "judge", "behaviors", "track", "study", "study/starts", "study/budgets"]

HEAD = """# Python package

This page lists what `lie_cluster` for Python offers. Read it to look up a call; [Read a run from
Python](../how-to/read-from-python.md) shows the package in use. `scripts/docs_python.py` makes this
page from the docstrings.

"""


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def wrapped(text, width=100):
    """Wraps the paragraphs of a docstring; indented lines become a code block."""
    parts = []
    for paragraph in textwrap.dedent(text).strip().split("\n\n"):
        if paragraph.startswith("    "):
            parts.append("```console\n" + textwrap.dedent(paragraph).rstrip() + "\n```")
        else:
            plain = " ".join(line.strip() for line in paragraph.splitlines())
            parts.append(textwrap.fill(plain, width, break_long_words=False, break_on_hyphens=False))
    return "\n\n".join(parts)


def docstring(node):
    """Returns the docstring with its first line at the indentation of the others."""
    first, _, rest = (ast.get_docstring(node, clean=False) or "").partition("\n")
    return first.strip() + "\n" + textwrap.dedent(rest)


def signature(function):
    arguments = ast.unparse(function.args)
    arguments = arguments[len("self"):].lstrip(", ") if arguments.startswith("self") else arguments
    is_property = any(getattr(mark, "id", "") == "property" for mark in function.decorator_list)
    return f"`{function.name}`, an attribute" if is_property else f"`{function.name}({arguments})`"


def class_section(node):
    lines = [f"## {node.name}", "", wrapped(docstring(node)), ""]
    for part in node.body:
        if isinstance(part, ast.AnnAssign):
            lines.append(f"- `{part.target.id}`: {ast.unparse(part.annotation)}")
        elif isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
            lines += [f"### {part.name}", "", wrapped(f"{signature(part)}. {docstring(part)}"), ""]
    return "\n".join(lines).rstrip() + "\n"


def fields_with_comments(path, name):
    """Returns the comments beside the fields of class `name`, by field."""
    comments, inside = {}, False
    for line in path.read_text(encoding="utf-8").splitlines():
        inside = line.startswith(f"class {name}(") or (inside and (line.startswith(" ") or not line))
        if inside and ": " in line and "#" in line:
            comments[line.split(":")[0].strip()] = line.split("#", 1)[1].strip()
    return comments


def page():
    run = ROOT / "python/lie_cluster/run.py"
    error = ROOT / "python/lie_cluster/error.py"
    classes = {node.name: node for file in (run, error) for node in parsed(file).body if isinstance(node, ast.ClassDef)}
    text = HEAD + class_section(classes["Run"]) + "\n" + class_section(classes["Tokens"])
    for field, comment in fields_with_comments(run, "Tokens").items():
        text = text.replace(f"- `{field}`: np.ndarray", f"- `{field}`: {comment}")
    text += "\n" + class_section(classes["Error"]) + "\n## Commands\n"
    for module in MODULES:
        path = ROOT / "python/lie_cluster" / module
        file = path / "__main__.py" if path.is_dir() else path.with_suffix(".py")
        tree = parsed(file)
        if not ast.get_docstring(tree):
            tree = parsed(path / "__init__.py")
        said = re.sub(r"^python -m [\w.]+: (.)", lambda begin: begin[1].upper(), docstring(tree))
        text += f"\n### python -m lie_cluster.{module.replace('/', '.')}\n\n{wrapped(said)}\n"
    return text


def main():
    wanted = page()
    if sys.argv[1:] == ["--check"]:
        if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != wanted:
            print(f"{PAGE.relative_to(ROOT)} is not up to date: run python3 scripts/docs_python.py")
            return 1
        return 0
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
