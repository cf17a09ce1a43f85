#!/usr/bin/env python3
"""Rewards of the controls in configs/study/controls.yaml: control_reward.py flat-length | random-verdict

flat-length       -0.01 for each token short of 91, whether the answer is correct or not
random-verdict    a coin decides in training which responses count as correct; evaluation is not changed

A reward program (docs/reference/reward-programs.md). The same request gives the same answer.
"""
import json
import sys
import zlib

TARGET, ETA = 91, 0.01  # the mean target and the price of a token in configs/demo.yaml


def answer(kind, request):
    if kind == "flat-length":
        return {"reward": -ETA * max(0, TARGET - request["tokens"])}
    if request["purpose"] != "train":
        return {"reward": 0.0}
    key = f"{request['step']} {request['group']} {request['sample']} {request['prompt']}"
    return {"reward": 0.0, "correct": bool(zlib.crc32(key.encode()) & 1 << 16)}


def main():
    if sys.argv[1:] not in (["flat-length"], ["random-verdict"]):
        sys.exit(__doc__)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps({"id": request["id"], **answer(sys.argv[1], request)}), flush=True)


if __name__ == "__main__":
    main()
