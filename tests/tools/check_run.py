#!/usr/bin/env python3
"""Opens a run with the tools of its users: check_run.py RUN_DIR

transformers loads each checkpoint and scores the responses that were sampled with it. Its log-probs must
agree with the logged behavior log-probs to 1e-4. The output also shows the difference between float32
and float64 in transformers. h5py reads the trajectories, and TensorBoard reads the event files.
Needs torch, transformers, h5py and tensorboard. Run by hand, because the tests do not require these
packages.
"""
import glob
import json
import os
import re
import sys

import h5py
import numpy as np
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from transformers import AutoModelForCausalLM, AutoTokenizer


def samples_of(run):
    for path in sorted(glob.glob(os.path.join(run, "trajectories", "*.h5"))):
        with h5py.File(path) as f:
            s = {name: f["sample/" + name][:] for name in f["sample"]}
            prompts, ids, log_probs = f["prompt/id"][:], f["token/id"][:], f["token/behavior_log_prob"][:]
            for i in range(len(s["step"])):
                tokens = slice(s["token_offset"][i], s["token_offset"][i] + s["token_count"][i])
                prompt = slice(s["prompt_offset"][i], s["prompt_offset"][i] + s["prompt_count"][i])
                yield int(s["policy_version"][i]), prompts[prompt], ids[tokens], log_probs[tokens]


def score(model, prompt, ids):
    x = torch.tensor(np.concatenate([prompt, ids]).astype(np.int64))[None]
    with torch.no_grad():
        log_probs = torch.log_softmax(model(x).logits[0].double(), -1)
    return log_probs[len(prompt) - 1:-1].gather(1, x[0, len(prompt):, None])[:, 0].numpy()


def check(checkpoint, samples):
    single, double = (AutoModelForCausalLM.from_pretrained(checkpoint, dtype=d) for d in (torch.float32, torch.float64))
    ours, theirs = 0.0, 0.0
    for prompt, ids, expected in samples:
        scored = score(single, prompt, ids)
        ours = max(ours, np.abs(scored - expected).max())
        theirs = max(theirs, np.abs(scored - score(double, prompt, ids)).max())
    print(f"{checkpoint}: {len(samples)} responses, largest log-prob difference {ours:.2e} "
          f"(transformers from its float64: {theirs:.2e})", flush=True)
    return ours <= 1e-4


def main(run):
    by_version = {}
    for version, *sample in samples_of(run):
        by_version.setdefault(version, []).append(sample)
    agree = []
    for checkpoint in sorted(glob.glob(os.path.join(run, "checkpoints", "step-*"))):
        version = int(re.search(r"step-(\d+)$", checkpoint).group(1))
        if version in by_version:
            AutoTokenizer.from_pretrained(checkpoint)
            agree.append(check(checkpoint, by_version[version]))
    assert agree, "no checkpoint has samples in the log"
    assert all(agree), "log-probs differ by more than 1e-4"
    events = EventAccumulator(os.path.join(run, "tensorboard"))
    events.Reload()
    rows = [json.loads(line) for line in open(os.path.join(run, "metrics.jsonl"))]
    accuracy = {e.step: e.value for e in events.Scalars("reward/accuracy")}
    expected = {r["step"]: r["accuracy"] for r in rows if "accuracy" in r}
    assert accuracy.keys() == expected.keys() and all(abs(accuracy[k] - expected[k]) < 1e-6 for k in accuracy)
    print(f"TensorBoard: {len(events.Tags()['scalars'])} curves, accuracy as in metrics.jsonl at {len(accuracy)} steps")


if __name__ == "__main__":
    main(sys.argv[1])
