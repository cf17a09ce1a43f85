"""Loads studies: directories that scripts/study.sh filled, and results files. Runs that cannot be compared are refused."""
import collections
import datetime
import math
import re

from ..command_line import require_distinct
from ..error import Error
from ..json_lines import read_json_lines
from ..run import read_metrics
from .results import KEYS_OF_A_RUN, RowResult, Study, StudyRun
from .results_file import load_results
from .rows import load_rows, settings_of


def _load_run(directory):
    path = directory / "metrics.jsonl"
    rows = read_metrics(path) if path.exists() else []
    curves = collections.defaultdict(dict)
    for row in rows:
        for name, value in row.items():
            # Step 0 only evaluates: its other values are not those of a training step.
            if math.isfinite(value) and (row["step"] > 0 or name.startswith("eval_")):
                curves[name][row["step"]] = value
    return StudyRun(directory, settings_of(directory / "config.yaml"), curves, max((row["step"] for row in rows), default=0),
                    origin=_origin(directory / "starts.jsonl"))


def _origin(path):
    """Returns what the record of a run's starts says of its programs and of the day of its end."""
    events = read_json_lines(path, lambda event: (event["event"], event), "a start or an end of the run") if path.exists() else []
    programs = dict.fromkeys(event["build_id"] for kind, event in events if kind == "start")
    ends = [datetime.datetime.fromtimestamp(event["time"], datetime.timezone.utc) for kind, event in events if kind == "end"]
    return {"program": ", ".join(programs), "date": f"{ends[-1]:%Y-%m-%d}"} if programs and ends else {}


def _same_value(a, b):
    """Returns whether both are the same text or number, because a run's config writes a row's 2.5e-1 as 0.25."""
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


def _require_seed(run, seed):
    """Raises Error for a copy of another seed's run, which would count twice."""
    found = run.settings.get("run.seed", str(seed))
    if not _same_value(found, str(seed)):
        raise Error(f"{run.directory}: run.seed is {found}, so it is not the run of seed {seed}; remove it, or name it seed-{found}")


def _require_settings(run, row):
    for key, value in row.settings.items():
        found = run.settings.get(key, "")
        if not _same_value(found, value):
            raise Error(f"{run.directory}: {key} is {found}, and {value} in the row {row.name}; remove the run or correct "
                        "the row")


def _require_same_elsewhere(run, row, other_row, other):
    for key, value in run.settings.items():
        found = other.settings.get(key, "")  # only one run has the key if their builds differ
        if key in KEYS_OF_A_RUN or row.sets(key) or other_row.sets(key) or not found:
            continue
        if not _same_value(found, value):
            raise Error(f"{run.directory} and {other.directory} differ in {key} ({value}, {found}), which neither row sets; "
                        "run one of them again")


def _load_result(directory, row, notes):
    begun = (re.fullmatch(r"seed-(-?\d+)", path.parent.name) for path in directory.glob("seed-*/config.yaml"))
    runs = {seed: _load_run(directory / f"seed-{seed}") for seed in sorted(int(match[1]) for match in begun if match)}
    for seed, run in runs.items():
        _require_seed(run, seed)
    notes += [f"{run.directory}: left out: {run.state()}" for run in runs.values() if not run.is_finished()]
    return RowResult(row, {seed: run for seed, run in runs.items() if run.is_finished()})


def _load_directory(directory):
    if not (directory / "rows.yaml").exists():
        raise Error(f"{directory} holds no study (rows.yaml is missing): give the directory of scripts/study.sh")
    notes = []
    return Study([_load_result(directory / row.name, row, notes) for row in load_rows(directory / "rows.yaml")], notes)


def _joined(first, second):
    results = {result.row.name: result for result in first.results}
    for more in second.results:
        mine = results.setdefault(more.row.name, RowResult(more.row, {}))
        if mine.row != more.row:
            raise Error(f"the studies differ in the row {more.row.name}, so that they cannot be joined")
        for seed in mine.runs.keys() & more.runs.keys():
            raise Error(f"{mine.runs[seed].directory} and {more.runs[seed].directory} are the same run; remove one of them")
        results[more.row.name] = RowResult(mine.row, dict(sorted({**mine.runs, **more.runs}.items())))
    return Study(list(results.values()), first.notes + second.notes)


def load_study(*places):
    """Reads and joins directories that scripts/study.sh filled (rows.yaml, and runs in <row>/seed-<n>) and results files.
    Raises Error if the runs say nothing about the rows (_require_comparable)."""
    require_distinct(places)
    study, *others = (load_results(place) if place.is_file() else _load_directory(place) for place in places)
    for other in others:
        study = _joined(study, other)
    _require_comparable(study.results)
    return study
