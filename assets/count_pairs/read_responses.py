#!/usr/bin/env python3
"""Counts what the responses of a run's last evaluation do, by the grammar of the two tasks: read_responses.py RUN_DIR...

    PYTHONPATH=python python3 assets/count_pairs/read_responses.py runs/demo/lie

A try is "a+b=sum flag". Prints for all responses: tries, the share of the 15 pairs that is tried, the shares of responses
with more than four tries and with every pair that hits the target, repeated tries, tries with a wrong sum (among the first
four, and among the later ones), and the share of tries that follow the previous one in list order. Prints for the incorrect
responses: how many contain a wrong sum, lack a pair that hits the target, both, or neither (a wrong flag, number or count).
"""
import collections
import re
import sys

from lie_cluster import Run
from make_data import PAIRS

_TRY = re.compile(r"^(\d+)\+(\d+)=(.*) (?:yes|no)", re.MULTILINE)


def last_evaluation(run):
    """Returns the texts of the last evaluation's responses, with whether each is correct."""
    rows = run.last_evaluation()
    return run.texts(rows), run.samples(["reward_accuracy"])["reward_accuracy"][rows] > 0.5


def read_response(prompt, response):
    """Returns the tries as list positions (None: not two numbers of the list), whether each sum is wrong, and whether a hit
    is missing."""
    *numbers, target = map(int, re.findall(r"\d+", prompt))
    position = {frozenset((numbers[i], numbers[j])): at for at, (i, j) in enumerate(PAIRS)}
    found = [(int(a), int(b), total) for a, b, total in _TRY.findall(response)]
    tries = [position.get(frozenset((a, b))) for a, b, _ in found]
    hits = {at for at, (i, j) in enumerate(PAIRS) if numbers[i] + numbers[j] == target}
    return tries, [str(a + b) != total for a, b, total in found], not hits <= set(tries)


def count(texts, correct):
    """Returns sums over the responses."""
    sums = collections.Counter(responses=len(correct), incorrect=int((~correct).sum()))
    for prompt, response, is_correct in zip(texts["prompt"], texts["response"], correct):
        tries, wrong_sums, lacks_pair = read_response(prompt, response)
        wrong_sum = any(wrong_sums)
        known = [at for at in tries if at is not None]
        sums.update(tries=len(tries), distinct=len(set(known)), repeats=len(known) - len(set(known)),
                    foreign=len(tries) - len(known), in_order=sum(b == a + 1 for a, b in zip(known, known[1:])),
                    complete=not lacks_pair, beyond=len(tries) > 4, early=len(tries[:4]), early_wrong=sum(wrong_sums[:4]),
                    late_wrong=sum(wrong_sums[4:]))
        if lacks_pair:
            sums.update(missed=1, missed_tries=len(tries), missed_distinct=len(set(known)))
        if not is_correct:
            sums.update({"wrong sum": wrong_sum, "lacks a pair": lacks_pair, "both": wrong_sum and lacks_pair,
                         "neither": not (wrong_sum or lacks_pair)})
    return sums


def report(name, s):
    tries, late, missed = max(1, s["tries"]), max(1, s["tries"] - s["early"]), max(1, s["missed"])
    print(f"{name}: {s['responses']} responses, {s['tries'] / s['responses']:.1f} tries, "
          f"{s['distinct'] / s['responses'] / len(PAIRS):.2f} of the pairs, "
          f"more than four tries in {s['beyond'] / s['responses']:.2f}, every hit in {s['complete'] / s['responses']:.3f} "
          f"(the others: {s['missed_tries'] / missed:.1f} tries of {s['missed_distinct'] / missed:.1f} pairs), "
          f"repeats {s['repeats'] / tries:.3f}, "
          f"wrong sums {s['early_wrong'] / max(1, s['early']):.3f} and {s['late_wrong'] / late:.3f}, "
          f"numbers that are not in the list {s['foreign'] / tries:.3f}, in list order {s['in_order'] / tries:.2f}; "
          f"{s['incorrect']} incorrect: " + ", ".join(f"{s[k]} {k}" for k in ("wrong sum", "lacks a pair", "both", "neither")))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    total = collections.Counter()
    for directory in sys.argv[1:]:
        sums = count(*last_evaluation(Run(directory)))
        report(directory, sums)
        total.update(sums)
    if len(sys.argv) > 2:
        report("together", total)


if __name__ == "__main__":
    main()
