#!/usr/bin/env python3
"""Compares a model's numbers with transformers', in float32:

    check_parity.py BUILD_DIR/bin/lie_cluster MODEL_DIR FILE...

Log-probs: the script scores texts of up to --max-tokens tokens with `lie_cluster score` and with transformers. The texts
are from the files; of a JSONL row, the longest text is used. The largest difference must be at most --tolerance.

Greedy generation: `lie_cluster generate` and transformers generate --new-tokens tokens after the start of --prompts of the
texts. The tokens must be equal. With --forced, transformers does not generate, but runs one forward pass over each of our
sequences, in which every token must be the most likely one.

With --bf16, the script compares only log-probs: ours with matmuls in bf16 (--device cpu-bf16), and those of transformers
with the model in bf16. Ours must not differ more from transformers in float32. Needs torch and transformers; run by hand.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import torch
from transformers import AutoModelForCausalLM
from tokenizers import Tokenizer

LENGTHS = [60, 2000, 120, 400, 250, 900, 180, 60, 600, 120, 1400, 300, 80, 200, 100, 500]  # limits of successive texts


def texts_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        if not path.endswith(".jsonl"):
            yield file.read(40000)
            return
        for line in file:
            texts = [value for value in json.loads(line).values() if isinstance(value, str)]
            if texts:
                yield max(texts, key=len)


def rows(args, tokenizer):
    """Returns the token ids of --texts texts, from the files in turn, truncated to LENGTHS."""
    sources, found = [texts_of(path) for path in args.files], []
    while sources and len(found) < args.texts:
        for source in list(sources):
            text = next(source, None)
            if text is None:
                sources.remove(source)
                continue
            limit = min(LENGTHS[len(found) % len(LENGTHS)], args.max_tokens)
            ids = tokenizer.encode(text, add_special_tokens=False).ids[:limit]
            if len(ids) >= 24:
                found.append(ids)
    return found[args.first:args.texts]


def ours(args, command, lines, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.jsonl")
        with open(path, "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        start = time.time()
        out = subprocess.run([args.program, command, args.model, path, "--threads", str(args.threads), *options],
                             check=True, stdout=subprocess.PIPE)
        print(f"  ours: {time.time() - start:.0f} s with loading", flush=True)
    return [json.loads(line) for line in out.stdout.splitlines()]


def log_softmax_of(model, ids):
    with torch.no_grad():
        return torch.log_softmax(model(torch.tensor([ids]), use_cache=False).logits[0].double(), -1)


def log_probs_of(model, ids, part=256):
    """Returns the log-prob of each token after the first. It works in parts to limit memory (2,000 rows of logits)."""
    with torch.no_grad():
        logits = model(torch.tensor([ids]), use_cache=False).logits[0, :-1]
    return torch.cat([torch.log_softmax(rows.double(), -1).gather(1, tokens[:, None])[:, 0]
                      for rows, tokens in zip(logits.split(part), torch.tensor(ids[1:]).split(part))])


class Differences:
    """Absolute differences of log-probs, by text."""
    def __init__(self, what):
        self.what, self.found = what, []

    def add(self, a, b):
        self.found.append((a - b).abs())

    def worst(self):
        return max(text.max().item() for text in self.found)

    def root_mean_square(self):
        return torch.cat(self.found).square().mean().sqrt().item()

    def report(self, args):
        every = torch.cat(self.found)
        text = max(range(len(self.found)), key=lambda i: self.found[i].max())
        print(f"  {self.what}: largest difference {every.max():.2e} (text {args.first + text}, token {self.found[text].argmax() + 1}), "
              f"root mean square {self.root_mean_square():.2e}, {(every > args.tolerance).sum()} above {args.tolerance:.0e}",
              flush=True)


def load(args, dtype):
    return AutoModelForCausalLM.from_pretrained(args.model, dtype=dtype).eval()


def scored_by_us(args, texts, *options):
    return ours(args, "score", [{"prompt_ids": ids[:1], "response_ids": ids[1:]} for ids in texts], *options)


def check_bf16(args, texts):
    scored = scored_by_us(args, texts, "--device", "cpu-bf16")
    exact, narrow = load(args, torch.float32), load(args, torch.bfloat16)
    here, there = Differences("ours in bf16 - float32"), Differences("transformers in bf16 - float32")
    for ids, row in zip(texts, scored):
        truth = log_probs_of(exact, ids)
        here.add(torch.tensor(row["log_probs"], dtype=torch.float64), truth)
        there.add(log_probs_of(narrow, ids), truth)
    for differences in (here, there):
        differences.report(args)
    return here.root_mean_square() <= there.root_mean_square()


def check_log_probs(args, texts):
    scored = scored_by_us(args, texts)
    model = load(args, torch.float32)  # not earlier: the memory of one program at a time
    exact = load(args, torch.float64) if args.double else None
    start = time.time()
    parity, our_error, their_error = (Differences(what) for what in
                                      ("ours - transformers", "ours - float64", "transformers - float64"))
    for ids, row in zip(texts, scored):
        mine, theirs = torch.tensor(row["log_probs"], dtype=torch.float64), log_probs_of(model, ids)
        parity.add(mine, theirs)
        if exact:
            truth = log_probs_of(exact, ids)
            our_error.add(mine, truth)
            their_error.add(theirs, truth)
    print(f"  transformers: {time.time() - start:.0f} s", flush=True)
    print(f"log-probs of {len(texts)} texts, {sum(map(len, texts))} tokens, longest {max(map(len, texts))}", flush=True)
    for differences in (parity, our_error, their_error) if exact else (parity,):
        differences.report(args)
    return parity.worst() <= args.tolerance


def generated(args, model, prompts):
    """Generates in batches with left padding. The end of sequence is ignored, so all responses have --new-tokens tokens."""
    model.generation_config.eos_token_id = None
    start, found = time.time(), []
    for first in range(0, len(prompts), 16):
        part = prompts[first:first + 16]
        longest = max(map(len, part))
        ids = torch.tensor([[0] * (longest - len(p)) + p for p in part])
        mask = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in part])
        with torch.no_grad():
            out = model.generate(ids, attention_mask=mask, max_new_tokens=args.new_tokens, do_sample=False, pad_token_id=0)
        found += out[:, longest:].tolist()
    seconds = time.time() - start
    print(f"  transformers generate: {seconds:.0f} s, {len(prompts) * args.new_tokens / seconds:.0f} tokens/s", flush=True)
    return found


def forced(model, prompts, responses):
    """Returns the most likely token after each prefix of our sequences."""
    found = []
    for prompt, response in zip(prompts, responses):
        likeliest = log_softmax_of(model, prompt + response).argmax(-1)
        found.append(likeliest[len(prompt) - 1:-1].tolist())
    return found


def check_generation(args, texts):
    prompts = [ids[:24 + 7 * (i % 9)][:len(ids)] for i, ids in enumerate(texts)][:args.prompts]
    rows = ours(args, "generate", [{"prompt_ids": ids} for ids in prompts], "--temperature", "0", "--ignore-end",
                "--max-tokens", str(args.new_tokens))
    mine = [row["response_ids"] for row in rows]
    model = load(args, torch.float32)
    theirs = forced(model, prompts, mine) if args.forced else generated(args, model, prompts)
    wrong = 0
    for i, (a, b) in enumerate(zip(mine, theirs)):
        if a != b:
            at = next(k for k in range(len(a)) if a[k] != b[k])
            top = log_softmax_of(model, prompts[i] + a[:at])[-1].topk(2)
            print(f"  prompt {i} differs at token {at}: ours {a[at]}, theirs {b[at]}; the two likeliest are "
                  f"{(top.values[0] - top.values[1]).item():.1e} apart")
            wrong += 1
    print(f"greedy generation, {len(prompts)} prompts x {args.new_tokens} tokens"
          f"{' (forced)' if args.forced else ''}: {wrong} different", flush=True)
    return wrong == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--texts", type=int, default=64)
    parser.add_argument("--first", type=int, default=0, help="index of the first text, to check in parts")
    parser.add_argument("--max-tokens", type=int, default=2000)
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--double", action="store_true", help="compare both also with transformers in float64")
    parser.add_argument("--prompts", type=int, default=32, help="number of prompts; 0 for no generation")
    parser.add_argument("--new-tokens", type=int, default=200)
    parser.add_argument("--threads", type=int, default=0, help="threads of both programs; 0 for all cores")
    parser.add_argument("--forced", action="store_true")
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--only-generation", action="store_true")
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    texts = rows(args, Tokenizer.from_file(os.path.join(args.model, "tokenizer.json")))
    if args.bf16:
        sys.exit(not check_bf16(args, texts))
    good = args.only_generation or check_log_probs(args, texts)
    if args.prompts:
        good = check_generation(args, texts) and good
    sys.exit(not good)


if __name__ == "__main__":
    main()
