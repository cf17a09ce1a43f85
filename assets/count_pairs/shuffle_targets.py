#!/usr/bin/env python3
"""Writes the rows of a training file with their reference lengths permuted: shuffle_targets.py train.jsonl > OUT"""
import json
import sys

from make_data import Draw

with open(sys.argv[1], encoding="utf-8") as file:
    rows = [json.loads(line) for line in file]
draw = Draw(1)
for last in range(len(rows) - 1, 0, -1):
    other = draw.below(last + 1)
    rows[last]["reference_length"], rows[other]["reference_length"] = (
        rows[other]["reference_length"], rows[last]["reference_length"])
for row in rows:
    print(json.dumps(row))
