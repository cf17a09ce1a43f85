#!/usr/bin/env python3
"""Measures the Hugging Face library (tokenizers) on one thread, on the documents of tokenizer_bench."""
import os
import time

import peer

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

DOCUMENT_BYTES = 8000


def documents(path):
    found, current = [], b""
    with open(path, "rb") as file:
        for line in file:
            if len(current) >= DOCUMENT_BYTES:
                found.append(current.decode("utf-8", errors="replace"))
                current = b""
            current += line
    return found + [current.decode("utf-8", errors="replace")]


def main(directory, path):
    Tokenizer = peer.package("tokenizers").Tokenizer
    start = time.perf_counter()
    tokenizer = Tokenizer.from_file(os.path.join(directory, "tokenizer.json"))
    print(f"load {time.perf_counter() - start:.2f} s")
    texts = documents(path)
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    for name in ("encode, first pass", "encode, second pass"):
        start = time.perf_counter()
        encodings = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        seconds = time.perf_counter() - start
        print(f"{name:20} {megabytes / seconds:8.1f} MB/s  {seconds:.2f} s, {sum(len(e.ids) for e in encodings)} tokens")
    ids = [encoding.ids for encoding in encodings]
    start = time.perf_counter()
    for document in ids:
        tokenizer.decode(document)
    print(f"{'decode':20} {megabytes / (time.perf_counter() - start):8.1f} MB/s")


if __name__ == "__main__":
    parser = peer.arguments(__doc__)
    parser.add_argument("directory", type=peer.existing, help="with tokenizer.json")
    parser.add_argument("text", type=peer.existing)
    args = parser.parse_args()
    main(args.directory, args.text)
