#!/usr/bin/env python3
"""Checks the exports of export_test.sh against an independent selection from all logged responses.

check_export.py WORK
"""
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

work = Path(sys.argv[1])


def rows(name):
    return [json.loads(line) for line in (work / f"{name}.jsonl").open(encoding="utf-8")]


def user(prompt):
    """Returns the message that the chatml template encloses."""
    found = re.fullmatch(r"<\|im_start\|>user\n(.*)<\|im_end\|>\n<\|im_start\|>assistant\n", prompt, re.S)
    return [{"role": "user", "content": found.group(1)}]


def assistant(row):
    return [{"role": "assistant", "content": row["response"]}]


def accuracy(group):
    return sum(row["right"] for row in group) / len(group)


responses = rows("responses")
key = lambda row: (row["step"], row["kind"] == "eval", row["group"])
assert [(*key(row), row["sample"]) for row in responses] == sorted((*key(row), row["sample"]) for row in responses)
by_key = defaultdict(list)
for row in responses:
    by_key[key(row)].append(row)
groups = list(by_key.values())
training = [group for group in groups if group[0]["kind"] == "train"]
assert len(training) == 6 * 6 and all(len(group) == 4 for group in training)
for row in responses:
    terms = [value for name, value in row.items() if name.startswith("reward_")]
    assert abs(row["reward"] - sum(terms)) < 1e-5, row
    assert row["right"] == (row["verdict"] == "equal")
    assert (row["advantage"] is None) == (row["kind"] == "eval")


def best(group):
    """Returns the correct rows that ended, highest reward first; sorted() keeps the order of equal rewards."""
    return sorted((row for row in group if row["right"] and row["finish_reason"] != "length"), key=lambda row: -row["reward"])


sft = [{"prompt": group[0]["prompt"], "completion": best(group)[0]["response"]} for group in training if best(group)]
assert rows("sft") == sft and 0 < len(sft) < len(training)

messages = [{"messages": user(row["prompt"]) + assistant(row)}
            for group in training if group[0]["step"] in (2, 3) for row in best(group)]
assert rows("messages") == messages and messages

pairs = []
for group in groups:
    wrong = [row for row in group if not row["right"]]
    if best(group) and wrong:
        worst = min(wrong, key=lambda row: row["reward"])
        pairs.append({"prompt": user(group[0]["prompt"]), "chosen": assistant(best(group)[0]), "rejected": assistant(worst)})
assert rows("pairs") == pairs and pairs

problems = [(user(group[0]["prompt"]), group[0]["gold"], accuracy(group)) for group in training]
assert len({str(prompt) for prompt, _, _ in problems}) == len(problems), "each problem occurs once"
problems = [row for row in problems if 0.25 <= row[2] <= 0.5]
exported = rows("problems")
assert [(row["prompt"], row["reward_model"]["ground_truth"], row["extra_info"]["accuracy"]) for row in exported] == problems
assert problems and all(row["reward_model"]["style"] == "rule" for row in exported)
assert all(row["extra_info"]["responses"] == 4 and row["data_source"] == "count_pairs" for row in exported)

tokens = rows("tokens")
assert len(tokens) == sum(map(len, training))
assert list(tokens[0]) == ["step", "tokens", "response_ids", "prompt_ids", "behavior_log_probs", "learner_log_probs", "reward"]
for row in tokens:
    assert row["tokens"] == len(row["response_ids"]) == len(row["behavior_log_probs"]) == len(row["learner_log_probs"])
    assert all(value <= 0 for value in row["behavior_log_probs"])

two = rows("two_runs")
names = [Path(row["run"]).name for row in two]
assert names == ["program"] * (6 * 4) + ["run"] * (6 * 6 * 4)
assert all((row["reward_command"] is None) == (name == "run") for row, name in zip(two, names))
