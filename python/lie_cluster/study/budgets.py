"""python -m lie_cluster.study.budgets: accuracy by the number of tokens that responses may have, for each row of a study.

Reads ROW/seed-N/table.json of `lie_cluster eval`. A seed counts once; intervals are Student's over the seeds.
"""
import pathlib

from ..command_line import make_parser, run
from ..error import Error
from ..estimates import mean_interval
from .report import aligned, interval_text
from .tables import load_tables


def _accuracies(total):
    """Returns the accuracy by budget, and at the limit of the responses."""
    by_budget = {int(budget): estimate["value"] for budget, estimate in total["budgets"].items()}
    return dict(sorted(by_budget.items())), total["average"]["value"]


def load_budgets(directory):
    """Returns {row: {seed: (accuracy by budget, accuracy at the limit)}}. Raises Error if budgets differ."""
    tables, rows = load_tables(directory), {}
    first, _ = _accuracies(tables[0].lines[-1])
    for table in tables:
        by_budget, at_limit = _accuracies(table.lines[-1])
        if by_budget.keys() != first.keys():
            raise Error(f"{table.directory} and {tables[0].directory} differ in evaluation.budgets ({list(by_budget)}, "
                        f"{list(first)}); evaluate one of them again")
        rows.setdefault(table.row, {})[table.seed] = by_budget, at_limit
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
