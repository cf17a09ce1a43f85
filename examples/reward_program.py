#!/usr/bin/env python3
"""A reward program: the redundancy penalty R_red, outside of LIE Cluster.

    lie_cluster train configs/demo.yaml --set reward.redundancy.enabled=false \
        --set reward.coverage.unit=words --set "reward.command=python3 examples/reward_program.py --ngram 6"

It reads one request per line on standard input and writes one answer per line on standard output, in the same order
(docs/reference/reward-programs.md). Standard error goes to the run's messages.
"""

import argparse
import json
import sys
from collections import Counter


def words(text):
    return [word for piece in text.split() for word in piece.split("_")]


def largest_repeat(units, n):
    """Returns the occurrences of the most frequent n-gram, or 0 for fewer than n units."""
    counts = Counter(tuple(units[i : i + n]) for i in range(len(units) - n + 1))
    return max(counts.values(), default=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ngram", type=int, default=10)
    parser.add_argument("--threshold", type=int, default=10)
    parser.add_argument("--beta", type=float, default=0.5)
    arguments = parser.parse_args()
    print("the redundancy penalty is ready", file=sys.stderr, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        repeat = largest_repeat(words(request["response"]), arguments.ngram)
        reward = -arguments.beta if repeat >= arguments.threshold else 0.0
        answer = {"id": request["id"], "reward": reward, "largest_repeat": repeat}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
