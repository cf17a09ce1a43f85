#!/usr/bin/env python3
"""Compares the verdicts of an evaluation with those of Math-Verify on the same responses.

If a gold answer contains "####", as in GSM8K, the gold is what follows. Prints the counts and the cases in which the two differ.
"""
import peer


def main(path):
    math_verify = peer.package("math_verify")
    counts, different = {(a, b): 0 for a in (True, False) for b in (True, False)}, []
    for sample in peer.rows(path, "gold", "response", "verdict", "row", "sample", "answer"):
        gold = sample["gold"].split("####")[-1].strip()
        theirs = bool(math_verify.verify(math_verify.parse(f"${gold}$"), math_verify.parse(sample["response"])))
        ours = sample["verdict"] == "equal"
        counts[ours, theirs] += 1
        if ours != theirs:
            different.append((sample["row"], sample["sample"], gold, sample["answer"], ours, sample["response"][-160:]))
    total = sum(counts.values()) or peer.fail(f"{path}: has no rows")
    same = counts[True, True] + counts[False, False]
    print(f"{total} responses: both right {counts[True, True]}, both wrong {counts[False, False]}, only ours right "
          f"{counts[True, False]}, only theirs right {counts[False, True]}; agreement {100 * same / total:.2f} %")
    for case in different:
        print("row {} sample {}: gold {}, our answer {!r}, ours right: {}\n    ...{!r}".format(*case))


if __name__ == "__main__":
    parser = peer.arguments(__doc__)
    parser.add_argument("samples", type=peer.existing, help="samples.jsonl of `lie_cluster eval`")
    main(parser.parse_args().samples)
