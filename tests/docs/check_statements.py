#!/usr/bin/env python3
"""Tries statements of the documentation on the programs: check_statements.py BIN REPOSITORY

Exit statuses (docs/reference/commands.md), rows of lie_analyze's table (docs/reference/metrics.md), and --ranks without
--ranks-per-host (docs/how-to/plan-a-run.md).
"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

BIN, ROOT = Path(sys.argv[1]), Path(sys.argv[2])


def run(program, *arguments):
    return subprocess.run([BIN / program, *arguments], cwd=ROOT, text=True, capture_output=True, check=False, timeout=120)


class ExitStatuses(unittest.TestCase):
    def test_the_table_lists_them(self):
        page = (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"^\| (\d+|above 100) \|", page, re.M), ["0", "1", "1", "2", "69", "75", "78", "above 100"])

    def test_an_absent_directory_fails_with_1(self):
        self.assertEqual(run("lie_analyze", "/nonexistent").returncode, 1)

    def test_a_start_without_its_config_is_refused_with_78(self):
        self.assertEqual(run("lie_cluster", "train", "/nonexistent.yaml").returncode, 78)

    def test_refused_command_lines_are_above_100(self):
        for arguments in [("lie_cluster", "train", "x", "--bad"), ("lie_cluster", "train"), ("lie_verify", "--bad"),
                          ("lie_cluster", "trian", "x"), ("lie_replay", "nope"), ("lie_analyze",)]:
            self.assertGreater(run(*arguments).returncode, 100, arguments)

    def test_the_verifier_tells_incorrect_from_unusable(self):
        self.assertEqual(run("lie_verify", "3", r"\boxed{3}").returncode, 0)
        self.assertEqual(run("lie_verify", "3", r"\boxed{4}").returncode, 1)
        self.assertEqual(run("lie_verify", "no_such_file.jsonl").returncode, 2)


class Table(unittest.TestCase):
    def test_the_rows_that_the_page_explains_are_printed_under_these_names(self):
        page = (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| ([^|]+) \|", page[page.index("## Rows of the table"):], re.M)[1:]
        self.assertGreaterEqual(len(rows), 6)
        sources = [*(ROOT / "tools/analyze").rglob("*.cpp"), *(ROOT / "rewards").glob("*.h")]
        text = "".join(path.read_text(encoding="utf-8") for path in sources)
        for name in (name for row in rows for name in (row.split(", ") if row.startswith("R_") else [row])):
            self.assertIn(name, text)


class Plan(unittest.TestCase):
    def test_all_ranks_are_on_one_host_unless_told_otherwise(self):
        model = ROOT / "tests/model/configs/qwen3-1.7b"
        plan = ["plan", "configs/demo.yaml", "--set", f"model.path={model}", "--ranks", "4,64"]
        self.assertIn("all ranks on one host", run("lie_cluster", *plan).stdout)
        self.assertIn("8 ranks a host", run("lie_cluster", *plan, "--ranks-per-host", "8").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
