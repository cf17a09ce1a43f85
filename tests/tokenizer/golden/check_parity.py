#!/usr/bin/env python3
"""Compares our tokenizer with the Hugging Face library on many varied texts, and counts differences:

    check_parity.py BUILD_DIR/bin/tokenizer_parity [--data SHARED_DATA] [--megabytes 24] [TOKENIZER_DIR ...]

Without directories, it uses the real tokenizers under SHARED_DATA/tokenizers and the small ones of kinds.py. Needs
tokenizers and pyarrow.
"""
import argparse
import glob
import json
import os
import random
import struct
import subprocess
import sys
import sysconfig
import tempfile

from tokenizers import Tokenizer

import kinds

SCRIPTS = [(0x20, 0x7e), (0xa0, 0x24f), (0x300, 0x36f), (0x370, 0x3ff), (0x400, 0x52f), (0x590, 0x6ff), (0x900, 0xdff),
           (0xe00, 0xfff), (0x1100, 0x11ff), (0x1e00, 0x20cf), (0x2100, 0x27bf), (0x3040, 0x30ff), (0x4e00, 0x9fff),
           (0xac00, 0xd7a3), (0xf900, 0xfaff), (0xfe00, 0xfe0f), (0xff00, 0xffef), (0x10000, 0x1ffff), (0x1f300, 0x1faff),
           (0x20000, 0x2ffff), (0x300, 0x10ffff)]
GLUE = [" ", "  ", "\n", "\r\n", "\t", "'s", "'S", "'\u017f", "'LL", "1", "23", "4567", "\u00b2", "\u0661\u0662", "\u3000",
        "\u00a0", "\u0085", "\u2028", "\u200d", "\u0301", "\u0327", ".", ",", "\\frac{", "}", "$", "==", "//", "\u180e"]


def character(rng):
    low, high = rng.choice(SCRIPTS)
    code_point = rng.randint(low, high)
    return "\ufffd" if 0xd800 <= code_point < 0xe000 else chr(code_point)


def mixed(rng, added):
    """Returns words of many scripts, separated by blanks, marks, digits and added tokens."""
    parts = []
    for _ in range(rng.randint(1, 60)):
        kind = rng.random()
        if kind < 0.5:
            low, high = rng.choice(SCRIPTS[:-1])
            parts.append("".join(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 8))))
        elif kind < 0.6:
            parts.append("".join(character(rng) for _ in range(rng.randint(1, 6))))
        elif kind < 0.92 or not added:
            parts.append(rng.choice(GLUE) * rng.choice([1, 1, 1, 2, 5]))
        else:
            parts.append(rng.choice(added))
    return "".join("\ufffd" if 0xd800 <= ord(c) < 0xe000 else c for c in "".join(parts)).encode()


def files(patterns, limit):
    paths = sorted(path for pattern in patterns for path in glob.glob(pattern, recursive=True))
    total = 0
    for path in paths:
        if not os.path.isfile(path):
            continue
        with open(path, "rb") as file:
            data = file.read(200_000)
        yield data
        total += len(data)
        if total > limit:
            return


def parquet(data, limit):
    import pyarrow.parquet
    total = 0
    for path in sorted(glob.glob(os.path.join(data, "lie", "*.parquet"))):
        for row in pyarrow.parquet.read_table(path, columns=["prompt"]).column("prompt").to_pylist()[:6000]:
            text = row[0]["content"].encode()
            yield text
            total += len(text)
            if total > limit:
                return


def corpus(data, megabytes, added, each_code_point, seed=0):
    """Returns texts as bytes, about `megabytes` in total. A third is real text, the rest is generated."""
    rng = random.Random(seed)
    share = megabytes * 1_000_000 // 8
    stdlib = sysconfig.get_paths()["stdlib"]
    sources = [
        ("code", files([stdlib + "/*.py", "/usr/include/*.h"], share)),
        ("documents", files(["/usr/share/doc/**/copyright", "/usr/share/perl/**/*.pod", "/usr/share/i18n/**/*",
                             "/usr/share/doc/**/*.html", "/usr/share/vim/**/*.txt"], share)),
        ("mathematics", parquet(data, share) if data else []),
        ("model outputs", files([os.path.join(data, "problems", "**", "*.jsonl"),
                                 os.path.join(data, "verifier", "*.jsonl")] if data else [], share)),
        ("scripts mixed", (mixed(rng, added) for _ in range(share * 2 // 400))),
        ("random bytes", (rng.randbytes(rng.randint(1, 400)) for _ in range(share // 200))),
        ("broken text", (bytes(b if rng.random() > 0.03 else rng.randrange(256) for b in mixed(rng, added))
                         for _ in range(share // 400))),
    ]
    for name, texts in sources:
        yield name, list(texts)
    every = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    yield "every code point", ["".join(every[i:i + 500]).encode() for i in range(0, len(every), 500)]
    if each_code_point:
        yield "each code point", [("a" + c + " b" + c + c + "1" + c).encode() for c in every if ord(c) < 0x32000]
    yield "added tokens", [(" ".join(added) + "".join(added)).encode()] + [
        (left + token + right).encode() for token in added for left in ("", " ", "a", "  \n") for right in ("", " ", "b", "\t ")]


def batches(texts, size=20000):
    for i in range(0, len(texts), size):
        yield texts[i:i + size]


def run_ours(program, directory, texts):
    with tempfile.TemporaryDirectory() as folder:
        in_path, out_path = os.path.join(folder, "in"), os.path.join(folder, "out")
        with open(in_path, "wb") as file:
            for text in texts:
                file.write(struct.pack("<I", len(text)) + text)
        subprocess.run([program, directory, in_path, out_path], check=True)
        with open(out_path, "rb") as file:
            out = file.read()
    at = 0

    def take(width):
        nonlocal at
        count, = struct.unpack_from("<I", out, at)
        start, at = at + 4, at + 4 + count * width
        return out[start:at]

    for _ in texts:
        ids, with_special = (list(memoryview(take(4)).cast("i")) for _ in range(2))
        yield ids, with_special, take(1).decode(), take(1).decode()


def check(program, name, directory, data, megabytes):
    theirs = Tokenizer.from_file(os.path.join(directory, "tokenizer.json"))
    added = [token.content for token in theirs.get_added_tokens_decoder().values()]
    differences = 0
    for source, texts in corpus(data, megabytes, added, megabytes >= 8):
        total = tokens = wrong = 0
        for batch in batches(texts):
            strings = [text.decode("utf-8", errors="replace") for text in batch]
            plain = theirs.encode_batch_fast(strings, add_special_tokens=False)
            for text, string, ours, a in zip(batch, strings, run_ours(program, directory, batch), plain):
                # the tokens that the post-processor adds do not depend on the text, so every 20th text suffices
                special = theirs.encode(string).ids if total % 20 == 0 else ours[1]
                expected = (a.ids, special, theirs.decode(a.ids, skip_special_tokens=False), theirs.decode(a.ids))
                total += len(text)
                tokens += len(a.ids)
                if ours != expected:
                    wrong += 1
                    if wrong <= 3:
                        print("DIFFERENT", name, source, ascii(text[:200]), [x == y for x, y in zip(ours, expected)])
                        if len(text) < 100:
                            print("  ours  ", ours, "\n  theirs", expected)
        print(f"{name:20s} {source:18s} {len(texts):8d} texts {total / 1e6:7.2f} MB {tokens:9d} tokens {wrong:5d} different", flush=True)
        differences += wrong
    return differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("directories", nargs="*")
    parser.add_argument("--data", default="")
    parser.add_argument("--megabytes", type=int, default=24)
    parser.add_argument("--small-megabytes", type=int, default=2)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    differences = 0
    for directory in args.directories or sorted(glob.glob(os.path.join(args.data, "tokenizers", "*"))):
        if args.only in directory:
            differences += check(args.program, os.path.basename(directory), directory, args.data, args.megabytes)
    if not args.directories:
        for name, tokenizer in kinds.kinds().items():
            if args.only not in name:
                continue
            with tempfile.TemporaryDirectory() as folder:
                tokenizer.save(os.path.join(folder, "tokenizer.json"))
                differences += check(args.program, name, folder, args.data, args.small_megabytes)
    print("differences:", differences)
    sys.exit(differences != 0)


if __name__ == "__main__":
    main()
