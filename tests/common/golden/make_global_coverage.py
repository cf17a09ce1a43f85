"""Writes global_coverage.jsonl: distinct n-grams over many responses by Python sets, and keys of n-grams by integers.

    python3 tests/common/golden/make_global_coverage.py > tests/common/golden/global_coverage.jsonl

Only the standard library is used. The sets are the definition of C_global that learner/record/run_coverage must equal; the
keys are what common/text/units must give on every machine, since checkpoints hold them.
"""

import json
import random

PRIME, MASK = 2**61 - 1, 2**64 - 1
POINTS = (0x243F6A8885A308D3 >> 3, 0x13198A2E03707344 >> 3)
SECRETS = (0xD6E8FEB86659FD93, 0x082EFA98EC4E6C89)


def folded(a, b):
    product = a * b
    return (product & MASK) ^ (product >> 64)


def word_hash(word, secret):
    data = word.encode()
    blocks = [int.from_bytes(data[i : i + 8], "little") for i in range(0, max(len(data), 1), 8)]
    value = folded(0x9E3779B97F4A7C15 ^ blocks[0], secret ^ (2 * len(data)))
    for block in blocks[1:]:
        value = folded(value ^ block, secret)
    return value % PRIME


def finalised(x):
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & MASK
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & MASK
    return x ^ x >> 33


def key(units):
    """Returns the high and low half of an n-gram's key. `units` are pairs of residues."""
    first, second = (sum(unit[i] * POINTS[i] ** k for k, unit in enumerate(reversed(units))) % PRIME for i in (0, 1))
    high = finalised((second * 0xC2B2AE3D27D4EB4F + first + 0x452821E638D01377) & MASK)
    low = finalised((first * 0x9E3779B97F4A7C16 + second + 0xBE5466CF34E90C6C) & MASK)
    return f"{high:016x}{low:016x}"


def keys(units, n):
    return [key(units[i : i + n]) for i in range(len(units) - n + 1)]


def words(text):
    return [word for piece in text.split() for word in piece.split("_")]


def distinct(responses, n):
    return len({tuple(units[i : i + n]) for units in responses for i in range(len(units) - n + 1)})


def responses(rng):
    """Returns responses like a group's: a common beginning, loops, some shorter than an n-gram, words of all lengths."""
    vocabulary = ["".join(rng.choice("abcé_文") for _ in range(rng.randrange(1, 20))) for _ in range(40)]
    start = [rng.choice(vocabulary) for _ in range(30)]
    out = [start[: rng.randrange(30)] + rng.choices(vocabulary, k=rng.randrange(40)) * rng.randrange(1, 3)
           for _ in range(16)]
    return [" ".join(pieces) for pieces in out]


def main():
    rng = random.Random(20261122)
    for _ in range(4):
        texts = responses(rng)
        ids = [[rng.randrange(5 if rng.random() < 0.9 else 2**31) for _ in range(rng.randrange(60))] for _ in texts]
        counts = [{"n": n, "words": distinct(map(words, texts), n), "tokens": distinct(ids, n)} for n in (1, 2, 6, 10, 15)]
        print(json.dumps({"texts": texts, "ids": ids, "counts": counts}, ensure_ascii=False))
    text = "Wait, let me_check: 12345678 123456789 \\frac{1}{2}  中文 a__b"
    hashed = [(word_hash(w, SECRETS[0]), word_hash(w, SECRETS[1])) for w in words(text)]
    ids = [0, 7, 151643, 2**31 - 1, 7, 0, 7]
    for n in (1, 2, 6):
        print(json.dumps({"text": text, "token_ids": ids, "n": n, "word_keys": keys(hashed, n),
                          "token_keys": keys([(i, i) for i in ids], n)}, ensure_ascii=False))


main()
