#!/usr/bin/env python3
"""Writes the initial inputs of the fuzz targets, one folder per target: seeds.py DIRECTORY. They are small files of the
repository, and some that this script makes."""
import glob
import json
import os
import shutil
import struct
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def folder(out, target):
    path = os.path.join(out, target)
    os.makedirs(path, exist_ok=True)
    return path


def write(out, target, name, content):
    with open(os.path.join(folder(out, target), name), "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def copy(out, target, pattern, largest=40_000):
    for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True)):
        if os.path.getsize(path) <= largest:
            shutil.copyfile(path, os.path.join(folder(out, target), os.path.relpath(path, ROOT).replace("/", "_")))


def safetensors():
    header = json.dumps({"a": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]},
                         "b": {"dtype": "BF16", "shape": [], "data_offsets": [8, 10]}, "__metadata__": {"format": "pt"}})
    return struct.pack("<Q", len(header)) + header.encode() + bytes(10)


def messages():
    """Returns a ticket request, an empty assignment and empty groups: the header of wire.h and zeros."""
    for kind in range(7):
        for size in (0, 8, 64, 200):
            yield struct.pack("<IHHQ", 0x5745494C, 4, kind, size) + bytes(size)


def main(out):
    copy(out, "tokenizer", "tests/tokenizer/golden/*/tokenizer.json")
    copy(out, "config", "configs/**/*.yaml")
    write(out, "config", "all", "flag: yes\ncount: 3\npart:\n  share: 1e-3\n  text: 'a: b'\n  counts: [1, 2]\ntexts: [x, \"y\"]\n")
    write(out, "safetensors", "two", safetensors())
    rows = [{"prompt": [{"role": "user", "content": "1+1?"}], "answer": "2", "n": [1, 2.5, None, True]}, {"prompt": "\u00e4", "answer": 3}]
    write(out, "jsonl", "rows", "".join(json.dumps(row) + "\n" for row in rows))
    for i, message in enumerate(messages()):
        write(out, "wire", str(i), message)
    write(out, "message_file", "header", b"LIERESPS" + struct.pack("<II", 2, 4))
    copy(out, "chat_template", ".deps/jinja-*/models/templates/*.jinja", 6_000)
    write(out, "chat_template", "loop", "{%- for m in messages if m.role != 'system' -%}{{ loop.index ~ m['content'] | trim }}{%- endfor %}")
    copy(out, "segment", "tests/**/*.h5")
    for target in ("extract", "parse", "verify"):
        copy(out, target, f"tests/fuzz/corpus/{target}/*")
    copy(out, "parquet", "tests/dataset/golden/*.parquet")


if __name__ == "__main__":
    main(sys.argv[1])
