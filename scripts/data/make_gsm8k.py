#!/usr/bin/env python3
"""Data of the GSM8K trial: make_gsm8k.py GSM8K.jsonl SOLUTIONS.jsonl OUT_DIR

GSM8K.jsonl has rows with question and answer (a solution that ends with "#### 18"); SOLUTIONS.jsonl adds several models'
solutions to the same questions, each with is_correct. The questions are divided, so that nothing is measured on what
was learned from:
  eval.jsonl   the first 200 questions with gold answers, for evaluation only
  sft.jsonl    the next 500: the published solution and up to two right ones of the models, answers boxed
  train.jsonl  the rest, for reinforcement learning
"""
import json
import os
import re
import sys

EVALUATION, TAUGHT = 200, 500
MODEL_SOLUTIONS = 2


def boxed(solution):
    """Returns the solution without <<calculator>> notes and with the last line's answer in a box."""
    text = re.sub(r"<<.*?>>", "", solution).strip()
    lines, _, answer = re.sub(r"\n(####|A:) ", "\n\0", text).rpartition("\n\0")
    return f"{lines.strip()}\nThe answer is \\boxed{{{answer.strip()}}}." if lines else None


def solutions(row, others):
    """Returns the published solution and different correct ones, if they end in an answer."""
    right = [o["solution"] for o in others.values() if isinstance(o, dict) and o["is_correct"]]
    texts = [boxed(row["answer"])] + [boxed(solution) for solution in right]
    distinct = list(dict.fromkeys(text for text in texts if text))
    return distinct[:1 + MODEL_SOLUTIONS]


def write(path, rows):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(json.dumps(row) + "\n" for row in rows)
    print(f"{path}: {len(rows)} rows")


def main(gsm8k, model_solutions, out):
    rows = [json.loads(line) for line in open(gsm8k, encoding="utf-8")]
    others = {row["question"]: row for row in map(json.loads, open(model_solutions, encoding="utf-8"))}
    prompts = [{"prompt": row["question"], "gold": row["answer"].split("#### ")[-1], "data_source": "gsm8k"} for row in rows]
    taught = rows[EVALUATION:EVALUATION + TAUGHT]
    os.makedirs(out, exist_ok=True)
    write(f"{out}/eval.jsonl", prompts[:EVALUATION])
    write(f"{out}/sft.jsonl", [{"prompt": row["question"], "response": text}
                               for row in taught for text in solutions(row, others.get(row["question"], {}))])
    write(f"{out}/train.jsonl", prompts[EVALUATION + TAUGHT:])


if __name__ == "__main__":
    main(*sys.argv[1:])
