"""Behaviors counted by their wording, without a judge.

The counts are a proxy: they show what a text announces, not what it does. The package's phrases are English.
"""
import re

from ..error import Error
from .measures import BEHAVIORS

_WORD = "[0-9A-Za-z\x80-\U0010ffff]"
_WORDS = re.compile(f"{_WORD}(?:{_WORD}|')*")
_SENTENCE_END = re.compile(f"\n(?=\n|\\Z)|[.!?](?!{_WORD})")
_GAP = "(?: [^ ]+){0,12} "  # at most twelve words of the same sentence
_LOWER = str.maketrans({chr(c): chr(c + 32) for c in range(ord("A"), ord("Z") + 1)})
_EXAMPLE = 'such as "verification: let me check"'


def _sentences(text):
    """Returns the words of each sentence in lower case, separated and surrounded by spaces."""
    text = text.replace("\u2019", "'").translate(_LOWER)
    return [f" {' '.join(_WORDS.findall(sentence))} " for sentence in _SENTENCE_END.split(text)]


def _pattern(phrase, place):
    parts = phrase.split("...")
    if len(parts) > 1 and not parts[-1]:
        parts.pop()
    words = [_sentences(part)[0].strip() for part in parts]
    if not phrase:
        raise Error(f"{place}: no phrase after the colon")
    if not all(words):
        raise Error(f'{place}: no words next to "..." or the colon')
    return " " + _GAP.join(map(re.escape, words)) + "(?= )"


def parse_phrases(text, place):
    """Returns a pattern for each behavior in a list of phrases. prompts/phrases.txt explains the format. `place` names
    the text in errors."""
    patterns = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line or line.startswith("#"):
            continue
        behavior, colon, phrase = line.partition(":")
        if not colon or behavior not in BEHAVIORS:
            raise Error(f"{place}:{number}: expected a behavior, a colon and a phrase, {_EXAMPLE}")
        patterns.setdefault(behavior, []).append(_pattern(phrase, f"{place}:{number}"))
    if not patterns:
        raise Error(f"{place}: holds no phrase, {_EXAMPLE}")
    return {behavior: re.compile("|".join(found)) for behavior, found in patterns.items()}


def count_phrases(patterns, response):
    """Returns for each behavior the number of sentences that hold one of its phrases."""
    sentences = _sentences(response)
    return {behavior: sum(pattern.search(sentence) is not None for sentence in sentences)
            for behavior, pattern in patterns.items()}
