"""The chat messages of logged prompts.

The log has the text that a prompt template made of them; the messages themselves are in the run's data files. The log
also has the number of the prompt's row. A row of the data belongs to a prompt if it has the same gold answer and the
prompt's text contains its messages in order.
"""
import collections
import json
import math
import pathlib
from typing import NamedTuple, Optional

from ..error import Error
from ..rows import field, read_rows, turn_of
from .batches import EVALUATE, TRAIN

_GOLD_FIELDS = ("gold", "answer", "reward_model.ground_truth")
_FILES = {TRAIN: "train_file", EVALUATE: "evaluation_file"}  # keys of data.*


def _text_of(value):
    """Returns a text, or the JSON text of a number or a boolean."""
    return value if isinstance(value, str) else json.dumps(value)


def _comparable(gold):
    """Returns the number that a gold answer is, or its text. The trainer writes some numbers with other digits than Python:
    1e+15, and 9.999999999999999e+22 for 1e23."""
    try:
        return float(gold) if math.isfinite(float(gold)) else gold
    except ValueError:
        return gold


def _gold_of(row, data, choices):
    """Returns the gold answer as text, as common/dataset/prompt_rows.cpp reads it."""
    for name in [data["gold_field"]] if data.get("gold_field") else _GOLD_FIELDS:
        gold = field(row, name)
        if isinstance(gold, list) and len(gold) == 1:
            gold = gold[0]
        gold = gold if gold is None else _text_of(gold)
        if gold is not None and gold.strip():
            first = data.get("first_choice", 1)
            is_number = choices and len(gold) == 1 and str(first) <= gold <= "9"
            return chr(ord("A") + int(gold) - first) if is_number else gold
    return ""  # a row whose responses a program scores


class _Row(NamedTuple):
    place: str
    messages: Optional[list]  # what the prompt template was given; None: malformed
    gold: object  # _comparable()

    def length(self):
        return sum(len(turn["content"]) for turn in self.messages)


def _row_of(place, row, data):
    prompt = field(row, data.get("prompt_field") or "prompt")
    turns = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    try:
        messages = [turn_of(turn) for turn in turns]
        choices = field(row, data["choices_field"]) if data.get("choices_field") else []
        lines = "".join(f"\n{chr(ord('A') + i)}. {_text_of(choice)}" for i, choice in enumerate(choices))
        messages[-1]["content"] += (f"\n{lines}" if lines else "") + (data.get("prompt_suffix") or "")
    except (TypeError, KeyError, IndexError):
        return _Row(place, None, None)
    if not all(isinstance(turn["content"], str) for turn in messages):
        return _Row(place, None, None)
    return _Row(place, messages, _comparable(_gold_of(row, data, choices)))


def _holds(text, contents):
    """Returns whether the text contains the contents in order. Templates may drop the spaces around a content."""
    at = 0
    for content in contents:
        found = text.find(content.strip(), at)
        if found < 0:
            return False
        at = found + len(content.strip())
    return True


def _fit(text, messages):
    """Returns 3 if the text contains all messages in order, 2 without the thoughts of assistants, 1 without the assistants'
    turns, and else 0. Templates may drop the thoughts of earlier turns."""
    def contents(of_assistant):
        return [of_assistant(turn["content"]) if turn["role"] == "assistant" else turn["content"] for turn in messages]
    wordings = ((3, lambda content: content), (2, lambda content: content.rpartition("</think>")[2]), (1, lambda content: ""))
    return next((fit for fit, of_assistant in wordings if _holds(text, contents(of_assistant))), 0)


def _files(logged, key):
    """Returns the files that a key of data.* names: none, one or more. Raises Error if one is missing."""
    names = logged.data.get(key) or []
    names = [names] if isinstance(names, str) else names
    for name in names:
        if not pathlib.Path(name).is_file():
            raise Error(f"{name}: no such file, but data.{key} of {logged.directory} names it: name where it is by --set "
                        f"data.{key}=FILE")
    return names


class ChatTurns:
    def __init__(self, logged):
        """Reads the data files that the run's settings name after the overrides."""
        self._directory = logged.directory
        skips = logged.data.get("skip_bad_rows", False)
        # By purpose, in the order of Prompt::problem: the files of a key are numbered one after another.
        self._rows = {purpose: [_row_of(place, row, logged.data) for path in _files(logged, key)
                                for place, row in read_rows(path, skips)] for purpose, key in _FILES.items()}
        self._by_gold, self._found = collections.defaultdict(list), {}
        for row in (row for rows in self._rows.values() for row in rows if row.messages):
            self._by_gold[row.gold].append(row)

    def of(self, batch, i):
        """Returns the messages of a response's prompt. Raises Error if no row of the data gives it, or if several do."""
        _, prompt, gold = batch.problem_keys()[i]
        key = int(batch["purpose"][i]), int(batch["problem"][i]), prompt, gold
        if key not in self._found:
            found = self._found[key] = self._find(*key)
            if len(found) != 1:
                raise self._error(found, f"the prompt of step {batch['step'][i]}, group {batch['group'][i]}")
        return self._found[key][0].messages

    def _find(self, purpose, problem, prompt, gold):
        """Returns the prompt's row: the one with its number if no other fits better, which may be if the files have changed;
        else the one that fits best. Returns several if their messages differ, and none if no row fits."""
        own = self._rows[purpose][problem:problem + 1]
        gold = _comparable(gold)
        if own and own[0].messages and own[0].gold == gold and _fit(prompt, own[0].messages) == 3:
            return own
        fits = [(_fit(prompt, row.messages), row) for row in self._by_gold[gold]]
        most = max((fit for fit, _ in fits), default=0)
        best = [row for fit, row in fits if fit == most > 0]
        if own and any(row is own[0] for row in best):
            return own
        # The longest row is the prompt's own. The messages of a shorter one may be contained in it by chance.
        longest = max(map(_Row.length, best), default=0)
        distinct = {}
        for row in best:
            if row.length() == longest:
                distinct.setdefault(json.dumps(row.messages), row)
        return list(distinct.values())

    def _error(self, found, prompt):
        what = f"no row of its data files gives {prompt}"
        if found:
            what = f"{found[0].place} and {found[1].place} both give {prompt}, by different messages"
        return Error(f"{self._directory}: {what}: restore the files that it was made with, or name them by --set "
                     "data.train_file=FILE and data.evaluation_file")
