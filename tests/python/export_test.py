"""Unit tests of python -m lie_cluster.export: selection of responses, messages of prompts, and files.

tests/tools/export_test.sh exports complete runs.

usage: export_test.py BIN WORK [unittest arguments]        (exit status 77: h5py or PyYAML is missing)
"""
import json
import os
import re
import shutil
import sys
import types
import unittest

from environment import ROOT, WORK
import numpy as np
from lie_cluster import Error
from lie_cluster.export.chat_turns import ChatTurns
from lie_cluster.export.columns import _VERDICTS
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
        self.assertEqual(dict(enumerate(_VERDICTS)), names)


class InWork(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)

    def write(self, name, rows):
        (WORK / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return str(WORK / name)


class Turns(InWork):
    def turns(self, rows, text, gold, **data):
        data = {"train_file": self.write("train.jsonl", rows), "evaluation_file": [], **data}
        batch = types.SimpleNamespace(text=lambda name: [{"prompt": text, "gold": gold}[name]])
        return ChatTurns(types.SimpleNamespace(directory=WORK, data=data)).of(batch, 0)

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
            batch = types.SimpleNamespace(text=lambda name: {"prompt": ["1+1"], "gold": ["2"]}[name])
            turns = ChatTurns(types.SimpleNamespace(directory=WORK, data=data))
            self.assertEqual(turns.of(batch, 0), [{"role": "user", "content": "1+1"}], text)
        with self.assertRaisesRegex(Error, "train.jsonl:1: expected a JSON object"):
            path.write_text("nonsense\n" + row)
            list(read_rows(path))

    def test_rows_without_a_correct_answer_are_found(self):
        for row in ({"prompt": "1+1"}, {"prompt": "1+1", "gold": ""}):
            self.assertEqual(self.turns([row], "1+1", ""), [{"role": "user", "content": "1+1"}])

    def test_messages_of_sharegpt_and_content_parts_are_read(self):
        parts = [{"type": "text", "text": "1"}, {"type": "text", "text": "+1"}]
        rows = [{"prompt": [{"from": "system", "value": "S"}, {"from": "human", "value": "2+2"}], "gold": "4"},
                {"prompt": [{"role": "user", "content": parts}], "gold": 12345678901234567890123}]
        self.assertEqual(self.turns(rows, "S\n\n2+2", "4"),
                         [{"role": "system", "content": "S"}, {"role": "user", "content": "2+2"}])
        self.assertEqual(self.turns(rows, "1+1", "12345678901234567890123"), [{"role": "user", "content": "1+1"}])


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
