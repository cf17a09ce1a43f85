#!/usr/bin/env python3
"""Converts GPQA to rows for `lie_cluster eval`: make_gpqa.py gpqa_diamond.csv OUT.jsonl [SEED]

The published file (idavidrein/gpqa, unpacked with its password) has a correct and three incorrect answers per question. They
become choices in an order determined by SEED (0) and the question. Rows: question, options, answer (a letter), category.
"""
import csv
import json
import random
import sys

WRONG = ["Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3"]


def row_of(record, seed):
    right = record["Correct Answer"].strip()
    options = [right] + [record[name].strip() for name in WRONG]
    random.Random(f"{seed} {record['Question']}").shuffle(options)
    return {"question": record["Question"].strip(), "options": options, "answer": "ABCD"[options.index(right)],
            "category": record.get("High-level domain") or "gpqa"}


def main(source, out, seed="0"):
    with open(source, encoding="utf-8", newline="") as file:
        rows = [row_of(record, seed) for record in csv.DictReader(file)]
    with open(out, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    print(f"{out}: {len(rows)} questions")


if __name__ == "__main__":
    main(*sys.argv[1:])
