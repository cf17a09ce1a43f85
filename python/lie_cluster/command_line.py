"""Helpers of the commands: arguments with checked values, one-line errors, and files that appear only when complete."""
import argparse
import contextlib
import json
import math
import os
import pathlib
import re
import sys

from .error import Error

_OPEN = 2 ** 63 - 1  # the last number of a range without an end


class _Parser(argparse.ArgumentParser):
    """Exits with status 1 on a usage error, because status 2 means missing answers."""

    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(1, f"{self.prog}: {message}\n")


class _Help(argparse.ArgumentDefaultsHelpFormatter):
    """Shows defaults, except those that mean "not given": None, False and []."""

    def _get_help_string(self, action):
        return action.help if action.default in (None, False, []) else super()._get_help_string(action)


def make_parser(module, description):
    return _Parser(prog=f"python -m lie_cluster.{module}", description=description, formatter_class=_Help)


def number(kind, least, most=math.inf):
    """Returns an argparse `type` for a finite int or float between two inclusive bounds."""
    def parse(text):
        value = kind(text)
        if not least <= value <= most:
            raise ValueError
        return value
    upper = "" if most == math.inf else f" to {most}"
    parse.__name__ = f"{'integer' if kind is int else 'number'} from {least}{upper}"
    return parse


def output_file(text):
    """An argparse `type` for the name of a file to write. Its directory must exist."""
    path = pathlib.Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{path}: is a directory; name a file")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{path}: there is no directory {path.parent}; make it first")
    return path


def require_distinct(paths):
    """Raises Error if two paths lead to one file or directory, which would count twice."""
    found = {}
    for path in paths:
        place = path.resolve()
        if place in found:
            what = "directory" if path.is_dir() else "file"
            raise Error(f"{found[place]} and {path} are one {what}, which would count twice; name it once")
        found[place] = path


def number_range(option):
    """Returns an argparse `type` for a range such as 5-10, 5-, -10 or 7. Its value is the first and the last number."""
    def parse(text):
        match = re.fullmatch(r"(\d*)(?:(-)(\d*))?", text)
        first = int(match[1] or 0) if match else 1
        last = int(match[3] or _OPEN) if match and match[2] else first if match and match[1] else _OPEN
        if not match or first > last:
            raise argparse.ArgumentTypeError(f"{option} {text}: expected a range such as 5-10, 5-, -10 or 7")
        return first, last
    return parse


def without_open_end(numbers, last):
    """Returns the range, with `last` as its end if it has none."""
    return (numbers[0], max(numbers[0], last)) if numbers[1] == _OPEN else numbers


@contextlib.contextmanager
def complete_file(path):
    """Yields a path to write to. The file appears at `path` when the block ends without an error."""
    aside = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        yield aside
        os.replace(aside, path)
    except OSError as error:
        raise Error(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            aside.unlink()


def print_notes(run):
    """Prints on standard error what of a Run is missing or left out."""
    for note in run.notes:
        print(f"{run.directory}: {note}", file=sys.stderr)


def write_text(path, text):
    with complete_file(path) as aside:
        aside.write_text(text, encoding="utf-8")


def write_json(path, value):
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def run(module, main):
    """Runs main() as the program. An Error or a lost output becomes one line on standard error and exit status 1."""
    name = f"lie_cluster.{module}"
    try:
        status = main()
        if sys.stdout is None:
            raise Error("standard output cannot be written: it is closed")
        sys.stdout.flush()
    except Error as error:
        print(f"{name}: {error}", file=sys.stderr)
        status = 1
    except OSError as error:
        place = error.filename or "standard output cannot be written"
        print(f"{name}: {place}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(141 if isinstance(error, BrokenPipeError) else 1)  # another flush would fail again
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)
