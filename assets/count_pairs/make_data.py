#!/usr/bin/env python3
"""Makes the data of the embedded task "count pairs": make_data.py OUT_DIR [--seed N] [--taught N...]
[--trained N...] [--measured N...] [--numbers N] [--weights A B C] [--lazy]

Six distinct integers of 1..20 and a target are given; the answer is how many of the 15 pairs sum to the target
(1, 2 or 3, drawn with weights 6:3:2). A response tries pairs one by one and boxes the number of different hits it
found, at least 1. Only the policy ends the search, a lazy "1" is right in 6/11 of the problems, and the chance of
being right rises slowly with the share c of pairs tried: P = (6 + 3c^2 + 2c^3) / 11. This is a small instance of the
shallow exploration trap of arXiv:2602.11748.

Writes to OUT_DIR:
  sft_skill.jsonl   prompt/response rows that teach the skill: mostly long, careful searches
  sft_sloppy.jsonl  rows that teach the lazy start policy: the same skill, stopped early
  train.jsonl       RL prompts with gold answers, each used once
  eval.jsonl        held-out prompts
The same seed gives the same bytes with every Python 3: only random.random() is used.

With --taught, --trained and --measured, lists have these numbers of integers, and eval.jsonl has --eval-rows prompts of
each measured length, which is their data source (docs/studies/list-lengths.md). At most length // 2 pairs hit, so a lazy
"1" is right in 2/3 of the lists of four and five. With --numbers, they are integers of 1 to N, and
with --weights the answers 1, 2 and 3 have these weights.
"""
import argparse
import json
import os
import random

NUMBERS = 20        # integers 1..NUMBERS
LIST_LENGTH = 6
ANSWER_WEIGHTS = {1: 6, 2: 3, 3: 2}
MAX_TRIES = 20      # 1 header + 20 * 6 + 4 closing tokens = 125, under the response limit of 130


def pairs_of(length):
    """Returns the pairs of positions in list order."""
    return [(i, j) for i in range(length) for j in range(i + 1, length)]


PAIRS = pairs_of(LIST_LENGTH)


class Draw:
    """Draws from one random.Random using random() alone, which is the same in every Python version."""

    def __init__(self, seed):
        self.random = random.Random(seed).random

    def below(self, n):
        return int(self.random() * n)

    def chance(self, p):
        return self.random() < p

    def weighted(self, weights):
        x = self.random() * sum(weights.values())
        for value, weight in weights.items():
            x -= weight
            if x < 0:
                return value
        return value

    def distinct(self, n, highest):
        chosen = []
        while len(chosen) < n:
            x = 1 + self.below(highest)
            if x not in chosen:
                chosen.append(x)
        return chosen


def problem(draw, answer_weights=ANSWER_WEIGHTS, length=LIST_LENGTH, highest=NUMBERS):
    """Draws a number of hits, then lists until one has a target that so many pairs hit. Returns list, target and number.
    Targets are neither the smallest nor the largest sums: 9 to 32 for numbers up to 20."""
    wanted = draw.weighted({hits: weight for hits, weight in answer_weights.items() if hits <= length // 2})
    while True:
        numbers = draw.distinct(length, highest)
        sums = [numbers[i] + numbers[j] for i, j in pairs_of(length)]
        targets = [t for t in range(highest // 2 - 1, 8 * highest // 5 + 1) if sums.count(t) == wanted]
        if targets:
            return numbers, targets[draw.below(len(targets))], wanted


def prompt_text(numbers, target):
    return " ".join(str(n) for n in numbers) + f" target {target}:\n"


def response_text(draw, numbers, target, in_order, hazard):
    """A search that stops after each try with probability `hazard`; a repeated hit keeps the running count."""
    pairs = pairs_of(len(numbers))
    lines = ["in order:\n" if in_order else "at random:\n"]
    hits = set()
    at = -1
    for _ in range(max(MAX_TRIES, len(pairs))):
        follow = at < 0 if in_order else False
        if follow or draw.chance(0.98 if in_order else 0.2):
            at += 1
        else:
            at = draw.below(len(pairs))
        if at >= len(pairs):
            if in_order:
                break
            at = 0
        i, j = pairs[at]
        a, b = numbers[i], numbers[j]
        if a + b == target:
            hits.add(at)
            flag = f" yes {len(hits)}\n"
        else:
            flag = " no\n"
        lines.append(f"{a}+{b}={a + b}{flag}")
        if draw.chance(hazard):
            break
    lines.append("\\boxed{" + str(max(1, len(hits))) + "}")
    return "".join(lines)


def drawn_length(draw, lengths):
    return lengths[0] if len(lengths) == 1 else lengths[draw.below(len(lengths))]


def sft_rows(seed, count, draw_problem, in_order_share, long_share, long_hazard, short_hazard):
    draw = Draw(seed)
    for _ in range(count):
        numbers, target, _ = draw_problem(draw)
        hazard = long_hazard if draw.chance(long_share) else short_hazard
        in_order = draw.chance(in_order_share)
        yield {"prompt": prompt_text(numbers, target),
               "response": response_text(draw, numbers, target, in_order, hazard)}


def prompt_rows(seed, count, taken, draw_problem=problem, data_source="count_pairs"):
    """Problems, none of which is in `taken`."""
    draw = Draw(seed)
    rows = 0
    while rows < count:
        numbers, target, answer = draw_problem(draw)
        text = prompt_text(numbers, target)
        if text in taken:
            continue
        taken.add(text)
        rows += 1
        yield {"prompt": text, "gold": str(answer), "data_source": data_source}


def write(path, rows):
    with open(path, "w", encoding="utf-8") as f:
        for row in rows:
            f.write(json.dumps(row) + "\n")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("out")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--skill-rows", type=int, default=256000)
    arguments.add_argument("--sloppy-rows", type=int, default=6400)
    arguments.add_argument("--train-rows", type=int, default=1280)
    arguments.add_argument("--eval-rows", type=int, default=512)
    for name in ("taught", "trained", "measured"):
        arguments.add_argument(f"--{name}", type=int, nargs="+", default=[LIST_LENGTH])
    arguments.add_argument("--numbers", type=int, default=NUMBERS)
    arguments.add_argument("--weights", type=int, nargs=3, default=list(ANSWER_WEIGHTS.values()))
    arguments.add_argument("--lazy", action="store_true")
    a = arguments.parse_args()
    os.makedirs(a.out, exist_ok=True)
    at = lambda name: os.path.join(a.out, name)
    taken = set()
    weights = {answer: weight for answer, weight in zip(ANSWER_WEIGHTS, a.weights) if weight > 0}
    problems = lambda lengths: lambda draw: problem(draw, weights, drawn_length(draw, lengths), a.numbers)
    source = lambda length: "count_pairs" if a.measured == [LIST_LENGTH] else f"length-{length}"
    write(at("eval.jsonl"), (row for length in a.measured
                             for row in prompt_rows(a.seed + 1, a.eval_rows, taken, problems([length]), source(length))))
    write(at("train.jsonl"), prompt_rows(a.seed + 2, a.train_rows, taken, problems(a.trained)))
    sloppy = {"in_order_share": 0.3, "long_share": 0, "long_hazard": 0, "short_hazard": 0.55}
    skill = sloppy if a.lazy else {"in_order_share": 0.6, "long_share": 0.8, "long_hazard": 0.01, "short_hazard": 0.25}
    write(at("sft_skill.jsonl"), sft_rows(a.seed + 3, a.skill_rows, problems(a.taught), **skill))
    write(at("sft_sloppy.jsonl"), sft_rows(a.seed + 4, a.sloppy_rows, problems(a.taught), **sloppy))


if __name__ == "__main__":
    main()
