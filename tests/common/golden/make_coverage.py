"""Writes coverage.jsonl: words and n-gram counts of varied texts by plain Python.

    python3 tests/common/golden/make_coverage.py > tests/common/golden/coverage.jsonl

Only the standard library is used. The script is the definition that common/text/units and
rewards/coverage must equal.
"""

import json
import random
from collections import Counter

SPACES = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000 and chr(c).isspace()]
NEAR_SPACES = ["\u200b", "\u180e", "\ufeff", "\u2060", "\u00a1", "\u2026", "\u3001", "\u1681", "\u2027", "\x1b", "\x7f"]
LETTERS = ["a", "b", "ab", "wait", "_", "__", "1+2", "\\frac{1}{2}", "中", "文字", "é", "ü", "🙂", "â€", "ã", "_x_"]


def words(text):
    return [word for piece in text.split() for word in piece.split("_")]


def counts(units, n):
    grams = Counter(tuple(units[i : i + n]) for i in range(len(units) - n + 1))
    return {"n": n, "distinct": len(grams), "ngrams": sum(grams.values()), "largest": max(grams.values(), default=0)}


def row(text, keep_words=True):
    units = words(text)
    out = {"text": text, "counts": [counts(units, n) for n in (1, 2, 3, 6, 10)]}
    if keep_words:
        out["words"] = units
    return out


def random_text(rng, pieces):
    parts = []
    for _ in range(pieces):
        parts.append(rng.choice(LETTERS if rng.random() < 0.55 else SPACES if rng.random() < 0.8 else NEAR_SPACES))
    return "".join(parts)


def looping_text(rng, length):
    """Returns text like a looping response: a repeated phrase with occasional changes."""
    phrase = [rng.choice(["so", "we", "try", "again", "no", "hit", "5+6=11"]) for _ in range(rng.randrange(1, 12))]
    out = []
    while len(out) < length:
        out += phrase
        if rng.random() < 0.2:
            out.append(str(rng.randrange(9)))
    return " ".join(out)


def main():
    rng = random.Random(20261121)
    fixed = ["", " ", "_", "__", " _ ", "a", "a_b", "_a", "a_", "a__b c_", "\u3000中_文\u2003x\u00a0y\u0085z",
             "".join(f"w{c}" for c in SPACES), "".join(f"w{c}" for c in NEAR_SPACES), "a b " * 30, "a " * 40,
             "\u2028\u2029\u202f\u205f\u1680_", "\x1c\x1d\x1e\x1fa\x1cb", "x" * 300 + " " + "x" * 300 + "y"]
    rows = [row(text) for text in fixed]
    rows += [row(random_text(rng, rng.randrange(1, 60))) for _ in range(120)]
    rows += [row(looping_text(rng, rng.randrange(5, 400)), keep_words=False) for _ in range(40)]
    for r in rows:
        print(json.dumps(r, ensure_ascii=False))


main()
