"""Prints the table of scripts/plan_error.sh: measured and planned step times by layout.

plan_error.py WORK LAYOUT...
"""

import json
import sys
from pathlib import Path

IDLE = ("idle_share_actor", "idle_share_learner")


def measured(run, skipped):
    """Returns milliseconds per 1,000 tokens and idle shares, without the first `skipped` steps."""
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    wall = rows[-1]["wall_time"] - rows[skipped - 1]["wall_time"]
    rows = rows[skipped:]
    tokens = sum(row["response_tokens"] for row in rows)
    return [1e6 * wall / tokens] + [sum(row[name] for row in rows) / len(rows) for name in IDLE]


def planned(path):
    forecast = json.loads(path.read_text())["ranks"][0]
    return [1e6 / forecast["tokens_per_second"]] + [forecast[name] for name in IDLE]


def main():
    work = Path(sys.argv[1])
    print("| ranks | ms per 1,000 tokens: measured, planned | error | idle: actors | learner |")
    print("|---|---|---|---|---|")
    for layout in sys.argv[2:]:
        name = layout.replace(":", "-").replace("=", "-")
        skipped = 1 + int(layout.partition("max_staleness=")[2] or 0)
        real, plan = measured(work / name, skipped), planned(work / f"{name}.json")
        cells = [layout.replace(":", ", ").replace("=", " "), f"{real[0]:.0f}, {plan[0]:.0f}",
                 f"{plan[0] / real[0] - 1:+.0%}"]
        cells += [f"{r:.0%}, {p:.0%}" for r, p in zip(real[1:], plan[1:])]
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
