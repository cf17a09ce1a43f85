"""The finished runs of each row: their means over the seeds, and the differences between matched pairs."""
import pathlib
import re
from typing import NamedTuple, Optional

from ..estimates import Estimate, holm, mean, mean_interval, paired_p
from ..metric_names import present_metric_name
from .rows import Row

ACCURACY = "eval_accuracy"
# Keys that differ from run to run and change no row's result (memory and speed as in docs/how-to/resume.md).
KEYS_OF_A_RUN = ("run.directory", "run.seed", "run.resume", "model.threads", "rollout.slots", "rollout.prefill_tokens",
                 "rollout.cache_mebibytes", "rollout.preemption", "update.activation_mebibytes")
# A run.stop_when, as learner/record/metric_condition.cpp reads it.
_GOAL = re.compile(r"\s*(?P<metric>\S+)\s+(?P<comparison>[<>]=)\s+(?P<bound>[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)\s*")
_SHARES = ("accuracy", "correct_at_", "r_context", "truncation_rate", "clip_fraction", "idle_share")
_NEVER_NEGATIVE = ("response_length", "c_context", "c_global", "entropy", "grad_norm", "tokens_per_second")


class StudyRun(NamedTuple):
    directory: pathlib.Path
    settings: dict  # config.yaml as texts by full key
    curves: dict  # metric to {step: value}; a results file has only the value at the end
    last_step: int
    # Shares of correct responses for each held-out prompt at the end. None: in the trajectories; empty: unknown.
    shares: Optional[list] = None
    origin: dict = {}  # "program": the builds that computed it, "date": the day of its end (UTC); what is known of them

    def state(self):
        planned = self.settings.get("run.steps", "")
        if not planned.isdigit():
            return f"{self.last_step} steps"
        if self.last_step >= int(planned):
            return f"finished: {planned} steps"
        if self._met_its_goal():
            return f"finished: step {self.last_step} of {planned}, {self.settings['run.stop_when']}"
        if self.last_step == 0:
            return f"at its start: no step of {planned} is complete yet"
        return f"step {self.last_step} of {planned}: in progress, or stopped and resumable"

    def accuracy(self):
        """Returns the final held-out accuracy."""
        return self.final(ACCURACY)

    def final(self, metric):
        """Returns the value at the end: the last one of an evaluation's metric, or the mean over the last tenth of the
        steps of any other metric. None if the run has no such metric."""
        values = list(self.curves.get(metric, {}).values())
        window = 1 if metric.startswith("eval_") else max(1, (len(values) + 5) // 10)
        return mean(values[-window:]) if values else None

    def _met_its_goal(self):
        """Returns whether the evaluation of the last step meets run.stop_when, which ends a run before run.steps."""
        goal = _GOAL.fullmatch(self.settings.get("run.stop_when", ""))
        value = self.curves.get(present_metric_name(goal["metric"]), {}).get(self.last_step) if goal else None
        if value is None or self.last_step == 0:
            return False
        bound = float(goal["bound"])
        return value <= bound if goal["comparison"] == "<=" else value >= bound

    def is_finished(self):
        """Returns whether the run has all its steps, or those until run.stop_when was met, and evaluated the last one."""
        ended = self.settings.get("run.steps") == str(self.last_step) or self._met_its_goal()
        return ended and self.last_step in self.curves.get(ACCURACY, {})


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
        """Returns the mean over the seeds of the value at the end. None if not every run has the metric."""
        values = [run.final(metric) for run in self.runs.values()]
        return _over_seeds(values, metric) if values and None not in values else None

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
        return self.pairs_of(result.row.name, result.row.against)

    def pairs_of(self, name, against):
        """Returns the finished runs of two rows for the seeds that both have; none if the study lacks a row."""
        mine, other = self.find(name), self.find(against)
        return [(run, other.runs[seed]) for seed, run in mine.runs.items() if seed in other.runs] if mine and other else []

    def _differences(self, result):
        return [mine.accuracy() - theirs.accuracy() for mine, theirs in self.pairs(result)]

    def difference(self, result) -> Optional[Difference]:
        """Returns None if the row is not compared with another one, or if the two share no seed."""
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
        """Returns the results with runs by table. A row of another table that a row is compared with comes before it."""
        tables = {}
        for result in self.with_runs():
            rows = tables.setdefault(result.row.table, [])
            against = self.find(result.row.against)
            rows += [one for one in (against, result) if one and one.runs and one not in rows]
        return tables
