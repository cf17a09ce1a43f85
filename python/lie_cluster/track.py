"""python -m lie_cluster.track: sends metrics and sampled texts of a run to Weights & Biases, MLflow or Trackio.

The trackers take their servers, keys and offline modes from their own environment variables (WANDB_MODE=offline,
MLFLOW_TRACKING_URI, TRACKIO_DIR). RUN_DIR/tracking/TRACKER.json remembers what was sent, so that the command can be
repeated or resumed.
"""
import argparse
import contextlib
import fcntl
import importlib
import json
import math
import os
import pathlib
import sys
import time
import uuid

import numpy as np

from .command_line import make_parser, number, run, write_json
from .error import Error
from .json_lines import parse_json_lines, read_json_lines
from .metric_names import VERDICTS
from .run import METRIC_LINE, Run, metric_row

_TEXT_COLUMNS = ("step", "kind", "data_source", "prompt", "response", "gold", "extracted", "reward", "verdict")


class TrackerError(Error):
    """The tracker failed, for example because its server cannot be reached."""


@contextlib.contextmanager
def _sending():
    """Turns every error of a tracker's package into TrackerError."""
    try:
        yield
    except Error:
        raise
    except Exception as error:  # the packages have no common type
        raise TrackerError(f"the tracker failed: {type(error).__name__}: {error}; repeat the command to continue") from error


class MetricsFile:
    """The rows that a metrics.jsonl gained since the last call of new_rows()."""

    def __init__(self, path):
        self._path, self._at, self._lines, self._file = path, 0, 0, None

    def new_rows(self):
        """Returns the complete new lines. A last line without its end is returned once it is complete. A run that resumes
        replaces the file; it is then read from its start."""
        if not self._path.exists():
            return []
        with open(self._path, "rb") as file:
            status = os.fstat(file.fileno())
            if self._file != status.st_ino or status.st_size < self._at:
                self._file, self._at, self._lines = status.st_ino, 0, 0
            file.seek(self._at)
            text = file.read()
        text = text[:text.rfind(b"\n") + 1]
        rows = parse_json_lines(text.decode(errors="replace"), self._path, metric_row, METRIC_LINE, self._lines + 1)
        self._at, self._lines = self._at + len(text), self._lines + text.count(b"\n")
        return rows


class Wandb:
    """One run of Weights & Biases. Rows carry their own field "step", since the tracker's steps must not descend."""

    def __init__(self, options, id, config):
        self._wandb = _package("wandb")
        self._run = self._wandb.init(project=options.project, name=options.name, id=id, resume="allow", config=config,
                                     dir=str(options.run / "tracking"))
        self._run.define_metric("*", step_metric="step")

    def last_step(self):
        return int(self._run.summary.get("step", -1))

    def metrics(self, step, wall_time, values):
        self._run.log({**values, "step": step})

    def texts(self, step, rows):
        self._run.log({"samples": self._wandb.Table(list(_TEXT_COLUMNS), rows), "samples_step": step})

    def finish(self):
        self._run.finish()


class Mlflow:
    """One MLflow run, found again by its tag lie_cluster.id."""

    def __init__(self, options, id, config):
        self._mlflow = _package("mlflow")
        self._client = self._mlflow.MlflowClient()
        experiment = self._mlflow.set_experiment(options.project).experiment_id
        found = self._client.search_runs([experiment], f"tags.`lie_cluster.id` = '{id}'")
        made = found[0] if found else self._client.create_run(experiment, tags={"lie_cluster.id": id}, run_name=options.name)
        self._id = made.info.run_id
        if not found:
            self._client.log_dict(self._id, config, "config.json")

    def last_step(self):
        return max((metric.step for metric in self._client.get_metric_history(self._id, "step")), default=-1)

    def metrics(self, step, wall_time, values):
        time_ms = int(1000 * wall_time)
        metrics = [self._mlflow.entities.Metric(name, value, time_ms, step) for name, value in values.items()]
        metrics.append(self._mlflow.entities.Metric("step", step, time_ms, step))
        for first in range(0, len(metrics), 1000):  # the limit of a batch; "step" is last and so marks a complete row
            self._client.log_batch(self._id, metrics[first:first + 1000])

    def texts(self, step, rows):
        table = {"columns": list(_TEXT_COLUMNS), "data": rows}
        self._client.log_dict(self._id, table, f"samples/step-{step:06}.json")

    def finish(self):
        self._client.set_terminated(self._id)


class Trackio:
    """One run of a Trackio project."""

    def __init__(self, options, id, config):
        self._trackio, self._pandas = _package("trackio"), _package("pandas")
        self._run = self._trackio.init(project=options.project, name=f"{options.name}-{id}", resume="allow", config=config)

    def last_step(self):
        return -1

    def metrics(self, step, wall_time, values):
        self._trackio.log(values, step=step)

    def texts(self, step, rows):
        table = self._pandas.DataFrame(rows, columns=list(_TEXT_COLUMNS))
        self._trackio.log({"samples": self._trackio.Table(dataframe=table)}, step=step)

    def finish(self):
        self._trackio.finish()


TRACKERS = {"wandb": Wandb, "mlflow": Mlflow, "trackio": Trackio}


def _package(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Error(f"--to {name}: the package cannot be imported ({error}): pip install {name}") from error


class State:
    """What was sent to one tracker: the identifier of its run and the last steps. Locked, so that no two processes send the
    same rows."""

    def __init__(self, path):
        self._path = path
        path.parent.mkdir(exist_ok=True)
        self._lock = open(path.with_suffix(".lock"), "w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Error(f"{path}: another lie_cluster.track sends this run to the same tracker; stop it first") from error
        self.id, self.step, self.text_step = self._read()

    def _read(self):
        if not self._path.exists():
            return uuid.uuid4().hex[:12], -1, -1
        try:
            known = json.loads(self._path.read_text())
            return str(known["id"]), int(known["step"]), int(known["text_step"])
        except (ValueError, KeyError, TypeError) as error:
            raise Error(f"{self._path}: not a state of lie_cluster.track ({error}); remove it to send the run anew") from error

    def save(self):
        write_json(self._path, {"id": self.id, "step": self.step, "text_step": self.text_step})


def send_metrics(rows, sink, state):
    """Sends the rows after state.step. Values that are not finite are left out."""
    for row in rows:
        step = int(row.pop("step"))
        wall_time = float(row.pop("wall_time", 0))
        if step <= state.step:
            continue
        values = {name: value for name, value in row.items() if isinstance(value, (int, float)) and math.isfinite(value)}
        with _sending():
            sink.metrics(step, wall_time, values)
        state.step = step
        state.save()


def _text_rows(run, step, of_step, count):
    """Returns at most `count` responses of training and of evaluation: the first of each group, evenly over the groups."""
    columns = run.samples(["purpose", "sample", "reward", "verdict"])
    rows = []
    for purpose, kind in enumerate(("train", "evaluate")):
        found = of_step[(columns["purpose"][of_step] == purpose) & (columns["sample"][of_step] == 0)]
        chosen = found[np.arange(min(count, len(found))) * len(found) // max(1, min(count, len(found)))]
        texts = run.texts(chosen) if len(chosen) else None
        for i, row in enumerate(chosen):
            rows.append([step, kind, *(texts[name][i] for name in ("data_source", "prompt", "response", "gold", "extracted")),
                         float(columns["reward"][row]), VERDICTS[columns["verdict"][row]]])
    return rows


def _text_steps(columns, state, every):
    """Returns the steps after state.text_step that evaluate or are multiples of `every`."""
    evaluates = set(columns["step"][columns["purpose"] == 1].tolist())
    return [step for step in sorted(set(columns["step"].tolist()))
            if step > state.text_step and (step in evaluates or step % every == 0)]


def has_news(options, state):
    """Returns whether the run has metrics or texts that were not sent."""
    if any(int(row["step"]) > state.step for row in MetricsFile(options.run / "metrics.jsonl").new_rows()):
        return True
    return options.samples > 0 and bool(_text_steps(Run(options.run).samples(["step", "purpose"]), state,
                                                    options.texts_every))


def send_texts(directory, sink, state, every, count):
    """Sends texts of each step after state.text_step that evaluates or is a multiple of `every`."""
    if count == 0:
        return
    run = Run(directory)
    columns = run.samples(["step", "purpose"])
    for step in _text_steps(columns, state, every):
        rows = _text_rows(run, step, np.flatnonzero(columns["step"] == step), count)
        with _sending():
            sink.texts(step, rows)
        state.text_step = step
        state.save()


class Texts:
    """Sends texts until they cannot be read; the metrics do not depend on them."""

    def __init__(self, options):
        self._options, self._failed = options, False

    def send(self, sink, state):
        if self._failed:
            return
        try:
            send_texts(self._options.run, sink, state, self._options.texts_every, self._options.samples)
        except TrackerError:
            raise
        except Error as error:
            self._failed = True
            print(f"lie_cluster.track: no texts are sent: {error}", file=sys.stderr)


def _has_ended(directory):
    """Returns whether the job that was started last has ended without an error, as also run.stop_when ends it."""
    path = directory / "starts.jsonl"
    events = read_json_lines(path, dict, 'a JSON object with an "event"') if path.exists() else []
    return bool(events) and events[-1]["event"] == "end" and events[-1]["status"] == 0


def _planned_steps(config):
    steps = {**config.get("sft", {}), **config.get("run", {})}.get("steps")
    return steps if isinstance(steps, int) and steps > 0 else math.inf


def _parser():
    parser = make_parser("track", __doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("run", type=pathlib.Path, metavar="RUN_DIR", help="run directory of lie_cluster train or sft")
    parser.add_argument("--to", choices=TRACKERS, required=True, help="tracker; its package must be installed")
    parser.add_argument("--follow", action="store_true", help="send what a running job adds, until it ends")
    parser.add_argument("--project", default="lie_cluster", help="project or experiment of the tracker")
    parser.add_argument("--name", help="name of the run; default: that of its directory")
    parser.add_argument("--samples", type=number(int, 0), default=8,
                        help="responses per step of training and of evaluation whose texts are sent; 0: none")
    parser.add_argument("--texts-every", type=number(int, 1), default=10,
                        help="send texts at multiples of this step, and at evaluations")
    parser.add_argument("--interval", type=number(float, 0.1), default=10.0, help="seconds between polls with --follow")
    return parser


def main():
    options = _parser().parse_args()
    config = Run(options.run).config
    options.name = options.name or options.run.resolve().name
    state = State(options.run / "tracking" / f"{options.to}.json")
    if not options.follow and state.step >= 0 and not has_news(options, state):
        print(f"{options.run}: nothing is new since step {state.step}, which {options.to} has")
        return 0
    with _sending():
        sink = TRACKERS[options.to](options, state.id, config)
        state.step = max(state.step, sink.last_step())
    state.save()
    metrics, texts = MetricsFile(options.run / "metrics.jsonl"), Texts(options)
    try:
        with contextlib.suppress(KeyboardInterrupt) if options.follow else contextlib.nullcontext():
            while True:
                has_ended = _has_ended(options.run)  # before the rows are read, which then are all
                send_metrics(metrics.new_rows(), sink, state)
                texts.send(sink, state)
                if not options.follow or has_ended or state.step >= _planned_steps(config):
                    break
                time.sleep(options.interval)
    finally:
        with _sending():
            sink.finish()
    print(f"{options.run}: sent to {options.to} up to step {state.step}")
    return 0


if __name__ == "__main__":
    run("track", main)
