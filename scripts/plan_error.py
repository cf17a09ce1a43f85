"""The table of scripts/plan_error.sh: measured and planned, by layout. plan_error.py WORK LAYOUT..."""

import json
import sys
from pathlib import Path


def planned(path, layout):
    splits = json.loads(path.read_text())["ranks"][0]["splits"]
    mark = "is_configured" if any(key in layout for key in ("learners", "actors", "reward")) else "is_automatic"
    return next(split for split in splits if split[mark])


def measured(path, skipped):
    """Means over the steps behind those in which a run fills; step time includes what no phase counts."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows = [row for row in rows if row["step"] >= skipped]
    seconds = (rows[-1]["wall_time"] - rows[0]["wall_time"]) / (len(rows) - 1)
    names = [name for name in rows[-1] if name.startswith("idle_share_")] + ["staleness_mean", "update_seconds"]
    return {"step_seconds": seconds} | {name: sum(row[name] for row in rows[1:]) / (len(rows) - 1) for name in names}


def main():
    work = Path(sys.argv[1])
    print("| ranks | step, s: measured | planned | error | update, s | idle: actor | learner | staleness |")
    print("|---|---|---|---|---|---|---|---|")
    for layout in sys.argv[2:]:
        name = layout.replace(":", "-").replace("=", "-")
        skipped = 1 + int(layout.partition("max_staleness=")[2][:1] or 0)
        real, plan = measured(work / name / "metrics.jsonl", skipped), planned(work / f"{name}.json", layout)
        error = plan["step_seconds"] / real["step_seconds"] - 1
        both = [f"{real['update_seconds']:.2f}, {plan['update_seconds']:.2f}"]
        both += [f"{real[f'idle_share_{role}']:.0%}, {plan[f'idle_share_{role}']:.0%}" for role in ("actor", "learner")]
        both.append(f"{real['staleness_mean']:.2f}, {plan['staleness_mean']:.2f}")
        print(f"| {layout.replace(':', ', ').replace('=', ' ')} | {real['step_seconds']:.2f} | {plan['step_seconds']:.2f} "
              f"| {error:+.0%} | {' | '.join(both)} |")


if __name__ == "__main__":
    main()
