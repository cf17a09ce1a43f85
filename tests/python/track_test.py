"""Tests lie_cluster.track against the offline modes of the trackers, and without any tracker.

usage: track_test.py BIN WORK [unittest arguments]        (exit status 77: h5py or PyYAML is missing)
"""
import contextlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import types
import unittest

from environment import BIN, ROOT, WORK
import numpy as np
from lie_cluster import Error, Run
from lie_cluster.track import _has_ended, MetricsFile, State, has_news, send_metrics, send_texts


def example(name, steps=40):
    """Writes a synthetic run; its checkpoint gets a tokenizer that decodes its token ids."""
    directory = WORK / name
    subprocess.run([BIN / "write_example_run", directory, "1", "90", str(steps)], check=True, stdout=subprocess.DEVNULL)
    vocabulary = {chr(65 + i): i for i in range(60)}
    (directory / "checkpoints" / f"step-{steps:06}" / "tokenizer.json").write_text(json.dumps({"model": {"vocab": vocabulary}}))
    return directory


def accuracies(directory):
    rows = [json.loads(line) for line in (directory / "metrics.jsonl").read_text().splitlines()]
    return [(row["step"], row["accuracy"]) for row in rows if "accuracy" in row]


class Recorder:
    """A tracker that remembers what it received, and can fail at a step."""

    def __init__(self, fails_at=None):
        self.rows, self.tables, self.fails_at = [], {}, fails_at

    def metrics(self, step, wall_time, values):
        if step == self.fails_at:
            raise ConnectionError("the tracker is away")
        self.rows.append((step, wall_time, values))

    def texts(self, step, rows):
        assert step not in self.tables
        self.tables[step] = rows


def logged_steps(directory):
    return [json.loads(line)["step"] for line in (directory / "metrics.jsonl").read_text().splitlines()]


class Metrics(unittest.TestCase):
    def setUp(self):
        self.directory = WORK / self.id().split(".")[-1]
        self.directory.mkdir()
        self.path = self.directory / "metrics.jsonl"

    def test_a_torn_last_line_is_waited_for(self):
        metrics = MetricsFile(self.path)
        self.assertEqual(metrics.new_rows(), [])  # there is no file yet
        self.path.write_text('{"step":1,"accuracy":0.5}\n{"step":2,"accu')
        self.assertEqual([row["step"] for row in metrics.new_rows()], [1])
        self.assertEqual(metrics.new_rows(), [])
        with open(self.path, "a") as file:
            file.write('racy":0.75}\n')
        self.assertEqual(metrics.new_rows(), [{"step": 2, "accuracy": 0.75}])

    def test_a_damaged_line_is_named_by_its_number_in_the_file(self):
        metrics = MetricsFile(self.path)
        self.path.write_text('{"step":1}\n{"step":2}\n')
        metrics.new_rows()
        with open(self.path, "a") as file:
            file.write("broken\n")
        with self.assertRaisesRegex(Error, "metrics.jsonl:3: "):
            metrics.new_rows()

    def test_a_file_that_a_resumed_run_replaced_is_read_from_its_start_and_no_step_is_sent_twice(self):
        metrics, sink, state = MetricsFile(self.path), Recorder(), State(self.directory / "tracking" / "x.json")
        self.path.write_text("".join(f'{{"step":{step},"a":1}}\n' for step in (1, 2, 3)))
        send_metrics(metrics.new_rows(), sink, state)
        fresh = self.directory / "fresh"
        fresh.write_text("".join(f'{{"step":{step},"a":1}}\n' for step in (1, 2, 3, 4)))
        os.replace(fresh, self.path)
        send_metrics(metrics.new_rows(), sink, state)
        self.assertEqual([step for step, _, _ in sink.rows], [1, 2, 3, 4])

    def test_values_that_are_no_finite_numbers_are_left_out(self):
        sink, state = Recorder(), State(self.directory / "tracking" / "x.json")
        self.path.write_text('{"step":1,"wall_time":5,"a":null,"b":NaN,"c":2}\n')
        send_metrics(MetricsFile(self.path).new_rows(), sink, state)
        self.assertEqual(sink.rows, [(1, 5.0, {"c": 2})])


    def test_former_names_of_metrics_are_the_present_ones(self):
        self.path.write_text('{"step":1,"wrong_beyond_right_share":0.5}\n')
        self.assertEqual(MetricsFile(self.path).new_rows(), [{"step": 1, "incorrect_beyond_correct_share": 0.5}])

    def test_a_job_has_ended_when_its_last_start_has_without_an_error(self):
        starts = self.directory / "starts.jsonl"
        self.assertFalse(_has_ended(self.directory))
        events = [('{"event":"start","time":1}', False), ('{"event":"end","time":2,"status":75}', False),
                  ('{"event":"start","time":3}', False), ('{"event":"end","time":4,"status":0}', True)]
        text = ""
        for event, ended in events:
            text += event + "\n"
            starts.write_text(text)
            self.assertEqual(_has_ended(self.directory), ended, event)


class Repeated(unittest.TestCase):
    def test_a_tracker_that_failed_gets_the_remaining_steps_once(self):
        directory = example("failing")
        path = directory / "tracking" / "x.json"
        first, second = Recorder(fails_at=20), Recorder()
        with self.assertRaisesRegex(Error, "the tracker is away; repeat the command"):
            send_metrics(MetricsFile(directory / "metrics.jsonl").new_rows(), first, State(path))
        state = State(path)
        send_metrics(MetricsFile(directory / "metrics.jsonl").new_rows(), second, state)
        self.assertEqual([step for step, _, _ in first.rows + second.rows], logged_steps(directory))

    def test_two_processes_cannot_send_the_same_run(self):
        path = WORK / "locked" / "x.json"
        path.parent.mkdir()
        held = State(path)
        with self.assertRaisesRegex(Error, "another lie_cluster.track"):
            State(path)
        held.save()

    def test_a_run_whose_metrics_and_texts_were_sent_has_no_news(self):
        directory = example("news")
        options = types.SimpleNamespace(run=directory, samples=2, texts_every=10)
        sink, state = Recorder(), State(directory / "tracking" / "x.json")
        self.assertTrue(has_news(options, state))
        send_metrics(MetricsFile(directory / "metrics.jsonl").new_rows(), sink, state)
        self.assertTrue(has_news(options, state), "the texts are left")
        send_texts(directory, sink, state, options.texts_every, options.samples)
        self.assertFalse(has_news(options, state))
        with open(directory / "metrics.jsonl", "a") as file:
            file.write('{"step":41}\n')
        self.assertTrue(has_news(options, state))

    def test_a_damaged_state_names_its_remedy(self):
        path = WORK / "damaged" / "x.json"
        path.parent.mkdir()
        path.write_text("{")
        with self.assertRaisesRegex(Error, "remove it"):
            State(path)


class Samples(unittest.TestCase):
    def test_texts_are_those_of_the_log_for_evaluations_and_every_tenth_step(self):
        directory = example("texts")
        sink, state = Recorder(), State(directory / "tracking" / "x.json")
        send_texts(directory, sink, state, 7, 3)
        run = Run(directory)
        samples, texts = run.samples(), run.texts()
        evaluates = set(samples["step"][samples["purpose"] == 1].tolist())
        self.assertTrue(evaluates)
        self.assertEqual(set(sink.tables), evaluates | {step for step in samples["step"].tolist() if step % 7 == 0})
        for step, rows in sink.tables.items():
            for row in rows:
                purpose = ("train", "evaluate").index(row[1])
                at = [i for i in np.flatnonzero((samples["step"] == step) & (samples["purpose"] == purpose))
                      if texts["response"][i] == row[4]]
                self.assertIn(row[7], [float(samples["reward"][i]) for i in at])
        self.assertTrue(all(len(rows) == 3 * len({row[1] for row in rows}) for rows in sink.tables.values()))
        again = Recorder()
        send_texts(directory, again, state, 7, 3)
        self.assertEqual(again.tables, {})


def offline(directory, tracker, *options):
    """Starts the program as a user does, with the tracker's offline mode."""
    environment = {**os.environ, "WANDB_MODE": "offline", "WANDB_SILENT": "true", "TRACKIO_DIR": str(WORK / "trackio"),
                   "MLFLOW_TRACKING_URI": f"sqlite:///{WORK}/mlflow.db", "MPLCONFIGDIR": str(WORK)}
    if os.environ.get("LIE_INSTALLED") is None:
        environment["PYTHONPATH"] = str(ROOT / "python")
    return subprocess.Popen([sys.executable, "-m", "lie_cluster.track", directory, "--to", tracker, *options], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=WORK)


def level_db_records(log):
    """Yields the records of a LevelDB log (doc/log_format.md). A .wandb file is such a log after a header of 7 bytes, which
    count as part of the first block of 32 KiB."""
    at, record = 0, b""
    while at + 7 <= len(log):
        left = 32768 - (at + 7) % 32768
        if left < 7:
            at += left
            continue
        length, kind = int.from_bytes(log[at + 4:at + 6], "little"), log[at + 6]
        record += log[at + 7:at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # full, last; 2 is the first and 3 a middle fragment
            yield record
            record = b""


def needs(*packages):
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"{', '.join(missing)} is missing")


class Trackers(unittest.TestCase):
    def ends_well(self, process):
        output, errors = process.communicate(timeout=200)
        self.assertEqual(process.returncode, 0, errors)
        self.assertIn("up to step 40", output)

    def accuracies_in_mlflow(self, name):
        import mlflow
        client = mlflow.MlflowClient(f"sqlite:///{WORK}/mlflow.db")
        experiment = client.get_experiment_by_name("lie_cluster").experiment_id
        run, = client.search_runs([experiment], f"attributes.run_name = '{name}'")
        return sorted((m.step, m.value) for m in client.get_metric_history(run.info.run_id, "accuracy"))

    def sent_twice(self, tracker):
        directory = example(tracker)
        for _ in range(2):
            self.ends_well(offline(directory, tracker))
        return directory

    @needs("mlflow", "sqlalchemy")
    def test_mlflow_holds_every_step_once_after_two_calls(self):
        directory = self.sent_twice("mlflow")
        self.assertEqual(self.accuracies_in_mlflow("mlflow"), accuracies(directory))

    @needs("mlflow", "sqlalchemy")
    def test_follow_sends_what_a_run_adds_and_ends_with_its_last_step(self):
        directory = example("live")
        path, state = directory / "metrics.jsonl", directory / "tracking" / "mlflow.json"
        text = path.read_text()
        torn = text.index('{"step":20,') + 30
        path.write_text(text[:torn])
        process = offline(directory, "mlflow", "--follow", "--interval", "0.1")
        while process.poll() is None and not (state.exists() and json.loads(state.read_text())["step"] >= 19):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.1)
        self.assertIsNone(process.poll(), process.stderr)
        self.assertEqual(json.loads(state.read_text())["step"], 19)
        with open(path, "a") as file:
            file.write(text[torn:])
        self.ends_well(process)
        self.assertEqual(self.accuracies_in_mlflow("live"), accuracies(directory))

    @needs("trackio", "pandas")
    def test_trackio_holds_every_step_once_after_two_calls(self):
        directory = self.sent_twice("trackio")
        import sqlite3
        path = next((WORK / "trackio").glob("*.db"))
        with sqlite3.connect(path) as database:
            rows = [json.loads(row[0]) for row in database.execute("select metrics from metrics order by id")]
        found = [row["accuracy"] for row in rows if "accuracy" in row]
        self.assertEqual(found, [value for _, value in accuracies(directory)])

    @needs("wandb")
    def test_wandb_keeps_offline_runs_of_one_identifier_with_every_step_once(self):
        directory = self.sent_twice("wandb")
        from wandb.proto import wandb_internal_pb2
        steps = []
        for path in sorted((directory / "tracking" / "wandb").glob("offline-run-*/*.wandb")):
            for data in level_db_records(path.read_bytes()[7:]):
                record = wandb_internal_pb2.Record()
                record.ParseFromString(data)
                items = {item.key or ".".join(item.nested_key): item.value_json for item in record.history.item}
                if "accuracy" in items:
                    steps.append(int(items["step"]))
        self.assertEqual(steps, [step for step in logged_steps(directory) if step > 0])

    def test_a_missing_package_is_named_with_its_remedy(self):
        directory = example("missing")
        if importlib.util.find_spec("trackio"):
            self.skipTest("trackio is installed")
        ended = offline(directory, "trackio")
        self.assertIn("pip install trackio", ended.communicate()[1])
        self.assertEqual(ended.returncode, 1)


if __name__ == "__main__":
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], warnings="ignore")
