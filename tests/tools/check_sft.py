#!/usr/bin/env python3
"""Fine-tunes with transformers on the same rows as `lie_cluster sft` and compares the losses per step.

    check_sft.py MODEL_DIRECTORY ROWS.parquet METRICS.jsonl [LEARNING_RATE]

ROWS holds `messages` rows. METRICS is the metrics file of `lie_cluster sft` with a constant learning
rate, no warm-up and prompt_template model. Each of its batches holds all rows, so their order does not
matter. The loss covers only the tokens of the assistant. This script finds them by rendering each
conversation with and without its answer. It uses fp32, AdamW, weight decay 0.1 on matrices, and
gradient norm 1. The losses must agree to 1e-3 at every step. Needs torch, transformers and pyarrow.
Run by hand.
"""
import json
import sys
import time

import pyarrow.parquet as pq
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def example(tokenizer, messages):
    prompt = tokenizer.apply_chat_template(messages[:-1], tokenize=False, add_generation_prompt=True)
    whole = tokenizer.apply_chat_template(messages, tokenize=False).removesuffix("\n")
    assert whole.startswith(prompt)
    encode = lambda text: tokenizer(text, add_special_tokens=False)["input_ids"]
    prompt_ids, answer_ids = encode(prompt), encode(whole[len(prompt):])
    return torch.tensor([prompt_ids + answer_ids]), torch.tensor([[-100] * len(prompt_ids) + answer_ids])


def main(model_directory, rows, metrics, learning_rate="1e-4"):
    tokenizer = AutoTokenizer.from_pretrained(model_directory)
    model = AutoModelForCausalLM.from_pretrained(model_directory, dtype=torch.float32)
    examples = [example(tokenizer, row["messages"]) for row in pq.read_table(rows).to_pylist()]
    tokens = sum(int((labels >= 0).sum()) for _, labels in examples)
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() <= 1]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
                                  lr=float(learning_rate), betas=(0.9, 0.999), eps=1e-8)
    worst = 0.0
    for line in open(metrics):
        ours = json.loads(line)
        start = time.time()
        optimizer.zero_grad()
        loss = 0.0
        for ids, labels in examples:
            logits = model(ids).logits[0, :-1]
            part = torch.nn.functional.cross_entropy(logits, labels[0, 1:], ignore_index=-100, reduction="sum") / tokens
            part.backward()
            loss += part.item()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item()
        optimizer.step()
        worst = max(worst, abs(loss - ours["loss"]))
        print(f"step {ours['step']}: loss {loss:.6f}, ours {ours['loss']:.6f}; gradient norm {norm:.5f}, "
              f"ours {ours['grad_norm']:.5f}; {time.time() - start:.1f} s, ours {ours['step_seconds']:.1f} s", flush=True)
    print(f"response tokens {tokens}, ours {ours['response_tokens']:.0f}; largest difference of the loss {worst:.2e}")
    assert worst <= 1e-3


if __name__ == "__main__":
    main(*sys.argv[1:])
