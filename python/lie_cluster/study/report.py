"""A study as text, and as JSON with all intervals."""
import math

from .results import ACCURACY

# Metrics that are columns, and those that only the JSON has.
_COLUMNS = {"eval_response_length_mean": "length", "eval_c_context_mean": "C_context", "eval_r_context_mean": "R_context",
            "eval_truncation_rate": "truncated", "incorrect_beyond_correct_share": "incorrect and longest"}
_FURTHER = ("step_seconds", "generate_seconds", "update_seconds", "idle_share_actor", "idle_share_learner", "staleness_mean",
            "mixed_version_share", "effective_sample_share")
SAVED = (*_COLUMNS, *_FURTHER, "c_global_run", "entropy_mean")  # in a results file, beside the metrics of evaluations
HEADS = ["row", "paper", "seeds", "accuracy", "least to most", "difference", "pairs above", "p (Holm)", *_COLUMNS.values()]


def interval_text(estimate, number="{:.3f}"):
    """Shows a value with its interval, which a single value does not have."""
    value, low, high = map(number.format, estimate)
    return value if estimate.low == estimate.high else f"{value} [{low}, {high}]"


def _short_number(value):
    """Shows three or four digits."""
    size = abs(value)
    if not math.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    if size < 1e-3 or size >= 1e6:
        return f"{value:.2e}"
    return f"{value:.{0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 10 else 3}f}"


def row_cells(study, result):
    """Returns a row's texts under HEADS; "-" where it has none."""
    accuracies = result.accuracies().values()
    difference = study.difference(result)
    cells = [result.row.name, result.row.paper, str(len(accuracies)), interval_text(result.final_mean(ACCURACY)),
             f"{min(accuracies):.3f} to {max(accuracies):.3f}"]
    if difference:
        cells += [interval_text(difference.mean, "{:+.3f}"),
                  f"{difference.above} of {difference.pairs}, {result.row.against}",
                  "-" if difference.p is None else f"{difference.p:.2g}"]
    else:
        cells += ["-", "-", "-"]
    means = (result.final_mean(metric) for metric in _COLUMNS)
    return cells + [_short_number(found.value) if found else "-" for found in means]


def aligned(lines):
    widths = [max(map(len, column)) for column in zip(*lines)]
    widths[-1] = 0
    return "".join("".join(f"  {cell:<{width}}" for cell, width in zip(line, widths)) + "\n" for line in lines)


def study_text(study):
    """Shows every table with its rows, columns aligned, and the notes."""
    text = ""
    for title, rows in study.tables().items():
        text += f"{title}\n{aligned([HEADS] + [row_cells(study, result) for result in rows])}\n"
    return text + "".join(f"note: {note}\n" for note in study.notes) or "no run yet\n"


def _estimate_json(estimate):
    return {"mean": estimate.value, "low": estimate.low, "high": estimate.high}


def _row_json(study, result):
    accuracies = result.accuracies()
    row = {"name": result.row.name, "table": result.row.table, "paper": result.row.paper, "against": result.row.against,
           "seeds": list(accuracies), "eval_accuracy_by_seed": list(accuracies.values())}
    for metric in (ACCURACY, *_COLUMNS, *_FURTHER):
        found = result.final_mean(metric)
        if found:
            row[metric] = _estimate_json(found)
    difference = study.difference(result)
    if difference:
        row["difference"] = {**_estimate_json(difference.mean), "pairs": difference.pairs, "above": difference.above,
                             "p_holm": difference.p}
    return row


def study_json(study):
    return {"rows": [_row_json(study, result) for result in study.with_runs()], "notes": study.notes}
