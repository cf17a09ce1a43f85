"""Opens the event files of a run with TensorBoard and prints what it reads.

    python3 tests/common/golden/check_tensorboard.py RUN_DIR/tensorboard      (needs: pip install tensorboard)

Fails if TensorBoard finds no scalar, or steps that do not ascend.
"""

import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

accumulator = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
accumulator.Reload()
tags = accumulator.Tags()["scalars"]
assert tags, f"{sys.argv[1]}: TensorBoard finds no scalar"
for tag in tags:
    events = accumulator.Scalars(tag)
    steps = [event.step for event in events]
    assert steps == sorted(set(steps)), f"{tag}: steps do not ascend: {steps}"
    print(f"{tag}: steps {steps[0]} to {steps[-1]}, {len(steps)} values, last {events[-1].value}")
