#!/usr/bin/env python3
"""transformers' generate on the prompts of an evaluation: tokens a second, to hold against `lie_cluster eval`'s.

    eval_transformers.py MODEL_DIRECTORY SAMPLES.jsonl [BATCH] [MAX_NEW_TOKENS] [TEMPERATURE]

SAMPLES is samples.jsonl of the evaluation: each of its lines is one response to generate again, in batches with left
padding, fp32, eager attention over the padded batch, as users of transformers do. Counts response tokens up to the end.
"""
import json
import sys
import time

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def main(model_directory, samples, batch="16", max_new_tokens="512", temperature="0.6"):
    tokenizer = AutoTokenizer.from_pretrained(model_directory, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(model_directory, dtype=torch.float32)
    ends = model.generation_config.eos_token_id
    ends = set(ends if isinstance(ends, list) else [ends])
    tokenizer.pad_token_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else min(ends)
    prompts = [json.loads(line)["prompt"] for line in open(samples)]
    torch.manual_seed(1)
    tokens, start = 0, time.time()
    for at in range(0, len(prompts), int(batch)):
        inputs = tokenizer(prompts[at:at + int(batch)], return_tensors="pt", padding=True, add_special_tokens=False)
        with torch.inference_mode():
            output = model.generate(**inputs, do_sample=True, temperature=float(temperature), top_p=1.0, top_k=0,
                                    max_new_tokens=int(max_new_tokens), pad_token_id=tokenizer.pad_token_id)
        for row in output[:, inputs["input_ids"].shape[1]:].tolist():
            tokens += next((i + 1 for i, token in enumerate(row) if token in ends), len(row))
    seconds = time.time() - start
    print(f"transformers: {len(prompts)} responses, {tokens} tokens in {seconds:.1f} s: {tokens / seconds:.0f} tokens/s")


if __name__ == "__main__":
    main(*sys.argv[1:])
