#!/usr/bin/env python3
"""Writes the rows of a training file with 5 tokens less than a search of all pairs as reference length: search_targets.py
train.jsonl > OUT"""
import json
import sys

from make_data import pairs_of

TOKENS_OF_A_TRY, OTHER_TOKENS = 6, 5
LESS = 5

with open(sys.argv[1], encoding="utf-8") as file:
    for line in file:
        row = json.loads(line)
        numbers = row["prompt"].split(" target ")[0].split()
        search = TOKENS_OF_A_TRY * len(pairs_of(len(numbers))) + OTHER_TOKENS
        print(json.dumps(row | {"reference_length": search - LESS}))
