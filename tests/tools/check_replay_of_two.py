#!/usr/bin/env python3
"""Checks the replay of two runs in replay_test.sh.

Its steps are sorted by step number, then by run. The responses of the second run are scored under the
settings of the first.

check_replay_of_two.py WORK
"""
import json
import subprocess
import sys
from pathlib import Path

work = Path(sys.argv[1])


def rows(name):
    """Returns the responses of a run with their ids and rewards, by step."""
    output = work / f"{name}.export.jsonl"
    subprocess.run([sys.executable, "-m", "lie_cluster.export", work / name, "--output", output, "--overwrite", "--columns",
                    "step,group,sample,response_ids,right,reward_redundancy"], check=True, stdout=subprocess.DEVNULL)
    steps = {}
    for line in output.open():
        row = json.loads(line)
        steps.setdefault(row.pop("step"), []).append(row)
    return steps


def texts(step):
    return [{name: value for name, value in row.items() if name != "reward_redundancy"} for row in step]


first, second, both = rows("whole"), rows("fresh_seed"), rows("both")
order = [(first, 1), (second, 1), (first, 2), (second, 2), (first, 3), (second, 3), (first, 4), (first, 5), (first, 6)]
assert sorted(both) == list(range(1, len(order) + 1)), sorted(both)
for step, (run, logged) in enumerate(order, start=1):
    assert texts(both[step]) == texts(run[logged]), (step, logged)
    if run is first:
        assert both[step] == run[logged], step
again = [row["reward_redundancy"] for step in (2, 4, 6) for row in both[step]]
before = [row["reward_redundancy"] for step in (1, 2, 3) for row in second[step]]
assert again != before and sum(again) > sum(before), "threshold 3 penalizes less than threshold 2"
