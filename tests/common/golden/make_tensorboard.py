"""Prints the golden records of tests/common/tensorboard_test.cpp, made by TensorBoard itself.

    python3 tests/common/golden/make_tensorboard.py        (needs: pip install tensorboard)
"""

import io

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.text.metadata import create_summary_metadata
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

text = Summary.Value(tag="evaluation/samples", metadata=create_summary_metadata("", ""),
                     tensor=TensorProto(dtype="DT_STRING", tensor_shape=TensorShapeProto(), string_val=["長さ".encode()]))
show("text", Event(wall_time=2.5, step=7, summary=Summary(value=[text])))

lengths = [4, 10, 10, 34]  # in 30 buckets of width 1
limits = [4 + bucket + 1 for bucket in range(30)]
counts = [sum(limit - 1 <= length < limit for length in lengths) for limit in limits]
counts[-1] += lengths.count(34)
histogram = HistogramProto(min=4, max=34, num=4, sum=58, sum_squares=1372, bucket_limit=limits, bucket=counts)
show("histogram", Event(wall_time=2.5, step=7, summary=Summary(value=[Summary.Value(tag="length", histo=histogram)])))
show("equal", Event(wall_time=2.5, step=7, summary=Summary(value=[Summary.Value(
    tag="length", histo=HistogramProto(min=5, max=5, num=2, sum=10, sum_squares=50, bucket_limit=[5], bucket=[2]))])))
