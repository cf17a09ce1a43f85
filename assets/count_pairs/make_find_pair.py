#!/usr/bin/env python3
"""Makes the data of the second task, "find the pair": make_find_pair.py OUT_DIR [--seed N]

Six distinct integers of 1..20 and a target are given, and exactly one of the 15 pairs sums to the target. The answer is
the smaller number of that pair. A response tries pairs one by one, in the grammar of "count pairs", and a hit ends the
search. A response that stops without a hit guesses one of the numbers, which is correct in 1/6.

No response that is taught has more than MAX_TRIES tries. A search "in order" begins at any pair and continues in list
order, from the last pair to the first; one "at random" draws with replacement. So the steps of a search of all pairs are
taught, and such a search is not.

Writes to OUT_DIR:
  sft_first.jsonl   prompt/response rows with lists of 3 to 10 numbers
  sft_short.jsonl   rows with lists of six numbers: the start policy
  train.jsonl       RL prompts with gold answers, each used once
  eval.jsonl        held-out prompts
The same seed gives the same bytes with every Python 3, as in make_data.py.
"""
import argparse
import os

from make_data import LIST_LENGTH, Draw, pairs_of, problem, prompt_rows, prompt_text, write

MAX_TRIES = 4
FIRST_LENGTHS = range(3, 11)


def one_pair(draw, length=LIST_LENGTH):
    """A list, a target that one pair hits, and the smaller number of that pair."""
    numbers, target, _ = problem(draw, {1: 1}, length)
    return numbers, target, next(n for n in sorted(numbers) if target - n in numbers and 2 * n != target)


def response_text(draw, numbers, target, tries):
    """A search that ends at a hit or after this number of tries."""
    pairs = pairs_of(len(numbers))
    in_order = draw.chance(0.5)
    lines = ["in order:\n" if in_order else "at random:\n"]
    at = draw.below(len(pairs))
    answer = numbers[draw.below(len(numbers))]
    for _ in range(tries):
        a, b = (numbers[i] for i in pairs[at])
        hit = a + b == target
        lines.append(f"{a}+{b}={a + b}" + (" yes 1\n" if hit else " no\n"))
        if hit:
            answer = min(a, b)
            break
        at = (at + 1) % len(pairs) if in_order else draw.below(len(pairs))
    lines.append("\\boxed{" + str(answer) + "}")
    return "".join(lines)


def sft_rows(seed, count, lengths, tries_weights):
    draw = Draw(seed)
    for _ in range(count):
        numbers, target, _ = one_pair(draw, lengths[draw.below(len(lengths))])
        yield {"prompt": prompt_text(numbers, target),
               "response": response_text(draw, numbers, target, draw.weighted(tries_weights))}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("out")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--first-rows", type=int, default=384000)
    arguments.add_argument("--short-rows", type=int, default=32000)
    arguments.add_argument("--train-rows", type=int, default=1920)
    arguments.add_argument("--eval-rows", type=int, default=512)
    a = arguments.parse_args()
    os.makedirs(a.out, exist_ok=True)
    at = lambda name: os.path.join(a.out, name)
    taken = set()
    write(at("eval.jsonl"), prompt_rows(a.seed + 1, a.eval_rows, taken, one_pair, "find_pair"))
    write(at("train.jsonl"), prompt_rows(a.seed + 2, a.train_rows, taken, one_pair, "find_pair"))
    write(at("sft_first.jsonl"), sft_rows(a.seed + 3, a.first_rows, FIRST_LENGTHS, {1: 1, 2: 1, 3: 2, MAX_TRIES: 6}))
    write(at("sft_short.jsonl"), sft_rows(a.seed + 4, a.short_rows, [LIST_LENGTH], {1: 4, 2: 3, 3: 2, MAX_TRIES: 1}))


if __name__ == "__main__":
    main()
