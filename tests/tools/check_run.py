#!/usr/bin/env python3
"""Opens a run with the tools of its users: check_run.py RUN_DIR

transformers loads each checkpoint and scores the responses sampled by it: the log-probs must agree with the logged
behavior log-probs to 1e-4. h5py reads the trajectories plainly, TensorBoard the event files. Needs torch, transformers,
h5py, tensorboard; run by hand, because the tests do not ask for them.
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


def largest_difference(model, samples):
    worst = 0.0
    for prompt, ids, expected in samples:
        x = torch.tensor(np.concatenate([prompt, ids]).astype(np.int64))[None]
        with torch.no_grad():
            all_log_probs = torch.log_softmax(model(x).logits[0].double(), -1)
        mine = all_log_probs[len(prompt) - 1:-1].gather(1, x[0, len(prompt):, None])[:, 0].numpy()
        worst = max(worst, float(np.abs(mine - expected).max()))
    return worst


def main(run):
    by_version = {}
    for version, *sample in samples_of(run):
        by_version.setdefault(version, []).append(sample)
    checked = 0
    for checkpoint in sorted(glob.glob(os.path.join(run, "checkpoints", "step-*"))):
        version = int(re.search(r"step-(\d+)$", checkpoint).group(1))
        if version not in by_version:
            continue
        model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
        AutoTokenizer.from_pretrained(checkpoint)
        worst = largest_difference(model, by_version[version])
        print(f"{checkpoint}: {len(by_version[version])} responses, largest log-prob difference {worst:.2e}")
        assert worst <= 1e-4
        checked += 1
    assert checked > 0, "no checkpoint whose samples are in the log"
    events = EventAccumulator(os.path.join(run, "tensorboard"))
    events.Reload()
    rows = [json.loads(line) for line in open(os.path.join(run, "metrics.jsonl"))]
    accuracy = {e.step: e.value for e in events.Scalars("accuracy")}
    expected = {r["step"]: r["accuracy"] for r in rows if "accuracy" in r}
    assert accuracy.keys() == expected.keys() and all(abs(accuracy[k] - expected[k]) < 1e-6 for k in accuracy)
    print(f"TensorBoard: {len(events.Tags()['scalars'])} curves, accuracy as in metrics.jsonl at {len(accuracy)} steps")


if __name__ == "__main__":
    main(sys.argv[1])
