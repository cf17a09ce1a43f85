"""What is measured of a response, and how a judge's answer is read.

The first four behaviors are those of Gandhi et al. (arXiv:2503.01307). Enumeration is what an exploration in context
does most plainly: cases tried one after another. Depth and width are those of the reasoning
graph, which is a definition of this program.
"""
import json
import pathlib
from typing import NamedTuple

from ..error import Error

BEHAVIORS = ("verification", "backtracking", "subgoals", "backward_chaining", "enumeration")
MEASURES = BEHAVIORS + ("graph_depth", "graph_width")  # in the order of tables
TOPICS = BEHAVIORS + ("graph",)  # one request each; the prompt is prompts/TOPIC.txt
_MOST = 10000


class GraphShape(NamedTuple):
    """The depth is the number of steps on a longest chain. The width is the largest number of steps on one level, where
    a step's level is the length of the longest chain that ends with it."""

    depth: int
    width: int


def prompt_text(name, directory=None):
    """Returns NAME.txt of the package, or of a user's own directory."""
    path = pathlib.Path(directory or pathlib.Path(__file__).parent / "prompts") / f"{name}.txt"
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Error(f"cannot read {path}: {error}") from error


def graph_shape(builds_on):
    """Returns the shape of a graph whose steps are numbered from 1; None if a step builds on one that is not earlier.
    `builds_on` lists for each step the earlier ones on which it builds."""
    levels, on_level = [], {}
    for earlier in builds_on:
        if any(not 0 < step <= len(levels) for step in earlier):
            return None
        levels.append(1 + max((levels[step - 1] for step in earlier), default=0))
        on_level[levels[-1]] = on_level.get(levels[-1], 0) + 1
    return GraphShape(max(levels, default=0), max(on_level.values(), default=0))


def _last_object(text):
    """Returns the JSON object of one field at the end of a text, which may be in a code fence."""
    text = text.rstrip(" \t\r\n`")
    begin = text.rfind("{")
    if begin < 0 or not text.endswith("}"):
        return {}
    try:
        found = json.loads(text[begin:])
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and len(found) == 1 else {}


def _is_count(value):
    return type(value) is int and 0 <= value <= _MOST


def read_answer(topic, text):
    """Returns the values of a judge's text by measure; none if its end is not the object that the prompt asks for."""
    found = _last_object(text)
    if topic != "graph":
        return {topic: found["count"]} if _is_count(found.get("count")) else {}
    lists = found.get("builds_on")
    if not isinstance(lists, list) or len(lists) > _MOST:
        return {}
    if not all(isinstance(steps, list) and all(map(_is_count, steps)) for steps in lists):
        return {}
    shape = graph_shape(lists)
    return {"graph_depth": shape.depth, "graph_width": shape.width} if shape else {}
