"""The table of scripts/plan_error.sh: measured and planned, by layout. plan_error.py WORK LAYOUT..."""

import json
import sys
from pathlib import Path


def rows_of(run):
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def processor_seconds(run):
    return sum(map(float, run.with_name(run.name + ".seconds").read_text().split()))


def measured(run, skipped):
    """Of 1,000 tokens, because lengths grow within a run; without the steps in which it fills."""
    rows = rows_of(run)
    start = run.with_name(run.name + "-start")
    more = len(rows) - len(rows_of(start))
    processor = (processor_seconds(run) - processor_seconds(start)) / sum(row["response_tokens"] for row in rows[-more:])
    wall = rows[-1]["wall_time"] - rows[skipped - 1]["wall_time"]
    rows = rows[skipped:]
    means = ["idle_share_actor", "idle_share_learner", "staleness_mean"]
    return [1000 * wall / sum(row["response_tokens"] for row in rows), 1000 * processor] + [
        sum(row[name] for row in rows) / len(rows) for name in means]


def planned(path, layout):
    mark = "is_configured" if "learners" in layout else "is_automatic"
    split = next(split for split in json.loads(path.read_text())["ranks"][0]["splits"] if split[mark])
    tokens = split["tokens_per_second"] * split["step_seconds"]
    return [1000 / split["tokens_per_second"], 1000 * split["core_seconds"] / tokens] + [
        split[name] for name in ("idle_share_actor", "idle_share_learner", "staleness_mean")]


def main():
    work = Path(sys.argv[1])
    print("| ranks | ms a 1,000 tokens: measured, planned | error | processor ms: measured, planned | error "
          "| idle: actors | learner | staleness |")
    print("|---|---|---|---|---|---|---|---|")
    for layout in sys.argv[2:]:
        name = layout.replace(":", "-").replace("=", "-")
        skipped = 1 + int(layout.partition("max_staleness=")[2] or 0)
        pairs = list(zip(measured(work / name, skipped), planned(work / f"{name}.json", layout)))
        cells = [layout.replace(":", ", ").replace("=", " ")]
        for real, plan in pairs[:2]:
            cells += [f"{1000 * real:.0f}, {1000 * plan:.0f}", f"{plan / real - 1:+.0%}"]
        cells += [f"{real:.0%}, {plan:.0%}" for real, plan in pairs[2:4]]
        cells += [f"{real:.2f}, {plan:.2f}" for real, plan in pairs[4:]]
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
