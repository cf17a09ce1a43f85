"""Tests that python/lie_cluster reads the same values as lie_analyze.

The runs are finished, resumed, killed, damaged or live.

usage: reader_test.py BIN WORK [unittest arguments]        (exit status 77: h5py or PyYAML is missing)
"""
import csv
import hashlib
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import sys
import unittest

from environment import BIN, ROOT, WORK
import numpy as np
import lie_cluster

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def train(name, *overrides, ranks=1, fault=None):
    """Trains the small model of the tests in WORK/name. Returns whether the run exited with status 0."""
    launcher = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
    settings = [f"run.directory={WORK / name}", "run.steps=4", *overrides]
    command = launcher + [BIN / "lie_cluster", "train", "tests/tools/small.yaml"]
    command += [part for setting in settings for part in ("--set", setting)]
    with open(WORK / f"{name}.log", "a") as log:
        ended = subprocess.run(command, cwd=ROOT, stdout=log, stderr=log,
                               env={**ENVIRONMENT, **({"LIE_FAULT": fault} if fault else {})})
    return ended.returncode == 0


def analyze(*arguments):
    return subprocess.run([BIN / "lie_analyze", *arguments], capture_output=True, text=True, cwd=ROOT)


def expected_digest(run):
    return analyze("--digest", run).stdout.split()[1]


def sized(values):
    """Returns the bytes after their length, as common/trajectory/digest.h describes."""
    values = np.frombuffer(values, np.uint8) if isinstance(values, bytes) else values
    return np.int64(len(values)).tobytes() + values.tobytes()


FIRST = ["sample", "policy_version", "token_count", "prompt_count", "finish_reason", "verdict", "extracted_count"]
LAST = ["reward", "advantage", "reference_length", "target_length", "distinct_ngrams", "ngrams", "largest_repeat",
        "sequence_log_ratio", "clipped", "mini_batch"]


def runs_of(versions):
    """Returns the runs of equal versions, [runs, 2] of int64: version and number of tokens."""
    first = np.flatnonzero(np.diff(versions, prepend=versions[0] - 1))
    return np.stack([versions[first], np.diff(np.append(first, len(versions)))], 1).astype(np.int64)


def digest(run):
    """Computes lie_analyze --digest (common/trajectory/digest.h) from the values of the reader."""
    samples, texts = run.samples(), run.texts()
    terms = [name for name in samples if name.startswith("reward_") and name != "reward_rank"]
    numbers = [name for name in samples if name.startswith(("command_", "c_context_", "r_context_", "correct_at_"))]
    fixed = [samples[name] for name in FIRST + terms + LAST + numbers]
    sha = hashlib.sha256(b"lie trajectories 1" + b"".join(sized(name.encode()) for name in numbers))
    group_before = None
    for i, tokens in enumerate(run.tokens(np.arange(len(samples["step"])))):
        group = [samples[name][i] for name in ("purpose", "step", "group")]
        if group != group_before:
            sha.update(b"".join(value.tobytes() for value in group + [samples["problem"][i]]))
            sha.update(b"".join(sized(texts[name][i].encode()) for name in ("prompt", "gold", "data_source")))
            sha.update(sized(tokens.prompt_ids))
        group_before = group
        sha.update(b"".join(column[i].tobytes() for column in fixed) + sized(texts["extracted"][i].encode()))
        sha.update(sized(tokens.ids) + sized(tokens.behavior_log_probs) + sized(tokens.learner_log_probs))
        if run.config["rollout"]["in_flight_weights"] != "finish":
            sha.update(sized(runs_of(tokens.policy_versions)))
    return sha.hexdigest()


def copy(name, to):
    shutil.rmtree(WORK / to, ignore_errors=True)
    return pathlib.Path(shutil.copytree(WORK / name, WORK / to))


def flip_a_bit(path):
    data = bytearray(path.read_bytes())
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    path.write_bytes(data)


def files(run):
    return sorted((run / "trajectories").glob("*.h5"))


def setUpModule():
    os.chdir(ROOT)  # runs start here; without a checkpoint, the relative model.path locates the tokenizer
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    assert train("whole", "coverage.metric_ngrams=[3]"), (WORK / "whole.log").read_text()


class Requirements(unittest.TestCase):
    def test_a_missing_package_is_named_with_the_remedy(self):
        script = "import sys; sys.modules['numpy'] = None; import lie_cluster"
        ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                               env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
        self.assertEqual(ended.returncode, 1)
        self.assertIn("ImportError: lie_cluster needs the package numpy; install the requirements: pip install numpy h5py",
                      ended.stderr)


class Reader(unittest.TestCase):
    def assert_reads_as_lie_analyze(self, directory):
        run = lie_cluster.Run(directory)
        self.assertEqual(digest(run), expected_digest(directory))
        self.assertEqual([f"{directory}: {note}" for note in run.notes], analyze("--digest", directory).stderr.splitlines())
        return run

    def test_every_value_of_several_segments_equals_the_log(self):
        run = self.assert_reads_as_lie_analyze(WORK / "whole")
        self.assertGreater(len(files(WORK / "whole")), 1)
        self.assertEqual(run.steps()["step"].tolist(), [0, 1, 2, 3, 4])
        self.assertEqual(len(run.samples()["c_context_3"]), 4 * 24 + 3 * 8)

    def test_a_killed_and_resumed_run_has_every_step_once(self):
        self.assertFalse(train("killed", fault="metrics:4"))
        torn = lie_cluster.Run(WORK / "killed").metrics()["step"].tolist()
        self.assert_reads_as_lie_analyze(WORK / "killed")
        self.assertEqual(torn, [0, 1, 2])  # the fourth line is only half written
        self.assertTrue(train("killed"), (WORK / "killed.log").read_text())
        run = self.assert_reads_as_lie_analyze(WORK / "killed")
        self.assertEqual(run.metrics()["step"].tolist(), [0, 1, 2, 3, 4])

    def test_every_token_has_its_version_where_weights_change_in_flight(self):
        assert train("in_flight", "rollout.max_staleness=2", "rollout.in_flight_weights=recompute_cache", "run.schedule=recorded")
        run = self.assert_reads_as_lie_analyze(WORK / "in_flight")
        training = np.flatnonzero(run.samples()["purpose"] == 0)
        ran = [runs_of(tokens.policy_versions).tolist() for tokens in run.tokens(training)]
        scheduled = [json.loads(line)["token_versions"] for line in (WORK / "in_flight/schedule.jsonl").read_text().splitlines()]
        self.assertEqual(ran, [runs for step in scheduled for group in step for runs in group])
        tokens = lie_cluster.Run(WORK / "whole").tokens(0)
        self.assertEqual(tokens.policy_versions.tolist(), [0] * len(tokens.ids))

    def test_learners_are_merged_up_to_the_last_step_that_all_have_logged(self):
        two = ["roles.learners=2", "checkpoint.every=0"]
        self.assertTrue(train("two", *two, ranks=4), (WORK / "two.log").read_text())
        self.assertTrue(train("longer", "run.steps=6", *two, ranks=4), (WORK / "longer.log").read_text())
        self.assert_reads_as_lie_analyze(WORK / "two")
        ahead = copy("longer", "ahead")  # as if learner 1 was killed two steps before learner 0
        shutil.copy(files(WORK / "two")[1], files(ahead)[1])
        run = self.assert_reads_as_lie_analyze(ahead)
        self.assertEqual(run.steps()["step"].tolist(), [0, 1, 2, 3, 4])
        self.assertEqual(len(run.notes), 1)
        files(ahead)[1].unlink()  # only learner 0 logs step 0, the evaluation of the start policy
        run = self.assert_reads_as_lie_analyze(ahead)
        self.assertEqual(run.steps()["step"].tolist(), [0])
        self.assertEqual(len(run.notes), 2)

    def test_a_missing_file_is_noted_and_the_others_are_read(self):
        self.assertTrue(train("longest", "run.steps=6"))
        run = copy("whole", "missing")
        files(run)[0].unlink()
        self.assertEqual(len(self.assert_reads_as_lie_analyze(run).notes), 1)
        (run / "trajectories/index.jsonl").write_text('{"file":\n')
        self.assertIn("index.jsonl", lie_cluster.Run(run).notes[0])
        gap = copy("longest", "gap")
        files(gap)[1].unlink()
        (gap / "trajectories/index.jsonl").unlink()
        self.assertEqual(self.assert_reads_as_lie_analyze(gap).notes, ["no file holds steps 3 to 4"])

    def test_a_damaged_file_gives_its_original_values_or_an_error_that_names_it(self):
        self.assertFalse(train("unclosed", fault="metrics:4"))
        random.seed(1)
        for name in ("whole", "unclosed"):
            expected, noticed = expected_digest(WORK / name), 0
            for _ in range(20):
                path = random.choice(files(copy(name, "damaged")))
                flip_a_bit(path)
                try:
                    self.assertEqual(digest(lie_cluster.Run(WORK / "damaged")), expected)
                except lie_cluster.Error as error:
                    noticed += 1
                    self.assertRegex(str(error), f"^{path}: .*; the file is damaged: restore it, or move it")
            self.assertGreater(noticed, 0, name)

    def test_a_step_in_two_files_is_refused_with_both_names(self):
        run = copy("whole", "twice")
        again = run / "trajectories/learner-000-segment-000009.h5"
        shutil.copy(files(run)[0], again)
        with self.assertRaises(lie_cluster.Error) as caught:
            lie_cluster.Run(run)
        for message in (str(caught.exception), analyze("--digest", run).stderr):
            for part in (files(run)[0], again, "both hold step", "remove the one that does not belong to this run"):
                self.assertIn(str(part), message)

    def test_a_running_job_is_read_up_to_its_last_complete_step(self):
        (WORK / "live").mkdir()
        writer = subprocess.Popen([BIN / "write_trajectories", WORK / "live/trajectories", "1", "5", "wait"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        (WORK / "live/trajectories").mkdir(exist_ok=True)
        for step in range(1, 6):
            self.assertEqual(writer.stdout.readline(), f"step {step}\n")
            run = lie_cluster.Run(WORK / "live")
            self.assertEqual(run.steps()["step"].tolist(), list(range(1, step + 1)))
            samples = run.samples(["sample", "reward_first", "command_number", "token_count"])
            self.assertEqual(len(samples["sample"]), 16 * step + 16 * (step // 3))
            self.assertTrue((samples["command_number"] == 0.5 * samples["sample"]).all())
            ids = run.tokens(-1).ids
            self.assertEqual(len(ids), samples["token_count"][-1])
            writer.stdin.write("\n")
            writer.stdin.flush()
        self.assertEqual(writer.wait(), 0)
        closed = lie_cluster.Run(WORK / "live")  # `run` opened the file while it was being written
        self.assertEqual(len(closed.samples()["step"]), len(run.samples()["step"]))
        writer.stdin.close(), writer.stdout.close()

    def test_metrics_equal_the_curves_of_lie_analyze(self):
        table = WORK / "curves.csv"
        analyze("--no-html", "--csv", table, WORK / "whole")
        metrics = lie_cluster.Run(WORK / "whole").metrics()
        with open(table) as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(row["step"]) for row in rows], metrics["step"].tolist())
        names = [name for name in rows[0] if name not in ("run", "directory", "step")]
        self.assertGreater(len(names), 90)
        for i, row in enumerate(rows):
            for name in names:
                if i > 0 or name.startswith("eval_"):  # lie_analyze shows only the evaluation of step 0
                    self.assertTrue(metrics[name][i] == float(row[name] or "nan") or
                                    not row[name] and math.isnan(metrics[name][i]), (i, name))

    def test_texts_equal_the_output_of_the_tokenize_command(self):
        run = lie_cluster.Run(WORK / "whole")
        lines = "".join(json.dumps(tokens.ids.tolist()) + "\n" for tokens in run.tokens(range(120)))
        lines += json.dumps(list(range(256))) + "\n"  # every byte value, mostly invalid UTF-8
        decoded = subprocess.run([BIN / "lie_cluster", "tokenize", "--decode", ROOT / "assets/count_pairs/model"],
                                 input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertEqual(run.texts()["response"], [json.loads(line) for line in decoded[:-1]])
        decoder = lie_cluster.run.Decoder(ROOT / "assets/count_pairs/model/tokenizer.json", "")
        self.assertEqual(decoder(np.arange(256)), json.loads(decoded[-1]))

    def test_tokens_in_other_files_of_the_tokenizer_are_decoded(self):
        model = WORK / "tokens_beside"
        model.mkdir()
        shutil.copy(ROOT / "assets/count_pairs/model/tokenizer.json", model)
        config = {"added_tokens_decoder": {"299": {"content": "<think>"}, "300": {"content": "<|end|>", "special": True}},
                  "additional_special_tokens": [{"content": "<|tool|>"}]}
        (model / "tokenizer_config.json").write_text(json.dumps(config))
        added = {"<think>": 299, "<|tool|>": 301, "plain": 302}
        (model / "added_tokens.json").write_text(json.dumps(added))
        (model / "config.json").write_text('{"vocab_size": 320}')
        ids = np.array([65, 256, 299, 300, 301, 302, 319])
        for special_tokens, options in ((True, []), (False, ["--skip-special-tokens"])):
            text = subprocess.run([BIN / "lie_cluster", "tokenize", "--decode", model, *options], input=json.dumps(ids.tolist()),
                                  capture_output=True, text=True, check=True).stdout
            self.assertEqual(lie_cluster.run.Decoder(model / "tokenizer.json", "", special_tokens)(ids), json.loads(text))
        with self.assertRaisesRegex(lie_cluster.Error, "tokens_beside: none of its files names the token id 320: restore"):
            lie_cluster.run.Decoder(model / "tokenizer.json", "")(np.array([65, 320]))
        (model / "config.json").unlink()
        with self.assertRaisesRegex(lie_cluster.Error, "none of its files names the token id 319"):
            lie_cluster.run.Decoder(model / "tokenizer.json", "")(ids)
        (model / "tokenizer_config.json").write_text('{"eos_token": "<think>"}')
        (model / "special_tokens_map.json").write_text('{"eos_token": "plain"}')
        self.assertEqual(lie_cluster.run.Decoder(model / "tokenizer.json", "", False)(np.array([299, 302])), "<think>")
        (model / "tokenizer_config.json").write_text(json.dumps(config))
        (model / "added_tokens.json").write_text('{"<other>": 299}')
        with self.assertRaisesRegex(lie_cluster.Error, 'added_tokens.json: token "<other>" has the id 299, but another file'):
            lie_cluster.run.Decoder(model / "tokenizer.json", "")

    def test_the_tokenizer_of_another_run_is_refused(self):
        other = WORK / "other_tokenizer"
        other.mkdir()
        (other / "tokenizer.json").write_text("{}")
        with self.assertRaisesRegex(lie_cluster.Error, f"{other}/tokenizer.json: not the tokenizer of this run"):
            lie_cluster.Run(WORK / "whole").texts([0], tokenizer=other)

    def test_repr_summarizes_a_run(self):
        run = lie_cluster.Run(WORK / "whole")
        self.assertRegex(repr(run), rf'^Run\("{WORK}/whole"\): 4 steps, 120 samples, last metrics: step 4, accuracy \S+, '
                                    r"eval_accuracy \S+, response_length_mean \S+$")
        missing = copy("whole", "no_metrics")
        (missing / "metrics.jsonl").unlink()
        files(missing)[0].unlink()
        self.assertRegex(repr(lie_cluster.Run(missing)), r"last metrics: none, 1 notes$")

    def test_the_last_evaluation_has_the_accuracy_of_the_metrics(self):
        run = lie_cluster.Run(WORK / "whole")
        rows = run.last_evaluation()
        self.assertEqual(set(run.samples()["purpose"][rows].tolist()), {1})
        accuracy = run.samples()["reward_accuracy"][rows].mean()
        expected = run.metrics()["eval_accuracy"]
        self.assertAlmostEqual(accuracy, expected[~np.isnan(expected)][-1], places=6)

    def test_a_run_without_evaluation_has_no_last_one(self):
        self.assertTrue(train("unevaluated", "run.steps=1", "evaluation.every=0"), (WORK / "unevaluated.log").read_text())
        with self.assertRaisesRegex(lie_cluster.Error, f"{WORK}/unevaluated: .* hold no evaluation"):
            lie_cluster.Run(WORK / "unevaluated").last_evaluation()

    def test_samples_can_include_their_texts(self):
        run = lie_cluster.Run(WORK / "whole")
        samples, texts = run.samples(["reward"], texts=True), run.texts()
        self.assertEqual(list(samples), ["reward", *texts])
        for name in texts:
            self.assertEqual(samples[name].tolist(), texts[name])

    def test_texts_are_decoded_where_checkpoints_are_damaged(self):
        run = copy("whole", "damaged_checkpoints")
        last = sorted((run / "checkpoints").glob("step-*"))[-1]
        for name in (".damaged", ".damaged-2"):
            (last.parent / (last.name + name)).mkdir()
        self.assertEqual(lie_cluster.Run(run).texts(), lie_cluster.Run(WORK / "whole").texts())

    def test_special_tokens_can_be_omitted_from_responses(self):
        run = lie_cluster.Run(WORK / "whole")
        shown, plain = run.texts()["response"], run.texts(special_tokens=False)["response"]
        ended = run.samples()["finish_reason"] == 0
        self.assertTrue(ended.any())
        for i in range(len(shown)):
            self.assertEqual(shown[i], plain[i] + "<|endoftext|>" * int(ended[i]))

    def test_settings_have_their_types(self):
        run = lie_cluster.Run(WORK / "whole")
        self.assertEqual(run.config["optimizer"]["eps"], 1e-8)
        self.assertEqual(run.config["coverage"]["metric_ngrams"], [3])
        self.assertIs(run.config["data"]["shuffle"], True)
        (copy("whole", "no_config") / "config.yaml").unlink()
        self.assertEqual(lie_cluster.Run(WORK / "no_config").config, run.config)

    def test_every_column_has_a_description(self):
        run = lie_cluster.Run(WORK / "whole")
        self.assertEqual(list(run.about()), list(run.samples()))
        self.assertEqual(run.about()["token_count"], "response length L, end of sequence included [tokens]")
        with self.assertRaisesRegex(lie_cluster.Error, 'no column "rewards", but "reward"; about'):
            run.samples(["step", "rewards"])

    def test_a_directory_without_a_run_is_refused(self):
        with self.assertRaisesRegex(lie_cluster.Error, "no such directory; give the run.directory"):
            lie_cluster.Run(WORK / "nowhere")
        with self.assertRaisesRegex(lie_cluster.Error, "holds neither config.yaml nor metrics.jsonl nor trajectories"):
            lie_cluster.Run(ROOT / "tests/python")

    def test_damaged_lines_of_the_metrics_are_noted_as_by_lie_analyze(self):
        torn = copy("whole", "no_json") / "metrics.jsonl"
        torn.write_text('{"step":2}\n{"step":1,"accuracy":[]}\n{"step":0}\n')
        run = lie_cluster.Run(torn.parent)
        self.assertEqual(run.metrics()["step"].tolist(), [0, 2])
        self.assertRegex(run.notes[0], f"^{torn}:2: expected one flat JSON object .* next start of the run repairs the file$")
        self.assertIn(f"{torn}:2: expected one flat JSON object", analyze("--no-html", torn.parent).stdout)
        torn.unlink()
        with self.assertRaisesRegex(lie_cluster.Error, f"{torn}: no such file"):
            lie_cluster.Run(torn.parent).metrics()

    def test_a_line_that_does_not_match_its_checksum_is_left_out(self):
        from lie_cluster.json_lines import crc32c
        self.assertEqual(crc32c(b"123456789"), 0xE3069283)  # the check value of CRC-32C's catalog entry
        path = copy("whole", "checked") / "metrics.jsonl"
        objects = ['{"step":0,"accuracy":0.25}', '{"step":1,"accuracy":0.5}']
        lines = [f'{text[:-1]},"crc32c":{crc32c(text.encode())}}}\n' for text in objects]
        path.write_text("".join(lines))
        self.assertEqual(list(lie_cluster.Run(path.parent).metrics()), ["step", "accuracy"])
        path.write_text(lines[0] + lines[1].replace("0.5", "0.7"))
        run = lie_cluster.Run(path.parent)
        self.assertRegex(run.notes[0], f"^{path}:2: the line does not match its checksum; the line is left out")
        self.assertEqual(run.metrics()["step"].tolist(), [0])
        with self.assertRaisesRegex(lie_cluster.Error, f"{path}:2: the line does not match its checksum; remove the line"):
            lie_cluster.run.read_metrics(path)

    def test_rows_are_chosen_by_index_indices_or_mask(self):
        run = lie_cluster.Run(WORK / "whole")
        mask = np.arange(120) % 50 == 3
        self.assertEqual(run.texts(mask), run.texts([3, 53, 103]))
        ids, masked = ([tokens.ids.tolist() for tokens in run.tokens(rows)] for rows in ([3, 53, 103], mask.tolist()))
        self.assertEqual(masked, ids)
        self.assertEqual(run.texts(np.int64(3)), run.texts([3]))
        self.assertEqual(run.tokens(3).ids.tolist(), run.tokens([3])[0].ids.tolist())
        self.assertEqual((run.tokens([]), run.texts([])["gold"], run.tokens(mask & False)), ([], [], []))
        for read in (run.tokens, run.texts):
            with self.assertRaisesRegex(lie_cluster.Error, "a mask of 2 values, but samples\\(\\) has 120 rows"):
                read([True, False])
            for wrong in (1.5, [1.0, 2.0], True, [[1]], ["1"]):
                with self.assertRaisesRegex(lie_cluster.Error, "expected the index of a row"):
                    read(wrong)

    def test_frames_hold_the_same_columns(self):
        run = lie_cluster.Run(WORK / "whole")
        with self.assertRaisesRegex(lie_cluster.Error, 'expected "pandas" or "polars"'):
            run.samples(frame="arrow")
        for name in ("pandas", "polars"):
            try:
                __import__(name)
            except ImportError:
                with self.assertRaisesRegex(lie_cluster.Error, f"pip install {name}"):
                    run.samples(frame=name)
                continue
            for read in (run.samples, run.metrics, run.steps, run.texts):
                columns, frame = read(), read(frame=name)
                self.assertEqual(list(frame.columns), list(columns))
                for column in columns:
                    np.testing.assert_array_equal(frame[column].to_numpy(), np.asarray(columns[column]))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
