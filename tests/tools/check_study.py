"""Computes the table of a study of two seeds from its metrics and compares it with study.json.

    check_study.py STUDY_DIRECTORY
"""

import json
import math
import sys
from pathlib import Path

study = Path(sys.argv[1])
table = {row["name"]: row for row in json.loads((study / "study.json").read_text())["rows"]}


def last(row, seed, metric):
    lines = (study / row / f"seed-{seed}" / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line)[metric] for line in lines if metric in json.loads(line)][-1]


def interval(a, b):
    """Returns the mean of two values with Student's 95 % interval.

    There is one degree of freedom, and s / sqrt(2) = |a - b| / 2.
    """
    half = 12.706204736174698 * abs(a - b) / 2
    return {"mean": (a + b) / 2, "low": (a + b) / 2 - half, "high": (a + b) / 2 + half}


def bounded(estimate, high):
    """Returns the estimate with its interval clamped to [0, high]."""
    return estimate | {"low": max(estimate["low"], 0.0), "high": min(estimate["high"], high)}


def check(what, got, expected):
    for key, value in expected.items():
        assert math.isclose(got[key], value, rel_tol=1e-12, abs_tol=1e-12), (what, key, got[key], value)


assert list(table) == ["gspo", "gspo-lie"], list(table)
accuracy = {row: [last(row, seed, "eval_accuracy") for seed in (7, 8)] for row in table}
for row in table:
    assert table[row]["seeds"] == [7, 8]
    assert table[row]["eval_accuracy_by_seed"] == accuracy[row]
    check(row, table[row]["eval_accuracy"], bounded(interval(*accuracy[row]), 1))
    for metric, high in (("eval_response_length_mean", math.inf), ("eval_c_context_mean", math.inf), ("eval_truncation_rate", 1)):
        check(row, table[row][metric], bounded(interval(*(last(row, seed, metric) for seed in (7, 8))), high))
differences = [lie - plain for lie, plain in zip(accuracy["gspo-lie"], accuracy["gspo"])]
assert differences != [0, 0], "the runs do not differ: the pairing is not tested"
check("difference", table["gspo-lie"]["difference"], interval(*differences))
assert table["gspo-lie"]["difference"]["pairs"] == 2
assert table["gspo-lie"]["difference"]["above"] == sum(d > 0 for d in differences)
assert "difference" not in table["gspo"]
