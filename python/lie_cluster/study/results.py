"""The finished runs of each row: their means over the seeds, and the differences between matched pairs."""
import collections
import math
import pathlib
import re
from typing import NamedTuple, Optional

from ..error import Error
from ..estimates import Estimate, holm, mean, mean_interval, paired_p
from ..run import read_metrics
from .rows import Row, load_rows, settings_of

ACCURACY = "eval_accuracy"
# Keys that differ from run to run and change no row's result.
_KEYS_OF_A_RUN = ("run.directory", "run.seed", "run.resume", "model.threads")
_SHARES = ("accuracy", "right_at_", "r_context", "truncation_rate", "clip_fraction", "idle_share")
_NEVER_NEGATIVE = ("response_length", "c_context", "c_global", "entropy", "grad_norm", "tokens_per_second")


class StudyRun(NamedTuple):
    directory: pathlib.Path
    settings: dict  # config.yaml, texts by full key
    curves: dict  # metric to {step: value}
    last_step: int

    def state(self):
        planned = self.settings.get("run.steps", "")
        if not planned.isdigit():
            return f"{self.last_step} steps"
        if self.last_step >= int(planned):
            return f"finished: {planned} steps"
        if self.last_step == 0:
            return f"at its start: no step of {planned} is complete yet"
        return f"step {self.last_step} of {planned}: in progress, or stopped and resumable"

    def accuracy(self):
        """Returns the final held-out accuracy."""
        return list(self.curves[ACCURACY].values())[-1]

    def is_finished(self):
        return self.last_step in self.curves.get(ACCURACY, {}) and self.settings.get("run.steps") == str(self.last_step)


def _load_run(directory):
    path = directory / "metrics.jsonl"
    rows = read_metrics(path) if path.exists() else []
    curves = collections.defaultdict(dict)
    for row in rows:
        for name, value in row.items():
            # Step 0 only evaluates: its other values are not those of a training step.
            if math.isfinite(value) and (row["step"] > 0 or name.startswith("eval_")):
                curves[name][row["step"]] = value
    return StudyRun(directory, settings_of(directory / "config.yaml"), curves, max((row["step"] for row in rows), default=0))


def _over_seeds(values, metric):
    """Returns the mean of the values with Student's interval, cut at the bounds of the metric."""
    value, low, high = mean_interval(values)
    if len(values) > 1:
        plain = metric[len("eval_"):] if metric.startswith("eval_") else metric
        is_share = metric.endswith("_share") or plain.startswith(_SHARES)
        if is_share or metric.endswith("_seconds") or plain.startswith(_NEVER_NEGATIVE):
            low = max(low, 0.0)
        high = min(high, 1.0) if is_share else high
    return Estimate(value, low, high)


class RowResult(NamedTuple):
    row: Row
    runs: dict  # the finished runs by seed, ascending

    def curves_of(self, metric):
        return [run.curves.get(metric, {}) for run in self.runs.values()]

    def accuracies(self):
        """Returns the final held-out accuracy by seed."""
        return {seed: run.accuracy() for seed, run in self.runs.items()}

    def final_mean(self, metric):
        """Returns the mean over the seeds: of an evaluation's metric at the end, of another over the last tenth of the
        steps. None if not every run has the metric."""
        curves = self.curves_of(metric)
        steps = min(map(len, curves), default=0)
        if steps == 0:
            return None
        window = 1 if metric.startswith("eval_") else max(1, (steps + 5) // 10)
        return _over_seeds([mean(list(curve.values())[-window:]) for curve in curves], metric)

    def curve(self, metric):
        """Returns the mean over the seeds at each step that all runs have."""
        curves = self.curves_of(metric)
        steps = set.intersection(*map(set, curves))
        return {step: _over_seeds([curve[step] for curve in curves], metric) for step in sorted(steps)}


class Difference(NamedTuple):
    """A row's final held-out accuracy minus that of the row it is compared with."""

    mean: Estimate  # over the seeds that both have
    pairs: int
    above: int  # pairs with a positive difference
    p: Optional[float]  # of Student's test, adjusted by Holm's method for all comparisons of the study; None: one pair


class Study(NamedTuple):
    results: list  # in the order of the rows' file, including those without a run
    notes: list  # runs that are not finished

    def find(self, name):
        return next((result for result in self.results if result.row.name == name), None)

    def with_runs(self):
        return [result for result in self.results if result.runs]

    def pairs(self, result):
        """Returns the finished runs (own, of the row it is compared with) of the seeds that both have."""
        against = self.find(result.row.against)
        return [(run, against.runs[seed]) for seed, run in result.runs.items() if seed in against.runs] if against else []

    def _differences(self, result):
        return [mine.accuracy() - theirs.accuracy() for mine, theirs in self.pairs(result)]

    def difference(self, result) -> Optional[Difference]:
        """Returns None if the row is compared with none or they share no seed."""
        values = self._differences(result)
        if not values:
            return None
        return Difference(mean_interval(values), len(values), sum(v > 0 for v in values), self._adjusted().get(result.row.name))

    def _adjusted(self):
        """Returns the adjusted p of every row that is compared in two pairs or more."""
        tested = {result.row.name: self._differences(result) for result in self.results}
        tested = {name: values for name, values in tested.items() if len(values) > 1}
        return dict(zip(tested, holm([paired_p(values) for values in tested.values()])))

    def tables(self):
        """Returns the results with runs by table; before a row of another table's, that it is compared with."""
        tables = {}
        for result in self.with_runs():
            rows = tables.setdefault(result.row.table, [])
            against = self.find(result.row.against)
            rows += [one for one in (against, result) if one and one.runs and one not in rows]
        return tables


def _same_value(a, b):
    """Whether both are the same text or the same number: a run's config has 0.25 for a row's 2.5e-1."""
    try:
        return a == b or float(a) == float(b)
    except ValueError:
        return False


def _require_comparable(results):
    """Raises Error if a run does not have its row's settings, or differs from the first run in a key that neither row
    sets."""
    first = next(((result.row, run) for result in results for run in result.runs.values()), None)
    for result in results:
        for run in result.runs.values():
            _require_settings(run, result.row)
            _require_same_elsewhere(run, result.row, *first)


def _require_settings(run, row):
    for key, value in row.settings.items():
        found = run.settings.get(key, "")
        if not _same_value(found, value):
            raise Error(f"{run.directory}: {key} is {found}, and {value} in the row {row.name}; remove the run or correct "
                        "the row")


def _require_same_elsewhere(run, row, other_row, other):
    for key, value in run.settings.items():
        found = other.settings.get(key, "")  # a key that only one of them has is another build's
        if key in _KEYS_OF_A_RUN or key in row.settings or key in other_row.settings or not found:
            continue
        if not _same_value(found, value):
            raise Error(f"{run.directory} and {other.directory} differ in {key} ({value}, {found}), which neither row sets; "
                        "run one of them again")


def _load_result(directory, row, notes):
    begun = (re.fullmatch(r"seed-(-?\d+)", path.parent.name) for path in directory.glob("seed-*/config.yaml"))
    runs = {seed: _load_run(directory / f"seed-{seed}") for seed in sorted(int(match[1]) for match in begun if match)}
    notes += [f"{run.directory}: left out: {run.state()}" for run in runs.values() if not run.is_finished()]
    return RowResult(row, {seed: run for seed, run in runs.items() if run.is_finished()})


def load_study(directory):
    """Reads a directory that scripts/study.sh filled: rows.yaml, and runs in <row>/seed-<n>. Raises Error if the runs say
    nothing about the rows (_require_comparable)."""
    if not (directory / "rows.yaml").exists():
        raise Error(f"{directory} holds no study (rows.yaml is missing): give the directory of scripts/study.sh")
    notes = []
    results = [_load_result(directory / row.name, row, notes) for row in load_rows(directory / "rows.yaml")]
    _require_comparable(results)
    return Study(results, notes)
