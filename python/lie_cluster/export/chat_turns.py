"""The chat messages of logged prompts.

The log has the text that a prompt template made of them; the messages themselves are in the run's data files. A row of
the data belongs to a prompt if it has the same gold answer and the prompt's text contains its messages in order.
"""
import collections
import json
import pathlib

from ..error import Error
from ..rows import field, read_rows, turn_of

_GOLD_FIELDS = ("gold", "answer", "reward_model.ground_truth")


def _gold_of(row, data, choices):
    """Returns the gold answer as text, as common/dataset/dataset.cpp reads it."""
    for name in [data["gold_field"]] if data.get("gold_field") else _GOLD_FIELDS:
        gold = field(row, name)
        if isinstance(gold, list) and len(gold) == 1:
            gold = gold[0]
        gold = gold if gold is None or isinstance(gold, str) else json.dumps(gold)
        if gold is not None and gold.strip():
            first = data.get("first_choice", 1)
            is_number = choices and len(gold) == 1 and str(first) <= gold <= "9"
            return chr(ord("A") + int(gold) - first) if is_number else gold
    return ""  # a row whose responses a program scores


def _messages_of(row, data):
    """Returns the messages that the prompt template was given, and the gold answer; None for a malformed row."""
    prompt = field(row, data.get("prompt_field") or "prompt")
    turns = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    try:
        messages = [turn_of(turn) for turn in turns]
        choices = field(row, data["choices_field"]) if data.get("choices_field") else []
        lines = "".join(f"\n{chr(ord('A') + i)}. {choice}" for i, choice in enumerate(choices))
        messages[-1]["content"] += (f"\n{lines}" if lines else "") + (data.get("prompt_suffix") or "")
    except (TypeError, KeyError, IndexError):
        return None, None
    return messages, _gold_of(row, data, choices)


def _holds(text, messages):
    """Returns whether the text contains the contents in order. Templates may drop the thoughts of earlier assistant
    turns, and the spaces around a content."""
    at = 0
    for message in messages:
        content = message["content"].strip()
        found = text.find(content, at)
        if message["role"] == "assistant":
            continue
        if found < 0:
            return False
        at = found + len(content)
    return True


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
        self._by_gold, self._found = collections.defaultdict(list), {}
        for path in [*_files(logged, "train_file"), *_files(logged, "evaluation_file")]:
            for _, row in read_rows(path, logged.data.get("skip_bad_rows", False)):
                messages, gold = _messages_of(row, logged.data)
                if messages:
                    self._by_gold[gold].append(messages)

    def of(self, batch, i):
        """Returns the messages of a response's prompt. Raises Error if no row of the data gives it."""
        key = batch.text("prompt")[i], batch.text("gold")[i]
        if key not in self._found:
            fitting = [messages for messages in self._by_gold[key[1]] if _holds(key[0], messages)]
            # The longest row is the prompt's own. The messages of a shorter one may be contained in it by chance.
            self._found[key] = max(fitting, key=lambda found: sum(len(turn["content"]) for turn in found), default=None)
        if self._found[key] is None:
            raise Error(f"{self._directory}: no row of its data files gives the prompt of step {batch['step'][i]}, group "
                        f"{batch['group'][i]}: restore the files that it was made with, or name them by --set "
                        "data.train_file=FILE and data.evaluation_file")
        return self._found[key]
