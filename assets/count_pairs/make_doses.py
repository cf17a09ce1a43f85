#!/usr/bin/env python3
"""Makes prompts of "count pairs" whose lazy answer "1" is correct in a given share: make_doses.py OUT_DIR SHARE [--seed N]

Writes train.jsonl (1,280 prompts) and eval.jsonl (512 held-out prompts). An answer that is not 1 is 2 or 3, with weights 3:2
as in make_data.py (docs/studies/dose-and-response.md).
"""
import argparse
import os

from make_data import problem, prompt_rows, write


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("out")
    arguments.add_argument("share", type=float)
    arguments.add_argument("--seed", type=int, default=1)
    a = arguments.parse_args()
    if not 0 < a.share < 1:
        arguments.error(f"SHARE is {a.share}: give a share above 0 and below 1")
    weights = {1: a.share, 2: (1 - a.share) * 0.6, 3: (1 - a.share) * 0.4}
    os.makedirs(a.out, exist_ok=True)
    taken = set()
    for name, seed, rows in (("eval", a.seed + 1, 512), ("train", a.seed + 2, 1280)):
        write(os.path.join(a.out, f"{name}.jsonl"), prompt_rows(seed, rows, taken, lambda draw: problem(draw, weights)))


if __name__ == "__main__":
    main()
