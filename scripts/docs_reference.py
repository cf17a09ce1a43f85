#!/usr/bin/env python3
"""Writes the reference pages that come from the programs' --help texts.

    docs_reference.py BIN           writes them
    docs_reference.py BIN --check   exit status 1 and the names of the pages that are stale

docs/reference/config.md is written whole. In docs/reference/commands.md the text between
"<!-- help: PROGRAM COMMAND -->" and "<!-- end of help -->" is replaced.
"""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"

INTRODUCTION = """\
# Config keys

This page lists every key of a config file, with its default, unit and range. Read it to look up a
key. `lie_cluster train --help KEY` prints the same text; `--set KEY=VALUE` sets a key on the
command line. The page is generated: `scripts/docs_reference.py` writes it from the programs.

A config is a YAML file. Keys are nested at the dots: `run.steps` is `steps` in the section `run`.
An unknown key is an error that names the nearest known one. `base: other.yaml`, or a list of files,
reads these first, and the file's own keys win.

A relative path of `base`, of data or of a model is looked up in the directory of the config that
names it, then in the working directory. `run.directory` and paths given by `--set` are relative to
the working directory. `~/` is the home directory; variables are refused.
"""


def help_of(binaries, *command):
    environment = {**os.environ, "COLUMNS": "100"}
    return subprocess.run([str(Path(binaries) / command[0]), *command[1:], "--help"], check=True,
                          capture_output=True, text=True, env=environment).stdout


# Names, options and commands of TeX, which become code.
CODE = re.compile(r"(--[a-z][\w-]*(?:=\S+)?|\\[A-Za-z]+\d*|<[^>\s]+>"
                  r"|\b[A-Za-z][\w/-]*(?:[._]\w+)+(?:-\w+)*(?:=[\w.-]+)?|\b[a-z]+=\w+)")


def markdown(text):
    """Returns `text` with names as code and with Markdown's special characters escaped."""
    pieces = CODE.split(text)
    return "".join(f"`{piece}`" if k % 2 else re.sub(r"([\\*\[\]<>`])", r"\\\1", piece)
                   for k, piece in enumerate(pieces))


def wrapped(text):
    """Returns `text` in lines of at most 100 characters. No line begins with a minus, which would begin a list."""
    glued = re.sub(r"(?<=\S) - ", "\0-\0", text)
    return textwrap.fill(glued, 100, subsequent_indent="  ", break_long_words=False,
                         break_on_hyphens=False).replace("\0", " ")


def keys_in(text):
    """Returns {section: [(key, help, "default ...; range")]} for the keys in the text of --help all."""
    sections, section = {}, ""
    lines = text.splitlines()
    for k, line in enumerate(lines):
        if re.fullmatch(r"[\w.]+:", line):
            section = line[:-1]
        found = re.fullmatch(r"  ([\w.]+) +(\S.*)", line)
        if found:
            key, about = found.groups()
            sections.setdefault(section, []).append((key, about, lines[k + 1].strip()))
    return sections


def entry(key, about, facts):
    default, *others = facts.split("; ")
    shown = [f"default `{default.removeprefix('default ')}`"]
    for other in others:
        choices = [f"`{choice}`" for choice in other.split(" | ")]
        shown.append(" or ".join([", ".join(choices[:-1]), choices[-1]]) if len(choices) > 1
                     else markdown(other))
    return wrapped(f"- **`{key}`** ({'; '.join(shown)}): {markdown(about)}")


def listing(title, keys):
    return [f"### {title}", "", *(entry(*key) for key in keys), ""]


def config_page(binaries):
    page = [INTRODUCTION]
    training = keys_in(help_of(binaries, "lie_cluster", "train", "all"))
    known = {key for section in training.values() for key in section}
    page += ["## lie_cluster train", ""]
    for section, keys in training.items():
        page += listing(f"`{section}`", keys)
    for command in ("sft", "eval"):
        page += [f"## lie_cluster {command}", ""]
        sections = keys_in(help_of(binaries, "lie_cluster", command, "all"))
        shared = [f"`{key[0]}`" for keys in sections.values() for key in keys if key in known]
        page += [textwrap.fill("The same as for `train`: " + ", ".join(shared) + ".", 100,
                               break_long_words=False, break_on_hyphens=False), ""]
        for section, keys in sections.items():
            own = [key for key in keys if key not in known]
            if own:
                page += listing(f"`{section}` of {command}", own)
    return "\n".join(page).rstrip("\n") + "\n"


OPTION = re.compile(r"(?P<name>--?[\w-]+(?:,--[\w-]+)?|[\w|]+)"
                    r"(?: (?P<type>TEXT|INT|UINT|FLOAT|KEY=VALUE))?(?::(?P<range>.*?))??"
                    r"(?:=(?P<default>\S+))?(?: \.\.\.)?(?P<required> REQUIRED)?(?: \.\.\.)?"
                    r"(?: (?:Excludes|Needs): .*)?")
VALUES = {"TEXT": "TEXT", "INT": "N", "UINT": "N", "FLOAT": "X", "KEY=VALUE": "KEY=VALUE"}


COLUMN = 30  # where the text of an option begins


def option_entry(usage, about):
    found = OPTION.fullmatch(usage)
    name, value = found["name"], VALUES.get(found["type"], "")
    if value and name.startswith("-"):
        name += f" {value}"
    facts = ["required"] if found["required"] and name.startswith("-") else []
    if found["range"]:
        facts.append(re.sub(r"^\{(.*)\}$", lambda m: ", ".join(f"`{c}`" for c in m[1].split(",")),
                            found["range"]))
    if found["default"]:
        facts.append(f"default `{found['default'].strip('[]')}`")
    return wrapped(f"- `{name}`{' (' + '; '.join(facts) + ')' if facts else ''}: {markdown(about)}")


def options(text):
    """Returns the positionals and options of a --help text as a Markdown list."""
    lines = []
    for section in re.findall(r"^(?:Positionals|Options):\n((?:  .*\n?)+)", text, flags=re.M):
        for line, below in zip(section.splitlines(), [*section.splitlines()[1:], ""]):
            if line.startswith(" " * COLUMN):
                lines[-1][1] = line.strip()
            else:  # a usage that is too long for its column has the text on a line of its own
                split = len(line) if below.startswith(" " * COLUMN) else COLUMN
                lines.append([line[:split].strip(), line[split:].strip()])
    return "\n".join(option_entry(usage, about) for usage, about in lines
                     if not re.search(r"--(help|version)", usage))


def commands_page(binaries, page):
    def block(found):
        return f"{found[1]}\n{options(help_of(binaries, *found[2].split()))}\n{found[3]}"
    return re.sub(r"(<!-- help: (.+?) -->)\n.*?(<!-- end of help -->)", block, page, flags=re.S)


def main():
    binaries, *mode = sys.argv[1:]
    commands = REFERENCE / "commands.md"
    pages = {REFERENCE / "config.md": config_page(binaries),
             commands: commands_page(binaries, commands.read_text(encoding="utf-8"))}
    stale = [path for path, text in pages.items()
             if not path.exists() or path.read_text(encoding="utf-8") != text]
    if mode == ["--check"]:
        for path in stale:
            print(f"{path}: differs from the programs' --help; run "
                  "python3 scripts/docs_reference.py build/release/bin")
        return 1 if stale else 0
    for path in stale:
        path.write_text(pages[path], encoding="utf-8")
        print(f"[docs] wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
