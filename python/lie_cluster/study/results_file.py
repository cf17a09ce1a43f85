"""A study as one small file for the repository: what the tables need of each finished run, without its directory."""
import json

from ..error import Error
from ..metric_names import present_metric_name
from .results import KEYS_OF_A_RUN, RowResult, Study, StudyRun
from .rows import Row


def _saved_settings(run):
    """Returns the settings that another computer can compare: absolute paths are left out."""
    return {key: value for key, value in run.settings.items() if key not in KEYS_OF_A_RUN and not value.startswith("/")}


def results_json(study, metrics, shares_of):
    """Returns the finished runs as load_study() reads them from a results file: the values of `metrics` and of all
    evaluation metrics at the end, and shares_of(run), each held-out prompt's share of correct responses."""
    runs = [{"row": result.row.name, "seed": seed, **run.origin, "steps": run.last_step, "settings": _saved_settings(run),
             "final": {metric: run.final(metric) for metric in run.curves if metric in metrics or metric.startswith("eval_")},
             "shares": " ".join(f"{share:.6g}" for share in shares_of(run))}
            for result in study.with_runs() for seed, run in result.runs.items()]
    shared = dict(set.intersection(*(set(run["settings"].items()) for run in runs))) if runs else {}
    for run in runs:
        run["settings"] = {key: value for key, value in run["settings"].items() if key not in shared}
    rows = {result.row.name: result.row._asdict() for result in study.with_runs()}
    return {"rows": rows, "settings": dict(sorted(shared.items())), "runs": runs}


def load_results(path):
    """Reads a results file. Raises Error naming the file if it is not one."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        results = {name: RowResult(Row(**row), {}) for name, row in found["rows"].items()}
        for run in found["runs"]:
            results[run["row"]].runs[run["seed"]] = StudyRun(
                path / run["row"] / f"seed-{run['seed']}", {**found["settings"], **run["settings"]},
                {present_metric_name(metric): {run["steps"]: value} for metric, value in run["final"].items()}, run["steps"],
                [float(share) for share in run["shares"].split()],
                {name: run[name] for name in ("program", "date") if name in run})
    except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Error(f"{path} is no results file (python -m lie_cluster.study --results writes one): {error!r}") from error
    return Study(list(results.values()), [])
