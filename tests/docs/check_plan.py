#!/usr/bin/env python3
"""Compares docs/how-to/train-on-gpus.md with lie_cluster plan: check_plan.py BIN REPOSITORY

Each row of the memory table must be what plan says, and the configs named on the page must leave memory free.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

GIB = 2**30
CARD = 74.5  # GiB of a card of 80 GB
MODELS = {"Qwen3-1.7B": "1.7b", "Qwen3-4B": "4b", "Qwen3-8B": "8b"}
LEARNERS = (1, 2, 4, 8)


def plan(program, root, config, model, ranks, settings=()):
    """Returns what plan says of the memory of each role, as bytes by name."""
    settings = [f"model.path={root}/tests/model/configs/qwen3-{model}", *settings]
    command = [program, "plan", root / config, "--json", "--ranks", str(ranks), "--ranks-per-host", str(ranks)]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, text=True, capture_output=True, check=True)
    return {role: memory["bytes"] for role, memory in json.loads(done.stdout)["ranks"][0]["memory"].items()}


def on_the_card(bytes_by_name, without=()):
    """Returns GiB on the device: the copy for checkpoints is in host memory."""
    return sum(b for name, b in bytes_by_name.items() if name not in ("copy for checkpoints", *without)) / GIB


def row(program, root, name, model):
    config, cells = f"configs/paper/qwen3-{model}-base-gspo-lie.yaml", []
    for learners in LEARNERS:
        memory = plan(program, root, config, model, 2 * learners + 1,
                      ["update.zero_stage=1", f"update.gradient_shards={learners}", f"roles.learners={learners}",
                       "roles.reward_workers=1"])
        cells.append(f"{on_the_card(memory['learner']):.0f}")
    cells.append(f"{on_the_card(memory['actor'], ['KV cache']):.0f}")
    return f"| {name} | {' | '.join(cells)} |"


def main():
    program, root = Path(sys.argv[1]) / "lie_cluster", Path(sys.argv[2])
    page = (root / "docs/how-to/train-on-gpus.md").read_text(encoding="utf-8")
    faults = []
    for name, model in MODELS.items():
        wanted = row(program, root, name, model)
        if wanted not in page.splitlines():
            found = re.findall(rf"^\| {re.escape(name)} \|.*", page, re.M)
            faults.append(f"train-on-gpus.md: {found[0] if found else 'no row'}\n  plan says  {wanted}")
    for config, model, ranks in [("one-card/qwen3-1.7b-80gb", "1.7b", 1), ("one-node/qwen3-4b", "4b", 8)]:
        memory = plan(program, root, f"configs/{config}.yaml", model, ranks)
        gib = on_the_card(memory["learner"]) + on_the_card(memory["actor"])
        print(f"{config}: {gib:.1f} GiB on the card")
        if gib > CARD - 5:
            faults.append(f"configs/{config}: {gib:.1f} GiB leave less than 5 of {CARD}")
    print("\n".join([*faults, f"{len(MODELS)} rows, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
