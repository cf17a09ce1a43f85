"""Prints the golden records of tests/common/tensorboard_test.cpp, made by TensorBoard itself.

    python3 tests/common/golden/make_tensorboard.py        (needs: pip install tensorboard)
"""

import io

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter


def show(name, event):
    out = io.BytesIO()
    RecordWriter(out).write(event.SerializeToString())
    print(name, out.getvalue().hex())


scalars = [("reward/accuracy", 0.75), ("zero", 0.0), ("negative", -1e30), ("長さ", 1 / 3)]
values = [Summary.Value(tag=tag, simple_value=value) for tag, value in scalars]
show("version", Event(wall_time=1700000000.25, file_version="brain.Event:2"))
show("restart", Event(wall_time=1700000001.5, step=51, session_log=SessionLog(status=SessionLog.START)))
show("scalars", Event(wall_time=1700000002.125, step=300, summary=Summary(value=values)))
show("step_0", Event(wall_time=0.5, step=0, summary=Summary(value=values[:1])))
