"""python -m lie_cluster.study.budgets: accuracy by the number of tokens that responses may have, for each row of a study.

Reads ROW/seed-N/table.json of `lie_cluster eval`. A seed counts once; intervals are Student's over the seeds.
"""
import pathlib
from typing import NamedTuple

from ..command_line import make_parser, run, write_json
from ..error import Error
from ..estimates import mean_interval
from .report import aligned, interval_text
from .tables import load_tables


class Budgets(NamedTuple):
    """What an evaluation measured of all its responses."""

    budgets: dict  # accuracy by the tokens that a response may have
    at_limit: float  # accuracy with all tokens
    tokens: float  # mean length


def _budgets_of(total):
    by_budget = {int(budget): estimate["value"] for budget, estimate in total["budgets"].items()}
    return Budgets(dict(sorted(by_budget.items())), total["average"]["value"], total["response_length_mean"])


def load_budgets(directory):
    """Returns {row: {seed: Budgets}}. Raises Error if budgets differ."""
    tables, rows = load_tables(directory), {}
    first = _budgets_of(tables[0].lines[-1]).budgets
    for table in tables:
        found = _budgets_of(table.lines[-1])
        if found.budgets.keys() != first.keys():
            raise Error(f"{table.directory} and {tables[0].directory} differ in evaluation.budgets ({list(found.budgets)}, "
                        f"{list(first)}); evaluate one of them again")
        rows.setdefault(table.row, {})[table.seed] = found
    return rows


def budgets_text(rows, frm):
    """Shows the mean accuracy at each budget, and what the limit adds to the accuracy at budget `frm`, seed by seed."""
    budgets = list(next(iter(next(iter(rows.values())).values())).budgets)
    if frm not in budgets:
        raise Error(f"--from {frm} is none of the budgets {', '.join(map(str, budgets))}")
    lines = [["row", "seeds", *(f"@{budget}" for budget in budgets), "at the limit", f"limit over @{frm}", "each seed"]]
    for name, seeds in rows.items():
        gains = [of.at_limit - of.budgets[frm] for of in seeds.values()]
        means = [sum(of.budgets[budget] for of in seeds.values()) / len(seeds) for budget in budgets]
        lines.append([name, str(len(seeds)), *(f"{value:.3f}" for value in means),
                      interval_text(mean_interval([of.at_limit for of in seeds.values()])),
                      interval_text(mean_interval(gains), "{:+.3f}"), " ".join(f"{gain:+.3f}" for gain in gains)])
    return aligned(lines)


def main():
    parser = make_parser("study.budgets", __doc__)
    parser.add_argument("directory", type=pathlib.Path, help="holds ROW/seed-N/table.json")
    parser.add_argument("--from", dest="frm", type=int, default=100, help="budget that the limit is compared with")
    parser.add_argument("--json", type=pathlib.Path, help="write the accuracies of each evaluation")
    arguments = parser.parse_args()
    rows = load_budgets(arguments.directory)
    print(budgets_text(rows, arguments.frm), end="")
    if arguments.json:
        write_json(arguments.json, {row: {seed: of._asdict() for seed, of in seeds.items()} for row, seeds in rows.items()})
    return 0


if __name__ == "__main__":
    run("study.budgets", main)
