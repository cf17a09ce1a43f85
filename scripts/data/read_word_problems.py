#!/usr/bin/env python3
"""Counts what the responses of a run's last evaluation do on the word problems: read_word_problems.py RUN_DIR...

    PYTHONPATH=python python3 scripts/data/read_word_problems.py runs/word_problems/study/gspo-lie/seed-1

A line is "a + b = c" with any of the four operators. Prints the lines of a response and how many of them add a number to
itself; the shares of responses that give a boxed answer, that are correct, and in which one of the first two lines has the
gold answer as its result.
"""
import re
import sys

from lie_cluster import Run

_LINE = re.compile(r"^(\S+) ([-+*/]) (\S+) = (\S+)$", re.MULTILINE)


def report(directory):
    run = Run(directory)
    rows = run.last_evaluation()
    correct = run.samples(["reward_accuracy"])["reward_accuracy"][rows] > 0.5
    texts = run.texts(rows, special_tokens=False)
    lines = [_LINE.findall(response) for response in texts["response"]]
    boxed = sum("\\boxed" in response for response in texts["response"])
    doubled = sum(a == b and operator == "+" for found in lines for a, operator, b, _ in found)
    early = sum(gold in [result for *_, result in found[:2]] for gold, found in zip(texts["gold"], lines))
    n = len(rows)
    print(f"{directory}: {n} responses, {sum(map(len, lines)) / n:.1f} lines, of which {doubled / n:.1f} double a number, "
          f"boxed {boxed / n:.3f}, correct {correct.mean():.3f}, "
          f"gold in the first two lines {early / n:.3f}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for directory in sys.argv[1:]:
        report(directory)


if __name__ == "__main__":
    main()
