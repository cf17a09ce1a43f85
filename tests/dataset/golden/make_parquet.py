#!/usr/bin/env python3
"""Writes the small Parquet files of tests/dataset with pyarrow (they are in the repository).

verl.parquet: rows as verl's data has them, in two row groups; the fourth lacks its ground truth.
types.parquet: a column of every type that is read, with nulls.
unusual.parquet: columns of types that other programs seldom write, and one of a type that is not read.
"""
import datetime
import os

import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))


def verl():
    rows = [
        {"data_source": "math", "prompt": [{"content": "What is 1+1?", "role": "user"}],
         "reward_model": {"ground_truth": "2", "num_tokens": 1500}, "extra_info": {"index": 7}},
        {"data_source": "math", "prompt": [{"content": "Be brief.", "role": "system"},
                                           {"content": "1+2 \u4e2d?", "role": "user"}],
         "reward_model": {"ground_truth": "3", "num_tokens": 1007}, "extra_info": {"index": 8}},
        {"data_source": "amc", "prompt": [{"content": "a", "role": "user"}],
         "reward_model": {"ground_truth": "\\frac{1}{2}", "num_tokens": 1000}, "extra_info": {"index": 9}},
        {"data_source": None, "prompt": [{"content": "b", "role": "user"}],
         "reward_model": {"ground_truth": None, "num_tokens": None}, "extra_info": None},
    ]
    pq.write_table(pa.Table.from_pylist(rows), os.path.join(HERE, "verl.parquet"), row_group_size=2)


def types():
    columns = {
        "text": pa.array(["a", None], pa.string()),
        "large_text": pa.array(["b", None], pa.large_string()),
        "dictionary": pa.array(["c", "c"]).dictionary_encode(),
        "small": pa.array([-1, None], pa.int8()),
        "unsigned": pa.array([2**64 - 1, 0], pa.uint64()),
        "real": pa.array([0.5, None], pa.float32()),
        "flag": pa.array([True, None], pa.bool_()),
        "numbers": pa.array([[1, 2], []], pa.large_list(pa.int32())),
        "pair": pa.array([[1, 2], [3, 4]], pa.list_(pa.int64(), 2)),
        "nested": pa.array([{"a": [{"b": "x"}]}, None], pa.struct({"a": pa.list_(pa.struct({"b": pa.string()}))})),
        "day": pa.array([datetime.date(2026, 2, 12), None]),
        "bytes": pa.array([b"\xff", None], pa.binary()),
        "nothing": pa.nulls(2),
    }
    pq.write_table(pa.table(columns), os.path.join(HERE, "types.parquet"))


def unusual():
    columns = {
        "prompt": pa.array(["1+1?", "1+2?"]),
        "half": pa.array([0.1, None], pa.float16()),
        "halves": pa.array([[1.5, -2.0, 65504.0, 6e-08], []], pa.list_(pa.float16())),
        "time": pa.array([datetime.time(12, 30), None], pa.time32("ms")),
        "fine_time": pa.array([datetime.time(12, 30), None], pa.time64("us")),
        "map": pa.array([[("a", 1), ("b", 2)], None], pa.map_(pa.string(), pa.int64())),
        "numbered": pa.array([[(1, "a"), (2, "b")], None], pa.map_(pa.int64(), pa.string())),
        "fixed": pa.array([b"ab", None], pa.binary(2)),
        "gold": pa.array([datetime.timedelta(seconds=2), None], pa.duration("ms")),
        "answer": pa.array(["9", "3"]),
    }
    pq.write_table(pa.table(columns), os.path.join(HERE, "unusual.parquet"))


def binary():
    columns = {"prompt": pa.array([b"q1", b"q2"], pa.binary()), "gold": pa.array(["1", "2"])}
    pq.write_table(pa.table(columns), os.path.join(HERE, "binary.parquet"))


def twice():
    arrays = [pa.array(["a"]), pa.array(["5"]), pa.array(["7"])]
    pq.write_table(pa.Table.from_arrays(arrays, names=["prompt", "gold", "gold"]), os.path.join(HERE, "twice.parquet"))


if __name__ == "__main__":
    verl()
    types()
    unusual()
    binary()
    twice()
