#!/usr/bin/env python3
"""Draws which model fits which GPUs, as lie_cluster plan calculates it, into docs/reference/gpu-sizes.md:

    plan_tables.py BIN            writes the tables
    plan_tables.py BIN --check    fails if the page has others (a test)

Each GPU has a process that is learner and actor, except in ZeRO 3, where half of the GPUs learn and half generate. MODES,
LENGTHS and CARDS are all that a new row, length or card needs.
"""
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/gpu-sizes.md"
CONFIG = "configs/paper/qwen3-1.7b-base-gspo-lie.yaml"
GIB = 2**30
MODELS = ("0.6B", "1.7B", "4B", "8B", "14B", "32B")
GPUS = (1, 2, 4, 8, 16, 32)
LENGTHS = {"8k": 8192, "32k": 32768}  # tokens of a response
CARDS = {"24 GB": 22, "80 GB": 79}    # GiB that are free before a run
MODES = {"ZeRO 1": ["update.zero_stage=1"], "ZeRO 2": ["update.zero_stage=2"],
         "ZeRO 2, bf16 moments": ["update.zero_stage=2", "optimizer.moments=bfloat16"], "LoRA": ["model.lora.rank=32"],
         "LoRA, NF4 base": ["model.lora.rank=32", "model.lora.quantize_base=nf4"]}
APART = "ZeRO 3"
ROWS = (*MODES, APART)
SLOTS = 16


def memory_of_roles(program, settings, ranks):
    """Returns the bytes of learner and actor by part."""
    command = [program, "plan", CONFIG, "--json", "--ranks", str(ranks), "--ranks-per-host", str(ranks)]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, text=True, capture_output=True, check=True, cwd=ROOT)
    memory = json.loads(done.stdout)["ranks"][0]["memory"]
    return memory["learner"]["device_bytes"], memory["learner"]["bytes"], memory["actor"]["bytes"]


def settings_of(model, shards, tokens):
    return [f"model.path=tests/model/configs/qwen3-{model.lower()}", f"update.gradient_shards={shards}",
            f"rollout.max_response_tokens={tokens}", f"evaluation.max_response_tokens={tokens}",
            f"rollout.slots={SLOTS}", "rollout.cache_mebibytes=10000000"]


def apart(learners):
    return [f"roles.learners={learners}", f"roles.actors={learners}", "roles.reward_workers=1", "roles.placement=separate"]


def plan(program, model, mode, gpus, tokens):
    """Returns GiB on the GPU of a learner, GiB on that of an actor without the KV cache, and GiB of the cache for a response
    at its longest; nothing if there are too few GPUs."""
    if mode == APART:
        learners = gpus // 2
        if learners < 2:
            return None
        settings = settings_of(model, learners, tokens) + apart(learners) + ["update.zero_stage=3"]
        learner_bytes, _, actor = memory_of_roles(program, settings, 2 * learners + 1)
        cache = actor.pop("KV cache")
        return learner_bytes / GIB + 1, sum(actor.values()) / GIB + 1, cache / GIB / SLOTS
    settings = settings_of(model, gpus, tokens) + MODES[mode]
    _, alone, _ = memory_of_roles(program, settings + apart(gpus), 2 * gpus + 1)
    device_bytes, learner, actor = memory_of_roles(program, settings + ["roles.placement=colocated"], gpus)
    cache = actor.pop("KV cache")
    in_turn = alone["micro-batch"] - learner["micro-batch"]  # activations, or the cache
    used = (device_bytes + sum(actor.values())) / GIB + 1
    return used + in_turn / GIB, used, cache / GIB / SLOTS


def table(rows, cell):
    lines = ["| model | trained | " + " | ".join(f"{gpus} GPU{'s' if gpus > 1 else ''}" for gpus in GPUS) + " |",
             "|---|---|" + "---|" * len(GPUS)]
    for (model, mode), cells in rows.items():
        lines.append(f"| Qwen3-{model} | {mode} | " + " | ".join(cell(*c) if c else "–" for c in cells) + " |")
    return "\n".join(lines)


def responses(gib):
    def cell(learner, actor, response):
        count = int((gib - actor) / response) if max(learner, actor) <= gib else 0
        return str(count) if count > 0 else "–"
    return cell


def tables(program):
    cases = [(m, mode, g, tokens) for tokens in LENGTHS.values() for m in MODELS for mode in ROWS for g in GPUS]
    with ThreadPoolExecutor(2) as pool:
        results = dict(zip(cases, pool.map(lambda case: plan(program, *case), cases)))
    text = []
    for name, tokens in LENGTHS.items():
        rows = {(m, mode): [results[m, mode, g, tokens] for g in GPUS] for m in MODELS for mode in ROWS}
        text.append(f"## Responses of {name} tokens\n\nGiB on each GPU, without the KV cache:\n\n"
                    + table(rows, lambda learner, actor, _: f"{max(learner, actor):.0f}"))
        for card, gib in CARDS.items():
            text.append(f"Responses at their longest that the cache of a GPU of {card} then holds:\n\n"
                        + table(rows, responses(gib)))
    return "\n\n".join(text) + "\n"


def main():
    program = Path(sys.argv[1]).resolve() / "lie_cluster"
    page = PAGE.read_text(encoding="utf-8")
    drawn = re.sub(r"(<!-- tables of scripts/plan_tables.py -->\n).*?(\n<!-- end of tables -->)",
                   lambda match: match[1] + tables(program) + match[2], page, flags=re.S)
    if "--check" in sys.argv[2:]:
        if drawn != page:
            print(f"{PAGE.relative_to(ROOT)} is not what lie_cluster plan says: python3 scripts/plan_tables.py BIN draws it")
            return 1
        return 0
    PAGE.write_text(drawn, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
