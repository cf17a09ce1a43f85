#!/usr/bin/env python3
"""Prints the results of replay_study.sh: means over seeds with 95 % intervals (Student's t). The effective sample share has
its range over seeds instead.

replay_study.py WORK        (needs NumPy)
"""
import json
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
from lie_cluster.estimates import mean_interval  # noqa: E402


def interval(values, digits):
    """Returns "0.51 ± 0.04", or "0.51" for a single value."""
    mean, _, high = mean_interval(values)
    return f"{mean:.{digits}f}" if len(values) < 2 else f"{mean:.{digits}f} ± {high - mean:.{digits}f}"


def shares(run):
    """Returns effective_sample_share by step."""
    rows = map(json.loads, (run / "metrics.jsonl").open())
    return {row["step"]: row["effective_sample_share"] for row in rows if "effective_sample_share" in row}


def evaluations(run):
    """Returns accuracy in percent and mean length in tokens by step."""
    tables = {int(path.parent.name): json.loads(path.read_text()) for path in run.glob("eval/*/table.json")}
    return {step: (100 * table["rows"][-1]["average"]["value"], table["rows"][-1]["response_length_mean"])
            for step, table in tables.items()}


if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
    sys.exit("usage: replay_study.py WORK        WORK: the directory of scripts/replay_study.sh")
seeds = sorted(path for path in Path(sys.argv[1]).iterdir() if (path / "replay/eval").is_dir())
if not seeds:
    sys.exit(f"{sys.argv[1]}: holds no SEED/replay/eval: run scripts/replay_study.sh, which writes them")
share = [shares(seed / "replay") for seed in seeds]
runs = {name: [evaluations(seed / name) for seed in seeds] for name in ("logged", "fresh", "replay")}
print(f"{len(seeds)} seeds")
print("| step | effective sample share | accuracy logged | fresh | replay | replay - fresh | length logged | fresh | replay |")
print("|---|---|---|---|---|---|---|---|---|")
for step in sorted(runs["fresh"][0]):
    def column(name, at):
        return [of_seed[step][at] for of_seed in runs[name]]

    gap = [a - b for a, b in zip(column("replay", 0), column("fresh", 0))]
    at_step = [of_seed[step] for of_seed in share]
    cells = [str(step), f"{statistics.fmean(at_step):.2f} ({min(at_step):.2f} to {max(at_step):.2f})"]
    cells += [interval(column(name, 0), 1) for name in runs]
    cells += [interval(gap, 1)] + [interval(column(name, 1), 0) for name in runs]
    print("| " + " | ".join(cells) + " |")
first = [next((step for step, value in sorted(of_seed.items()) if value < 0.5), None) for of_seed in share]
print("first step below 0.5, by seed:", first)
