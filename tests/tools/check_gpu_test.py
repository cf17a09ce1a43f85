#!/usr/bin/env python3
"""Tests that scripts/check_gpu.sh loses nothing when it is killed: each row on stdout is in the file of results.

The script runs on the emulated device. It is killed at ten moments, each after a number of rows, then left to end.

    check_gpu_test.py BIN WORK
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_gpu.sh"
BIN, WORK = os.path.realpath(sys.argv[1]), pathlib.Path(os.path.realpath(sys.argv[2]))
RESULTS = WORK / "results" / "check_gpu.jsonl"


def run(*arguments, kill_after=None):
    """Returns the rows on stdout and the exit status. Kills all processes of the script after a number of rows."""
    process = subprocess.Popen([SCRIPT, "--results", RESULTS, *arguments, BIN], stdout=subprocess.PIPE, text=True, start_new_session=True)
    rows = []
    for line in process.stdout:
        if line.startswith(("[check_gpu]", "check  ")):
            continue
        rows.append(line)
        if len(rows) == kill_after:
            os.killpg(process.pid, signal.SIGKILL)
    return rows, process.wait()


def kept():
    """Returns the results in the file; each line must be complete."""
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def compare(rows, what):
    results = kept()
    assert len(results) >= len(rows), f"{what}: {len(rows)} rows were printed, the file has {len(results)}"
    for row, result in zip(rows, results):
        assert row.startswith(result["check"]) and result["result"] in row, f"{what}: {row} is not {result}"


shutil.rmtree(WORK, ignore_errors=True)
chosen = ("--only", "load,decode")
complete, status = run(*chosen)
compare(complete, "uninterrupted")
assert status == 0 and len(kept()) == len(complete), "the uninterrupted check"
assert {result["section"] for result in kept()} == {"load", "decode"}, "chosen sections"
assert len(complete) >= 10, complete

for moment in range(1, 11):
    after = max(1, len(complete) * moment // 10 - 1)
    rows, status = run(*chosen, kill_after=after)
    assert status == -signal.SIGKILL, f"ended before row {after} with {status}"
    compare(rows, f"killed after row {after}")

rows, status = run("--budget", "0")
compare(rows, "no budget")
assert status == 0 and {result["result"] for result in kept()} == {"SKIP"}, "checks began without a budget"
assert run("--only", "loud")[1] == 2, "an unknown section was accepted"
print(f"killed ten times among {len(complete)} rows: all printed rows are in the file")
