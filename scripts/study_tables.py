#!/usr/bin/env python3
"""Draws the tables of docs/studies from docs/studies/results:

    study_tables.py            writes the tables into the pages
    study_tables.py --check    exit status 1 if a page has others (a test)

A page marks the place of a table by two comments, and TABLES says what the table holds. Needs NumPy.
"""
import json
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
STUDIES = ROOT / "docs" / "studies"
RESULTS = STUDIES / "results"
sys.path.insert(0, str(ROOT / "python"))
from lie_cluster.estimates import holm, mean, mean_interval, paired_p, two_way_bootstrap  # noqa: E402
from lie_cluster.study.load import load_study  # noqa: E402

RESAMPLES = 10000
TOKENS, CUT = "eval_response_length_mean", "eval_truncation_rate"


def signed_interval(estimate):
    return f"[{estimate.low:+.3f}, {estimate.high:+.3f}]"


def final_mean(result, metric, number):
    """Returns the mean at the end; empty if not every run has the metric."""
    found = result.final_mean(metric)
    return number.format(found.value) if found else ""


def least_to_most(result, metric):
    values = [f"{value:.0f}" for run in result.runs.values() if (value := run.final(metric)) is not None]
    return f"{min(values, key=int)} to {max(values, key=int)}" if values else ""


def interval(result):
    _, low, high = mean_interval(list(result.accuracies().values()))
    return f"[{low:.3f}, {high:.3f}]" if len(result.runs) > 1 else ""


# Heads of columns that describe one row, and their cells.
OF_A_ROW = {
    "runs": lambda result: str(len(result.runs)),
    "accuracy": lambda result: " ".join(f"{accuracy:.3f}" for accuracy in result.accuracies().values()),
    "mean": lambda result: f"{mean(list(result.accuracies().values())):.3f}",
    "Student of the mean": interval,
    "tokens": lambda result: final_mean(result, TOKENS, "{:.0f}"),
    "least and most tokens": lambda result: least_to_most(result, TOKENS),
    "cut at the limit": lambda result: final_mean(result, CUT, "{:.0%}").replace("%", " %"),
    "cut at 120": lambda result: final_mean(result, "eval_correct_at_120_mean", "{:.3f}"),
    "cut at 130": lambda result: final_mean(result, "eval_correct_at_130_mean", "{:.3f}"),
    "pass@4": lambda result: f"{mean([mean([share > 0 for share in run.shares]) for run in result.runs.values()]):.3f}",
    "C_context": lambda result: final_mean(result, "eval_c_context_mean", "{:.0f}"),
    "C_global": lambda result: final_mean(result, "c_global_run", "{:.0f}"),
    "entropy": lambda result: final_mean(result, "entropy_mean", "{:.3f}"),
}
OF_A_COMPARISON = ("difference", "Student", "bootstrap", "p", "above in")


class Comparison(NamedTuple):
    """The differences of final held-out accuracy of two rows, seed by seed."""

    differences: list
    shares: list  # the differences of each prompt's share of correct responses, by seed
    p: float = 1.0  # adjusted for all comparisons of the table

    def cells(self):
        if not self.differences:
            return dict.fromkeys(OF_A_COMPARISON, "")
        student, above = mean_interval(self.differences), sum(value > 0 for value in self.differences)
        cells = {"difference": f"{student.value:+.3f}", "above in": f"{above} of {len(self.differences)}"}
        if len(self.differences) > 1:
            cells |= {"Student": signed_interval(student), "bootstrap": signed_interval(two_way_bootstrap(self.shares, RESAMPLES)),
                      "p": "<0.001" if self.p < 0.001 else f"{self.p:.2g}"}
        return dict.fromkeys(OF_A_COMPARISON, "") | cells


def joined(files):
    """Returns the study of these files of RESULTS."""
    return load_study(*(RESULTS / f"{file}.json" for file in files))


def compare(study, pairs):
    """Returns the comparison of each pair of rows (row, against)."""
    found = {}
    for row, against in pairs:
        both = study.pairs_of(row, against)
        found[row, against] = Comparison([mine.accuracy() - other.accuracy() for mine, other in both],
                                         [[a - b for a, b in zip(mine.shares, other.shares)] for mine, other in both])
    tested = [pair for pair, comparison in found.items() if len(comparison.differences) > 1]
    adjusted = dict(zip(tested, holm([paired_p(found[pair].differences) for pair in tested])))
    return {pair: comparison._replace(p=adjusted.get(pair, 1.0)) for pair, comparison in found.items()}


class Rows(NamedTuple):
    """A table with a line for each row of a study."""

    files: tuple  # of RESULTS, joined
    columns: dict  # head in the page: key of OF_A_ROW or OF_A_COMPARISON, or {row: text}
    against: str = ""  # the row that all others are compared with
    rows: tuple = ()  # all, if empty
    before: tuple = ()  # lines that come from elsewhere
    after: tuple = ()

    def lines(self):
        study = joined(self.files)
        rows = self.rows or tuple(result.row.name for result in study.with_runs())
        comparisons = compare(study, [(row, self.against) for row in rows if row != self.against]) if self.against else {}
        lines = [row_of(("row", *self.columns)), "|---" * (1 + len(self.columns)) + "|", *self.before]
        for row in rows:
            comparison = comparisons.get((row, self.against), Comparison([], [])).cells()
            cells = [column.get(row, "") if isinstance(column, dict) else
                     comparison[column] if column in comparison else OF_A_ROW[column](study.find(row))
                     for column in self.columns.values()]
            lines.append(row_of((f"`{row}`", *cells)))
        return lines + list(self.after)


class Comparisons(NamedTuple):
    """A table with a line for each comparison of two rows."""

    files: tuple
    pairs: tuple  # (row, against)

    def lines(self):
        lines = [row_of(("comparison", "pairs", *OF_A_COMPARISON)), "|---" * (2 + len(OF_A_COMPARISON)) + "|"]
        for (row, against), comparison in compare(joined(self.files), self.pairs).items():
            lines.append(row_of((f"`{row}` to `{against}`", str(len(comparison.differences)), *comparison.cells().values())))
        return lines


class Candidates(NamedTuple):
    """A table with a line for each setting that could be chosen for a rival, and the choice by the rule of
    docs/studies/rivals.md."""

    files: tuple
    rivals: tuple
    seeds: tuple  # of the choice; after the first, candidates far behind are out
    margin: float = 0.10
    candidates: tuple = (("", "first"), ("-slow", "second"), ("-other", "third"))  # ending of the rows, name in the page

    def choice(self, study, rival):
        """Returns by candidate: accuracies alone and with LIE by seed, and "chosen", "out" or nothing. A rival may have no
        rows with LIE."""
        found = {}
        for ending, name in self.candidates:
            rows = (study.find(f"{rival}{ending}{lie}") for lie in ("", "-lie"))
            found[name] = [row.accuracies() if row else {} for row in rows]
        first = {name: [by_seed[self.seeds[0]] for by_seed in both if self.seeds[0] in by_seed] for name, both in found.items()}
        if any(len(values) < sum(map(bool, found[name])) or not values for name, values in first.items()):
            return {name: (*both, "") for name, both in found.items()}  # the first seed is not complete
        least = max(map(mean, first.values())) - self.margin
        left = [name for name, values in first.items() if mean(values) >= least]
        is_complete = all(len(by_seed) == len(self.seeds) for name in left for by_seed in found[name] if by_seed)
        best = max(left, key=lambda name: mean([a for by_seed in found[name] for a in by_seed.values()]))  # the first of equal ones
        return {name: (*both, "out" if name not in left else "chosen" if is_complete and name == best else "")
                for name, both in found.items()}

    def lines(self):
        study = joined(self.files)
        lines = [row_of(("rival", "candidate", "alone, by seed", "with LIE, by seed", "mean", "")), "|---" * 6 + "|"]
        for rival in self.rivals:
            for name, (alone, lie, verdict) in self.choice(study, rival).items():
                both = alone.keys() & lie.keys() if lie else alone.keys()  # seeds that are complete
                every = [by_seed[seed] for by_seed in (alone, lie) if by_seed for seed in both]
                lines.append(row_of((f"`{rival}`", name, *(" ".join(f"{a:.3f}" for a in by_seed.values()) for by_seed in (alone, lie)),
                                     f"{mean(every):.3f}" if every else "", verdict)))
        return lines


class Budgets(NamedTuple):
    """A table with a line for each row of a file that lie_cluster.study.budgets wrote."""

    file: str
    budgets: tuple  # tokens that a response may have
    frm: str  # budget that the limit is compared with
    limit: str  # tokens

    def lines(self):
        heads = [f"at {budget}" for budget in (*self.budgets, self.limit)]
        lines = [row_of(("row", *heads, f"at {self.limit}, each seed", f"gain from {self.frm}, each seed", "tokens"))]
        lines.append("|---" * (4 + len(heads)) + "|")
        for row, seeds in json.loads((RESULTS / self.file).read_text(encoding="utf-8")).items():
            at_limit = [of["at_limit"] for of in seeds.values()]
            by_budget = {budget: [of["budgets"][budget] for of in seeds.values()] for budget in self.budgets}
            lines.append(row_of((
                f"`{row}`", *(f"{mean(values):.3f}" for values in (*by_budget.values(), at_limit)),
                " ".join(f"{value:.3f}" for value in at_limit),
                " ".join(f"{limit - cut:+.3f}" for limit, cut in zip(at_limit, by_budget[self.frm])),
                f"{mean([of['tokens'] for of in seeds.values()]):.0f}")))
        return lines


def row_of(cells):
    return "| " + " | ".join(cells) + " |"


def same(*heads):
    return {head: head for head in heads}


BASELINE = {"kl-lr2": "0.01, 2e-4, –", "kl-lr4": "0.01, 4e-4, –", "kl-lr8": "0.01, 8e-4, –", "lr2": "0, 2e-4, –", "lr4": "0, 4e-4, –",
            "lr8": "0, 8e-4, –", "kl-lr4-entropy": "0.01, 4e-4, 0.01", "lr4-entropy": "0, 4e-4, 0.01"}
RIVALS = ("gspo", "luspo", "cispo", "maxrl", "grpo-clip-higher", "sapo", "pass-at-k", "kl-cov", "entropy-target", "high-entropy", "cosine")
WITH_LIE = tuple(rival for rival in RIVALS if rival != "pass-at-k")  # which is defined for accuracy alone
RIVAL_PAIRS = (*((f"{rival}-lie", rival) for rival in WITH_LIE), *((rival, "gspo") for rival in RIVALS[1:]),
               *((f"{rival}-lie", "gspo-lie") for rival in WITH_LIE[1:]))
RIVAL_ROWS = tuple(f"{rival}{kind}" for rival in RIVALS for kind in (("", "-lie", "-gated") if rival in WITH_LIE else ("",)))
RIVAL_COLUMNS = {"runs": "runs", **same("mean", "pass@4", "tokens", "C_context", "C_global", "entropy")}
# The tables by page and by the name in the page's comment.
TABLES = {
    ("controls.md", "controls"): Rows(
        ("controls",), {"accuracy, seeds 601 to 608": "accuracy", **same("mean", *OF_A_COMPARISON, "tokens")}, against="gspo-lie"),
    ("tuned-baseline.md", "baseline"): Rows(
        ("tuned-baseline-first", "tuned-baseline"),
        {"KL, learning rate, entropy": BASELINE, "accuracy, seeds 401 to 408": "accuracy", "mean": "mean", "Student": "Student of the mean",
         "tokens": "least and most tokens"}, rows=tuple(BASELINE),
        after=("| `gspo-lie` | 0.01, 4e-4, – | of [seeds 201 to 208](length-incentives.md#results) | 0.861 | ±0.012 | 92 |",)),
    ("word-problems.md", "word problems"): Rows(
        ("word-problems",),
        {"accuracy, seeds 1 to 3": "accuracy", **same("mean", "difference", "Student", "bootstrap", "p", "tokens", "cut at the limit")},
        against="gspo", rows=("gspo", "gspo-lie", "gated-lie"),
        before=("| start | 0.271 0.268 0.288 | 0.276 | | | | | 29 | 0 % |",)),
    ("injection.md", "with"): Rows(
        ("injection-with",), {"accuracy, seeds 901 to 903": "accuracy", **same("mean", "difference", "Student", "above in", "tokens")},
        against="gspo", before=("| start | | 0.587 | | | | 16 |",)),
    ("injection.md", "without"): Rows(
        ("injection-without",), {"accuracy, seeds 901 to 903": "accuracy", **same("mean", "difference", "Student", "above in", "tokens")},
        against="gspo", before=("| start | | 0.592 | | | | 16 |",)),
    ("paper-scale.md", "rows"): Rows(
        ("paper-scale",), {"accuracy, seeds 931 to 938": "accuracy", **same("mean", "cut at 130", "tokens")}),
    ("paper-scale.md", "comparisons"): Comparisons(
        ("paper-scale",), (("lie-demo", "gspo"), ("lie-quarter", "gspo"), ("lie-twelfth", "gspo"), ("lie-paper", "gspo"),
                           ("lie-quarter", "lie-demo"), ("lie-twelfth", "lie-demo"), ("lie-paper", "lie-demo"))),
    ("paper-scale.md", "find the pair"): Comparisons(
        ("rivals-find-pair", "find-pair-paper"), (("lie-paper", "gspo"), ("lie-paper", "gspo-lie"))),
    ("extrapolation.md", "budgets"): Budgets("extrapolation.json", ("60", "80", "100", "130"), frm="100", limit="220"),
    ("coverage-bonus.md", "rows"): Rows(
        ("coverage-bonus",), {"accuracy, seeds 941 to 948": "accuracy", **same("mean", "tokens", "cut at the limit", "C_context")}),
    ("coverage-bonus.md", "comparisons"): Comparisons(
        ("coverage-bonus",), tuple((size, against) for against in ("gspo", "gspo-lie") for size in ("bonus-0125", "bonus-025", "bonus-05"))),
    ("real-search.md", "rows"): Rows(
        ("real-search",),
        {"accuracy, seeds 1 to 3": "accuracy", **same("mean", "difference", "Student", "bootstrap", "p", "above in", "cut at 120", "tokens")},
        against="gspo", before=("| start | | 0.458 | | | | | | | 25 |",)),
    ("rivals.md", "candidates"): Candidates(("rivals-tuning",), RIVALS, (911, 912, 913)),
    ("rivals.md", "demo"): Rows(("rivals-demo",), RIVAL_COLUMNS, rows=RIVAL_ROWS),
    ("rivals.md", "demo comparisons"): Comparisons(("rivals-demo",), RIVAL_PAIRS),
    ("rivals.md", "find the pair"): Rows(("rivals-find-pair",), RIVAL_COLUMNS, rows=RIVAL_ROWS),
    ("rivals.md", "find the pair comparisons"): Comparisons(("rivals-find-pair",), RIVAL_PAIRS),
    **{("dose-and-response.md", dose): Rows(
        (f"dose-{dose}",),
        {"accuracy, seeds 951 to 953": "accuracy", **same("mean", "difference", "Student", "bootstrap", "above in", "tokens")}, against="gspo")
       for dose in ("0.10", "0.30", "0.55", "0.75")},
}


def drawn(page, text):
    """Returns the text of a page with its tables drawn."""
    for (of, name), table in TABLES.items():
        if of != page:
            continue
        lines = "\n".join(re.sub(" +", " ", line) for line in table.lines())
        text, count = re.subn(rf"(<!-- table \"{name}\" of scripts/study_tables.py -->\n).*?(\n<!-- end of table -->)",
                              lambda match, lines=lines: match[1] + lines + match[2], text, flags=re.S)
        if count != 1:
            raise SystemExit(f"docs/studies/{page} has {count} places for the table \"{name}\"")
    return text


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    status = 0
    for page in sorted({page for page, _ in TABLES}):
        file = STUDIES / page
        text = file.read_text(encoding="utf-8")
        after = drawn(page, text)
        if "--check" not in sys.argv:
            file.write_text(after, encoding="utf-8")
        elif after != text:
            print(f"docs/studies/{page} has other tables than docs/studies/results: python3 scripts/study_tables.py draws them")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
