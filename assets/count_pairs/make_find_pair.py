#!/usr/bin/env python3
"""Makes the data of the second task, "find the pair": make_find_pair.py OUT_DIR [--seed N]

Six distinct integers of 1..20 and a target are given, and exactly one of the 15 pairs sums to the target. The answer is
the smaller number of that pair. A response tries pairs one by one, in the grammar of "count pairs", and a hit ends the
search. A response that stops without a hit guesses one of the numbers, which is correct with probability 1/6.

The data contain no search of more than MAX_TRIES tries. A search that has neither hit nor stopped by then is cut there, so
the data do not teach whether it continues. A search "in order" begins at any pair and continues in list order, from the
last pair to the first; one "at random" draws with replacement.

Writes to OUT_DIR:
  sft_first.jsonl   prompt/response rows with lists of 3 to 8 numbers, whose searches rarely stop
  sft_far.jsonl     the same after up to three earlier searches of the same problem in the prompt, each drawn independently
                    of the others; list and target are then as far back as in a search of all pairs
  sft_short.jsonl   rows with lists of six numbers, whose searches stop early: the start policy
  train.jsonl       RL prompts with gold answers, each used once
  eval.jsonl        held-out prompts
The same seed gives the same bytes with every Python 3, as in make_data.py.
"""
import argparse
import os

from make_data import LIST_LENGTH, Draw, pairs_of, problem, prompt_rows, prompt_text, write
from make_tokenizer import END

MAX_TRIES = 4
LENGTHS = range(3, 9)


def one_pair(draw, length=LIST_LENGTH):
    """A list, a target that one pair hits, and the smaller number of that pair."""
    numbers, target, _ = problem(draw, {1: 1}, length)
    return numbers, target, next(n for n in sorted(numbers) if target - n in numbers and 2 * n != target)


def search(draw, numbers, target, in_order_share, hazard):
    """A search that stops after each of its first tries with probability `hazard`, and the answer: None if it is cut."""
    pairs = pairs_of(len(numbers))
    in_order = draw.chance(in_order_share)
    text = "in order:\n" if in_order else "at random:\n"
    at = draw.below(len(pairs))
    for tries in range(1, MAX_TRIES + 1):
        a, b = (numbers[i] for i in pairs[at])
        text += f"{a}+{b}={a + b}"
        if a + b == target:
            return text + " yes 1\n", min(a, b)
        text += " no\n"
        if tries < MAX_TRIES and draw.chance(hazard):
            return text, guess(draw, numbers)
        at = (at + 1) % len(pairs) if in_order else draw.below(len(pairs))
    return text, None


def guess(draw, numbers):
    return numbers[draw.below(len(numbers))]


def boxed(answer):
    return "\\boxed{" + str(answer) + "}"


def earlier_search(draw, numbers, target, *style):
    text, answer = search(draw, numbers, target, *style)
    return text + boxed(answer or guess(draw, numbers))


def sft_rows(seed, count, lengths, most_earlier, *style):
    """Yields rows whose responses spell out the end token, because a response that is cut has none."""
    draw = Draw(seed)
    for _ in range(count):
        numbers, target, _ = one_pair(draw, lengths[draw.below(len(lengths))])
        earlier = [earlier_search(draw, numbers, target, *style) for _ in range(draw.below(most_earlier + 1))]
        text, answer = search(draw, numbers, target, *style)
        yield {"prompt": prompt_text(numbers, target) + "".join(earlier),
               "response": text if answer is None else text + boxed(answer) + END}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("out")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--first-rows", type=int, default=288000)
    arguments.add_argument("--far-rows", type=int, default=64000)
    arguments.add_argument("--short-rows", type=int, default=6400)
    arguments.add_argument("--train-rows", type=int, default=3200)
    arguments.add_argument("--eval-rows", type=int, default=512)
    a = arguments.parse_args()
    os.makedirs(a.out, exist_ok=True)
    at = lambda name: os.path.join(a.out, name)
    taken = set()
    write(at("eval.jsonl"), prompt_rows(a.seed + 1, a.eval_rows, taken, one_pair, "find_pair"))
    write(at("train.jsonl"), prompt_rows(a.seed + 2, a.train_rows, taken, one_pair, "find_pair"))
    write(at("sft_first.jsonl"), sft_rows(a.seed + 3, a.first_rows, LENGTHS, 0, 0.7, 0.1))
    write(at("sft_far.jsonl"), sft_rows(a.seed + 4, a.far_rows, LENGTHS, 3, 0.7, 0.1))
    write(at("sft_short.jsonl"), sft_rows(a.seed + 5, a.short_rows, [LIST_LENGTH], 0, 0.3, 0.5))


if __name__ == "__main__":
    main()
