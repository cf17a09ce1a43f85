"""Compares rows after the same number of generated tokens, since a step of one may have five times those of another."""
from ..error import Error
from ..estimates import mean_interval
from .report import aligned, interval_text
from .results import ACCURACY

_METRICS = {ACCURACY: "accuracy", "c_global_run": "C_global", "entropy_mean": "entropy"}


def _step_after(run, tokens):
    """Returns the last step at whose end the run had generated no more than this number of tokens."""
    if "response_tokens" not in run.curves:
        raise Error(f"{run.directory}: the tokens of each step are not known; --tokens needs the directory of the run, as a "
                    "results file holds its end only")
    last, total = 0, 0
    for step, count in sorted(run.curves["response_tokens"].items()):
        total += count
        if total > tokens:
            break
        last = step
    return last


def _latest(run, metric, step):
    """Returns the newest value of a metric at a step, or None."""
    known = [at for at in run.curves.get(metric, {}) if at <= step]
    return run.curves[metric][max(known)] if known else None


def _cells(result, tokens):
    steps = [_step_after(run, tokens) for run in result.runs.values()]
    cells = [result.row.name, str(len(steps)), f"{min(steps)} to {max(steps)}"]
    for metric in _METRICS:
        values = [_latest(run, metric, step) for run, step in zip(result.runs.values(), steps)]
        number = "{:.0f}" if metric == "c_global_run" else "{:.3f}"
        cells.append("-" if None in values else interval_text(mean_interval(values), number))
    return cells


def tokens_text(study, tokens):
    """Shows accuracy, C_global of the run so far and entropy of each row after this number of generated tokens."""
    lines = [["row", "seeds", "steps", *_METRICS.values()]] + [_cells(result, tokens) for result in study.with_runs()]
    return f"After {tokens} generated tokens\n{aligned(lines)}\n"
