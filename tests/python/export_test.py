"""Unit tests of python -m lie_cluster.export: selection of responses, messages of prompts, and files.

tests/tools/export_test.sh exports complete runs.

usage: export_test.py BIN WORK [unittest arguments]        (exit status 77: h5py or PyYAML is missing)
"""
import json
import os
import re
import shutil
import subprocess
import sys
import types
import unittest

from environment import BIN, ROOT, WORK
import numpy as np
from lie_cluster import Error, Run
from lie_cluster.export.batches import EVALUATE, TRAIN
from lie_cluster.export.chat_turns import ChatTurns
from lie_cluster.metric_names import VERDICTS
from lie_cluster.export.row_file import write_rows
from lie_cluster.export.shapes import SHAPES, best_right, worst_wrong
from lie_cluster.rows import read_rows


class Choice(unittest.TestCase):
    def test_correct_responses_are_sorted_by_reward_and_then_by_number(self):
        right, reward = [True, False, True, True, True], [0.5, 9, 1, 0.5, 1]
        self.assertEqual(best_right(right, reward), [2, 4, 0, 3])

    def test_the_first_incorrect_response_of_lowest_reward_is_rejected(self):
        self.assertEqual(worst_wrong([False, False, True, False, False], [0, -1, -2, -1, -0.5]), 1)
        self.assertIsNone(worst_wrong([True], [0]))

    def test_responses_cut_at_the_limit_are_left_out_and_counted(self):
        class Batch(dict):
            right, cut = np.array([1, 1, 0, 0, 1, 0], bool), np.array([1, 0, 1, 0, 1, 0], bool)
            groups = [slice(0, 3), slice(3, 6)]

            def text(self, name):
                return [f"{name} {i}" for i in range(6)]
        batch = Batch(reward=np.array([2.0, 1, 0, 0, 1, 0]))
        for shape, expected in (("sft", {"completion": "response 1"}),
                                ("pairs", {"chosen": "response 1", "rejected": "response 2"})):
            options = types.SimpleNamespace(shape=shape, messages=False, best=1, least_accuracy=0, most_accuracy=1)
            rows = SHAPES[shape](options, [])
            self.assertEqual(list(rows.rows(batch)), [{"prompt": "prompt 1", **expected}])
            self.assertEqual(rows.left_out, {"correct responses cut at the token limit": 2})


class Verdicts(unittest.TestCase):
    def test_the_names_equal_those_of_the_verifier(self):
        header = (ROOT / "common/rollout/verdict.h").read_text()
        codes = {name: int(code) for name, code in re.findall(r"  (k\w+) = (\d+),", header)}
        names = {codes[code]: name for code, name in re.findall(r'case VerdictCode::(k\w+): return "(\w+)";', header)}
        self.assertEqual(dict(enumerate(VERDICTS)), names)


class InWork(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)

    def write(self, name, rows):
        (WORK / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return str(WORK / name)


UNKNOWN = 99  # number of a row that no file of these tests has


def prompt_of(text, gold, problem=UNKNOWN, purpose=TRAIN):
    """Returns a batch of one response to this prompt."""
    class Batch(dict):
        def problem_keys(self):
            return [("", text, gold)]
    return Batch(purpose=[purpose], problem=[problem], step=[7], group=[0])


def conversation(answer):
    turns = [{"role": "user", "content": "Q1"}, {"role": "assistant", "content": answer}, {"role": "user", "content": "Q2"}]
    return {"prompt": turns, "gold": "1"}


class Turns(InWork):
    def turns(self, rows, text, gold, problem=UNKNOWN, purpose=TRAIN, **data):
        data = {"train_file": self.write("train.jsonl", rows), "evaluation_file": [], **data}
        turns = ChatTurns(types.SimpleNamespace(directory=WORK, data=data))
        return turns.of(prompt_of(text, gold, problem, purpose), 0)

    def test_a_text_prompt_becomes_one_user_turn_with_the_suffix(self):
        rows = [{"prompt": "1+1", "gold": 2}, {"prompt": "1+11", "gold": 12}, {"prompt": "1+1?", "gold": "2"}]
        found = self.turns(rows, "<user>1+1? Box it.<end>", "2", prompt_suffix=" Box it.")
        self.assertEqual(found, [{"role": "user", "content": "1+1? Box it."}])

    def test_messages_equal_the_messages_of_the_row(self):
        turns = [{"role": "system", "content": "Be brief.\n"}, {"role": "user", "content": "a"},
                 {"role": "assistant", "content": "<think>x</think>b"}, {"role": "user", "content": "c"}]
        rows = [{"prompt": turns, "reward_model": {"ground_truth": "g"}}]
        self.assertEqual(self.turns(rows, "S:Be brief. U:a A:b U:c", "g"), turns)

    def test_choices_are_listed_below_the_question(self):
        rows = [{"q": "Which?", "options": ["two", "four"], "answer": "2"}]
        found = self.turns(rows, "Which?\n\nA. two\nB. four", "B", prompt_field="q", choices_field="options")
        self.assertEqual(found[0]["content"], "Which?\n\nA. two\nB. four")

    def test_the_number_of_a_choice_counts_from_first_choice(self):
        rows = [{"q": "Which?", "options": ["two", "four"], "answer": number} for number in (0, 1)]
        for gold in "AB":
            found = self.turns(rows, "Which?\n\nA. two\nB. four", gold, prompt_field="q", choices_field="options",
                               first_choice=0)
            self.assertEqual(found[0]["content"], "Which?\n\nA. two\nB. four")

    def test_messages_are_found_in_several_training_files(self):
        files = [self.write(f"{i}.jsonl", [{"prompt": f"{i}+1", "gold": i + 1}]) for i in range(2)]
        for i in range(2):
            self.assertEqual(self.turns([], f"{i}+1", str(i + 1), train_file=files), [{"role": "user", "content": f"{i}+1"}])

    def test_an_empty_name_is_no_file_and_a_missing_file_is_named_with_its_key(self):
        rows = [{"prompt": "1+1", "gold": "2"}]
        self.assertEqual(self.turns(rows, "1+1", "2", evaluation_file=""), [{"role": "user", "content": "1+1"}])
        for key in ("train_file", "evaluation_file"):
            with self.assertRaisesRegex(Error, f"^none.jsonl: no such file, .* by --set data.{key}=FILE$"):
                self.turns(rows, "1+1", "2", **{key: "none.jsonl"})

    def test_rows_are_read_as_the_trainer_reads_them(self):
        row = '{"prompt": "1+1", "gold": 2, "unused": NaN}'
        for text in ("\ufeff" + row + "\r\n\n", "nonsense\n" + row, row.replace('"gold": 2', '"gold": ["2"]')):
            path = WORK / "train.jsonl"
            path.write_bytes(text.encode())
            data = {"train_file": str(path), "evaluation_file": [], "skip_bad_rows": True}
            turns = ChatTurns(types.SimpleNamespace(directory=WORK, data=data))
            self.assertEqual(turns.of(prompt_of("1+1", "2"), 0), [{"role": "user", "content": "1+1"}], text)
        with self.assertRaisesRegex(Error, "train.jsonl:1: expected a JSON object"):
            path.write_text("nonsense\n" + row)
            list(read_rows(path))

    def test_rows_without_a_correct_answer_are_found(self):
        for row in ({"prompt": "1+1"}, {"prompt": "1+1", "gold": ""}):
            self.assertEqual(self.turns([row], "1+1", ""), [{"role": "user", "content": "1+1"}])

    def test_a_prompt_has_the_row_whose_assistant_turns_it_contains(self):
        answers = ["yes", "absolutely not", "maybe", "<think>hm</think>no"]
        for answer in answers:
            for text in (f"Q1\n\n{answer}\n\nQ2", f"Q1 {answer.removeprefix('<think>hm</think>')} Q2"):
                found = self.turns([conversation(each) for each in answers], text, "1")
                self.assertEqual(found, conversation(answer)["prompt"])

    def test_the_number_of_the_row_decides_where_templates_drop_thoughts(self):
        answers = [f"<think>{i}</think>b" for i in range(3)]
        for i, answer in enumerate(answers):
            found = self.turns([conversation(each) for each in answers], "Q1 b Q2", "1", problem=i)
            self.assertEqual(found, conversation(answer)["prompt"])
        with self.assertRaisesRegex(Error, r"train.jsonl:1 and .*train.jsonl:2 both give the prompt of step 7, group 0, by "
                                           "different messages: restore"):
            self.turns([conversation(each) for each in answers], "Q1 b Q2", "1")

    def test_a_number_of_changed_files_does_not_decide(self):
        found = self.turns([conversation("no"), conversation("yes")], "Q1 yes Q2", "1", problem=0)
        self.assertEqual(found, conversation("yes")["prompt"])

    def test_rows_are_numbered_as_by_the_trainer(self):
        first = WORK / "first.jsonl"
        rows = [json.dumps(conversation(f"<think>{i}</think>b")) for i in range(4)]
        first.write_text(f"\n{rows[0]}\n \nnonsense\n{rows[1]}\n")  # rows 0, 1 (bad) and 2
        second, evaluation = WORK / "second.jsonl", WORK / "evaluation.jsonl"
        second.write_text(rows[2])
        evaluation.write_text(rows[3])
        for purpose, number, row in ((TRAIN, 0, 0), (TRAIN, 2, 1), (TRAIN, 3, 2), (EVALUATE, 0, 3)):
            found = self.turns([], "Q1 b Q2", "1", number, purpose, train_file=[str(first), str(second)],
                               evaluation_file=str(evaluation), skip_bad_rows=True)
            self.assertEqual(found[1]["content"], f"<think>{row}</think>b")

    def test_numbers_are_equal_however_they_are_written(self):
        for written, logged in ((1e15, "1e+15"), (1e23, "9.999999999999999e+22"), (2.0, "2.0"), ("nan", "nan"), (True, "true")):
            self.assertEqual(self.turns([{"prompt": "1+1", "gold": written}], "1+1", logged)[0]["content"], "1+1")
        rows = [{"q": "Which?", "options": [True, 2], "answer": "B"}]
        found = self.turns(rows, "Which?\n\nA. true\nB. 2", "B", prompt_field="q", choices_field="options")
        self.assertEqual(found[0]["content"], "Which?\n\nA. true\nB. 2")

    def test_messages_of_sharegpt_and_content_parts_are_read(self):
        parts = [{"type": "text", "text": "1"}, {"type": "text", "text": "+1"}]
        rows = [{"prompt": [{"from": "system", "value": "S"}, {"from": "human", "value": "2+2"}], "gold": "4"},
                {"prompt": [{"role": "user", "content": parts}], "gold": 12345678901234567890123}]
        self.assertEqual(self.turns(rows, "S\n\n2+2", "4"),
                         [{"role": "system", "content": "S"}, {"role": "user", "content": "2+2"}])
        self.assertEqual(self.turns(rows, "1+1", "12345678901234567890123"), [{"role": "user", "content": "1+1"}])


class TruncatedPrompts(InWork):
    """A run on conversations that end in the same tokens, of which the model reads only these."""

    ANSWERS = ["yes, of course", "absolutely not", "maybe"]

    def export(self, *arguments):
        """Returns the rows of an export of the run, and its messages."""
        done = subprocess.run([sys.executable, "-m", "lie_cluster.export", *arguments, "--output", WORK / "rows.jsonl",
                               "--overwrite"], capture_output=True, text=True, cwd=ROOT, env=self.environment)
        if done.returncode != 0:
            raise Error(done.stderr)
        return [row for _, row in read_rows(WORK / "rows.jsonl")], done.stderr

    def test_texts_are_what_the_model_read_and_messages_are_whole(self):
        self.environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                            "PYTHONPATH": os.pathsep.join(map(str, sys.path))}
        run, rows = WORK / "run", self.write("train.jsonl", map(conversation, self.ANSWERS))
        settings = (f"run.directory={run}", "run.steps=1", f"data.train_file={rows}", "data.shuffle=false",
                    "evaluation.every=0", "rollout.prompts_per_step=3", "update.mini_batch_prompts=3",
                    "rollout.max_prompt_tokens=4", "reward.length.enabled=false")
        command = [BIN / "lie_cluster", "train", "tests/tools/small.yaml"]
        done = subprocess.run(command + [part for one in settings for part in ("--set", one)], cwd=ROOT, capture_output=True,
                              text=True, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)

        logged = Run(run)
        whole, read, dropped = logged.texts()["prompt"], logged.prompts_as_read(range(12)), logged.prompt_tokens_dropped(range(12))
        self.assertTrue((dropped > 0).all())
        self.assertTrue(all(text.endswith(tail) and len(tail) < len(text) for text, tail in zip(whole, read)))
        self.assertEqual(set(read), {"\n\nQ2"})

        exported, note = self.export(run, "--columns", "prompt")
        self.assertEqual(({row["prompt"] for row in exported}, note), ({"\n\nQ2"}, ""))
        exported, note = self.export(run, "--as", "problems")
        self.assertEqual([row["prompt"] for row in exported], [conversation(answer)["prompt"] for answer in self.ANSWERS])
        self.assertRegex(note, "rows.jsonl: 3 prompts were longer than rollout.max_prompt_tokens: .*\n$")

        link = WORK / "link"
        link.symlink_to(run)
        with self.assertRaisesRegex(Error, "run and .*link are one directory, which would count twice; name it once"):
            self.export(run, link)


EXAMPLE = {"text": "", "integer": 0, "number": 0.5, "flag": False, "numbers": [0.5],
           "messages": [{"role": "", "content": ""}], "outer": {"inner": {"truth": ""}}}


def row_of(i):
    messages = None if i % 5 == 0 else [{"role": "user", "content": "c"}]
    return {"text": f'中 " \n{i}', "integer": i, "number": None if i % 5 == 0 else 0.1 * i, "flag": i % 2 == 1,
            "numbers": [1 / 3] * (i % 3), "messages": messages, "outer": {"inner": {"truth": str(i)}}}


class Files(InWork):
    def assert_reads_back(self, path):
        rows = [row_of(i) for i in range(2500)]  # more than two row groups of Parquet
        write_rows(path, iter(rows), EXAMPLE)
        self.assertEqual([row for _, row in read_rows(path)], rows)
        self.assertEqual(os.listdir(WORK), [path.name])

    def test_json_lines_round_trip(self):
        self.assert_reads_back(WORK / "rows.jsonl")

    def test_parquet_round_trips(self):
        try:
            import pyarrow.parquet
        except ImportError:
            with self.assertRaisesRegex(Error, "Parquet needs pyarrow: pip install"):
                write_rows(WORK / "rows.parquet", iter([row_of(1)]), EXAMPLE)
            return
        self.assert_reads_back(WORK / "rows.parquet")
        write_rows(WORK / "nulls.parquet", iter([row_of(0)]), EXAMPLE)
        types_ = [str(pyarrow.parquet.read_schema(WORK / name)) for name in ("rows.parquet", "nulls.parquet")]
        self.assertEqual(*types_)

    def test_a_file_appears_complete_or_not_at_all(self):
        path = WORK / "rows.jsonl"
        path.write_text("{}\n")

        def rows():
            yield row_of(1)
            raise Error("no more")
        with self.assertRaises(Error):
            write_rows(path, rows(), EXAMPLE)
        self.assertEqual((os.listdir(WORK), path.read_text()), (["rows.jsonl"], "{}\n"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
