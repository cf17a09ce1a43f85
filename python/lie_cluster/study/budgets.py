"""python -m lie_cluster.study.budgets: accuracy by the number of tokens that responses may have, for each row of a study.

Reads ROW/seed-N/table.json of `lie_cluster eval`. A seed counts once; intervals are Student's over the seeds.
"""
import json
import pathlib

from ..command_line import make_parser, run
from ..error import Error
from ..estimates import mean_interval
from .report import aligned, interval_text


def load_tables(directory):
    """Returns (row, seed, rows of the table) for each ROW/SEED/table.json. Raises Error if there is none."""
    paths = sorted(directory.glob("*/*/table.json"))
    if not paths:
        raise Error(f"{directory}: holds no ROW/SEED/table.json of lie_cluster eval")
    return [(*path.parts[-3:-1], json.loads(path.read_text(encoding="utf-8"))["rows"]) for path in paths]


def _accuracies(total):
    """Returns the accuracy by budget, and at the limit of the responses."""
    by_budget = {int(budget): estimate["value"] for budget, estimate in total["budgets"].items()}
    return dict(sorted(by_budget.items())), total["average"]["value"]


def load_budgets(directory):
    """Returns {row: {seed: (accuracy by budget, accuracy at the limit)}}."""
    rows = {}
    for row, seed, table in load_tables(directory):
        rows.setdefault(row, {})[seed] = _accuracies(table[-1])
    return rows


def budgets_text(rows, frm):
    """Shows the mean accuracy at each budget, and what the limit adds to the accuracy at budget `frm`, seed by seed."""
    budgets = list(next(iter(next(iter(rows.values())).values()))[0])
    if frm not in budgets:
        raise Error(f"--from {frm} is none of the budgets {', '.join(map(str, budgets))}")
    lines = [["row", "seeds", *(f"@{budget}" for budget in budgets), "at the limit", f"limit over @{frm}", "each seed"]]
    for name, seeds in rows.items():
        gains = [limit - by[frm] for by, limit in seeds.values()]
        means = [sum(by[budget] for by, _ in seeds.values()) / len(seeds) for budget in budgets]
        lines.append([name, str(len(seeds)), *(f"{value:.3f}" for value in means),
                      interval_text(mean_interval([limit for _, limit in seeds.values()])),
                      interval_text(mean_interval(gains), "{:+.3f}"), " ".join(f"{gain:+.3f}" for gain in gains)])
    return aligned(lines)


def main():
    parser = make_parser("study.budgets", __doc__)
    parser.add_argument("directory", type=pathlib.Path, help="holds ROW/seed-N/table.json")
    parser.add_argument("--from", dest="frm", type=int, default=100, help="budget that the limit is compared with")
    arguments = parser.parse_args()
    print(budgets_text(load_budgets(arguments.directory), arguments.frm), end="")
    return 0


if __name__ == "__main__":
    run("study.budgets", main)
