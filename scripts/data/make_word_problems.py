#!/usr/bin/env python3
"""Arithmetic word problems of one to three steps: make_word_problems.py OUT_DIR

The questions are generated from ten templates. No question is in two of the files:
  eval.jsonl   256 questions with gold answers, for evaluation only
  sft.jsonl    600 questions with worked answers, boxed
  train.jsonl  1,000 questions with gold answers, for reinforcement learning
"""
import json
import os
import random
import sys

SEED = 20261127
FILES = {"eval": 256, "sft": 600, "train": 1000}
NAMES = ["Tom", "Anna", "Ben", "Lily", "Sam", "Mia", "Jack", "Emma"]
THINGS = ["apples", "books", "stickers", "marbles", "pencils", "shells", "cards", "coins"]
BOXES = ["boxes", "bags", "baskets", "jars"]


def clock(minutes):
    return f"{minutes // 60}:{minutes % 60:02}"


def problem(draw):
    """Returns a question, the lines of its worked answer, and the answer."""
    name, thing, box = draw.choice(NAMES), draw.choice(THINGS), draw.choice(BOXES)
    a, b, c = draw.randint(12, 79), draw.randint(3, 48), draw.randint(2, 9)
    start, walk = draw.randint(60, 540), draw.randint(11, 59)
    return draw.choice([
        lambda: (f"{name} has {a} {thing}. A friend gives {name} {b} more. How many {thing} does {name} have now?",
                 [f"{a} + {b} = {a + b}"], a + b),
        lambda: (f"{name} has {a + b} {thing} and loses {b} of them. How many {thing} are left?",
                 [f"{a + b} - {b} = {a}"], a),
        lambda: (f"There are {c} {box} with {b} {thing} each. How many {thing} are there in all?",
                 [f"{c} * {b} = {c * b}"], c * b),
        lambda: (f"{name} shares {c * b} {thing} equally among {c} {box}. How many {thing} are in each?",
                 [f"{c * b} / {c} = {b}"], b),
        lambda: (f"{name} starts to walk at {clock(start)} and walks for {walk} minutes. How many minutes after "
                 f"{start // 60}:00 does {name} arrive?",
                 [f"{start % 60} + {walk} = {start % 60 + walk}"], start % 60 + walk),
        lambda: (f"{name} has {c} {box} with {b} {thing} each and {a} more {thing}. How many {thing} are there in all?",
                 [f"{c} * {b} = {c * b}", f"{c * b} + {a} = {c * b + a}"], c * b + a),
        lambda: (f"{name} buys {c} {thing} at {b} dollars each and pays with {c * b + a} dollars. How many dollars does "
                 f"{name} get back?",
                 [f"{c} * {b} = {c * b}", f"{c * b + a} - {c * b} = {a}"], a),
        lambda: (f"{name} has {a} {thing}. A friend has {c} times as many. How many {thing} do they have together?",
                 [f"{c} * {a} = {c * a}", f"{c * a} + {a} = {c * a + a}"], c * a + a),
        lambda: (f"{name} had {a + b + c} {thing}, gave {b} to a friend and lost {c}. How many {thing} are left?",
                 [f"{a + b + c} - {b} = {a + c}", f"{a + c} - {c} = {a}"], a),
        lambda: (f"{name} fills {c} {box} with {b} {thing} each, adds {a} {thing} and then shares all of them in two "
                 f"equal parts, of which the first has one more if need be. How many {thing} are in the first part?",
                 [f"{c} * {b} = {c * b}", f"{c * b} + {a} = {c * b + a}", f"{(c * b + a + 1) // 2} + {(c * b + a) // 2} = {c * b + a}"],
                 (c * b + a + 1) // 2),
    ])()


def distinct_problems(count):
    draw, found = random.Random(SEED), {}
    while len(found) < count:
        question, lines, answer = problem(draw)
        found.setdefault(question, (lines, answer))
    return list(found.items())


def row(kind, question, lines, answer):
    if kind == "sft":
        return {"prompt": question, "response": "\n".join(lines) + f"\nThe answer is \\boxed{{{answer}}}."}
    return {"prompt": question, "gold": str(answer), "data_source": f"steps-{len(lines)}"}


def main(out):
    problems = iter(distinct_problems(sum(FILES.values())))
    os.makedirs(out, exist_ok=True)
    for kind, count in FILES.items():
        with open(f"{out}/{kind}.jsonl", "w", encoding="utf-8") as file:
            for _ in range(count):
                question, (lines, answer) = next(problems)
                file.write(json.dumps(row(kind, question, lines, answer)) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
