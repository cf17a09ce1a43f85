#!/usr/bin/env python3
"""Agreement of an evaluation's verdicts with Math-Verify on the same responses.

    eval_math_verify.py SAMPLES.jsonl      (samples.jsonl of `lie_cluster eval`; needs math-verify)

A gold of GSM8K's kind is what follows "####". Prints the counts and the cases in which the two differ.
"""
import json
import sys

from math_verify import parse, verify


def main(path):
    counts, different = {(a, b): 0 for a in (True, False) for b in (True, False)}, []
    for line in open(path):
        sample = json.loads(line)
        gold = sample["gold"].split("####")[-1].strip()
        theirs = bool(verify(parse(f"${gold}$"), parse(sample["response"])))
        ours = sample["verdict"] == "equal"
        counts[ours, theirs] += 1
        if ours != theirs:
            different.append((sample["row"], sample["sample"], gold, sample["answer"], ours, sample["response"][-160:]))
    total = sum(counts.values())
    same = counts[True, True] + counts[False, False]
    print(f"{total} responses: both right {counts[True, True]}, both wrong {counts[False, False]}, only ours right "
          f"{counts[True, False]}, only theirs right {counts[False, True]}; agreement {100 * same / total:.2f} %")
    for case in different:
        print("row {} sample {}: gold {}, our answer {!r}, ours right: {}\n    ...{!r}".format(*case))


if __name__ == "__main__":
    main(sys.argv[1])
