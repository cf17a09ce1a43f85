"""Helpers of the scripts in this folder: help texts from docstrings, and one-line errors for missing or invalid inputs."""
import argparse
import importlib
import json
import os
import sys

PACKAGES = {"math_verify": "math-verify"}  # where pip's name is another


def arguments(doc):
    """Returns a parser whose help is the script's docstring."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def fail(what):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {what}")


def positive(text):
    """A type of argparse."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, found {text!r}")
    return int(text)


def existing(path):
    """A type of argparse."""
    if not os.path.exists(path):
        raise argparse.ArgumentTypeError(f"no file or directory {path!r}")
    return path


def package(name):
    """Returns the module of that name. It is imported after the arguments are read, so that --help needs no package."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if error.name != name:
            fail(f"the Python package {name} cannot be loaded: {error}")
        fail(f"needs the Python package {name}: python3 -m pip install {PACKAGES.get(name, name)}")


def rows(path, *fields):
    """Returns the objects of a JSONL file. Each must have these fields."""
    try:
        with open(path) as lines:
            for number, line in enumerate(lines, 1):
                row = json.loads(line)
                if not isinstance(row, dict):
                    fail(f"{path}:{number}: no JSON object")
                for field in fields:
                    if field not in row:
                        fail(f"{path}:{number}: no field {field!r}")
                yield row
    except OSError as error:
        fail(f"{path}: {error.strerror}")
    except ValueError as error:
        fail(f"{path}:{number}: no line of JSON: {error}")
