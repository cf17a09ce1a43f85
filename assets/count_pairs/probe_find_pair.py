#!/usr/bin/env python3
"""Shows what a model of "find the pair" would do in a search of all pairs in list order, which it was never taught:

    probe_find_pair.py rows < eval.jsonl | lie_cluster score MODEL - | probe_find_pair.py read

The last of the 15 tries is the hit. A line for each try: the mean probability of its two numbers, its sum and its flag.
"""
import json
import math
import re
import sys

from make_data import PAIRS

PARTS = {"first number": 0, "second number": 2, "sum": 4, "flag": 5}  # of a try's six tokens


def full_search(prompt):
    *numbers, target = map(int, re.findall(r"\d+", prompt))
    tries = [(numbers[i], numbers[j]) for i, j in PAIRS]
    hit = next(at for at, (a, b) in enumerate(tries) if a + b == target)
    lines = [f"{a}+{b}={a + b}" for a, b in tries[hit + 1:] + tries[:hit + 1]]
    return "in order:\n" + " no\n".join(lines) + " yes 1\n"


def main():
    if sys.argv[1:] not in (["rows"], ["read"]):
        sys.exit(__doc__)
    rows = [json.loads(line) for line in sys.stdin]
    if sys.argv[1] == "rows":
        for row in rows:
            print(json.dumps({"prompt": row["prompt"], "response": full_search(row["prompt"])}))
        return
    for at in range(len(PAIRS)):
        means = {name: sum(math.exp(row["log_probs"][1 + 6 * at + part]) for row in rows) / len(rows)
                 for name, part in PARTS.items()}
        print(f"try {at + 1}: " + ", ".join(f"{name} {value:.3f}" for name, value in means.items()))


if __name__ == "__main__":
    main()
