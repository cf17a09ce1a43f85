#!/usr/bin/env python3
"""Fine-tunes one model twice on the same batches, here and in PyTorch: check_sft.py LIE_CLUSTER MODEL_DIR ROWS.jsonl [STEPS]

ROWS.jsonl has the fields prompt and response; every row is in every batch, so that both see the same batches whatever
the order. The losses must agree to 1e-3 at every step. Needs torch and transformers; run by hand.
"""
import json
import subprocess
import sys
import tempfile

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

RATE, BETAS, EPS, DECAY, CLIP = 5e-5, (0.9, 0.999), 1e-8, 0.1, 1.0


def ours(program, model_dir, rows, steps, count):
    with tempfile.TemporaryDirectory() as run:
        with open(run + "/sft.yaml", "w") as config:
            config.write(f"""directory: {run}/run
model: {{path: {model_dir}}}
sft:
  data: {rows}
  steps: {steps}
  batch_sequences: {count}
  max_batch_tokens: 1000000
  optimizer: {{learning_rate: {RATE}, schedule: constant, warmup: 0, beta1: {BETAS[0]}, beta2: {BETAS[1]}, eps: {EPS},
    weight_decay: {DECAY}, max_grad_norm: {CLIP}}}
""")
        subprocess.run([program, "sft", run + "/sft.yaml"], check=True, stdout=subprocess.DEVNULL)
        return [json.loads(line)["loss"] for line in open(run + "/run/metrics.jsonl")]


def examples_of(model_dir, rows, end):
    tokenizer = AutoTokenizer.from_pretrained(model_dir)
    encode = lambda text: tokenizer.encode(text, add_special_tokens=False)
    for row in map(json.loads, open(rows)):
        prompt, response = encode(row["prompt"]), encode(row["response"]) + [end]
        yield torch.tensor([prompt + response]), len(prompt)


def losses_of_pytorch(model_dir, rows, steps):
    model = AutoModelForCausalLM.from_pretrained(model_dir, dtype=torch.float32)
    end = model.config.eos_token_id
    examples = list(examples_of(model_dir, rows, end[0] if isinstance(end, list) else end))
    tokens = sum(ids.shape[1] - prompt for ids, prompt in examples)
    matrices = [p for p in model.parameters() if p.ndim > 1]
    vectors = [p for p in model.parameters() if p.ndim == 1]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": DECAY},
                                   {"params": vectors, "weight_decay": 0.0}], lr=RATE, betas=BETAS, eps=EPS)
    for _ in range(steps):
        total = 0.0
        for ids, prompt in examples:
            log_probs = torch.log_softmax(model(ids).logits[0, prompt - 1:-1].float(), -1)
            loss = -log_probs.gather(1, ids[0, prompt:, None]).sum() / tokens
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        optimizer.zero_grad()
        yield total


def main(program, model_dir, rows, steps=8):
    steps = int(steps)
    mine = ours(program, model_dir, rows, steps, sum(1 for _ in open(rows)))
    worst = 0.0
    for step, (loss, expected) in enumerate(zip(mine, losses_of_pytorch(model_dir, rows, steps), strict=True), 1):
        print(f"step {step}: loss {loss:.6f}, PyTorch {expected:.6f}, difference {loss - expected:+.1e}")
        worst = max(worst, abs(loss - expected))
    print(f"largest difference {worst:.1e}")
    assert worst <= 1e-3


if __name__ == "__main__":
    main(*sys.argv[1:])
