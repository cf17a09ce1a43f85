"""Checks that h5py reads a trajectory file during writing, after kill -9 and after a close.

usage: check_h5py.py PATH/TO/write_trajectories        (exit status 77: h5py is not installed)
"""
import os
import signal
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError:
    print("skipped: python3 has no h5py")
    sys.exit(77)

SAMPLES_A_STEP = 16  # ExampleShape: 4 groups of 4; steps divisible by 3 also evaluate


def check(file, steps):
    """Checks that every step is complete and that its values are those of example_steps.h."""
    assert file.attrs["schema_version"] == 2
    assert file.attrs["config"].decode() == 'seed: 7\nname: "täst"\n', file.attrs["config"]
    assert file["sample/reward"].attrs["about"] == b"sum of the reward terms"
    assert file.attrs["reward_terms"] == b"accuracy,first,second"
    assert file["sample/reward_first"].attrs["about"] == b"a first term"
    count = len(file["step/step"])
    assert count >= steps, (count, steps)
    if count == 0:
        return
    n = file["step/sample_end"][count - 1]
    assert n == sum(SAMPLES_A_STEP * (2 if s % 3 == 0 else 1) for s in file["step/step"][:count])
    assert np.allclose(file["sample/reward"][:n],
                       np.where(file["sample/sample"][:n] % 2 == 0, 0.25, -0.75))
    offset, length = file["sample/token_offset"][:n], file["sample/token_count"][:n]
    assert (offset == np.concatenate([[0], np.cumsum(length)[:-1]])).all()
    tokens = file["step/token_end"][count - 1]
    ids, behavior = file["token/id"][:tokens], file["token/behavior_log_prob"][:tokens]
    assert tokens == length.sum() and np.abs(ids - np.floor(behavior / -4.0 * 500)).max() <= 1
    text = file["text/bytes"]
    start, size = file["problem/text_offset"][1], file["problem/text_count"][1]
    assert text[start:start + size].tobytes().decode() == "How many ö in %d?" % file["problem/group"][1]


def write(program, directory, last):
    return subprocess.Popen([program, directory, "1", str(last), "wait"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)


def main(program):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "learner-000-segment-000000.h5")
        writer = write(program, directory, 20)
        for step in range(1, 21):
            assert writer.stdout.readline() == f"step {step}\n"
            with h5py.File(path, "r", swmr=True) as file:
                check(file, step)
            writer.stdin.write("\n")
            writer.stdin.flush()
        assert writer.wait() == 0
        with h5py.File(path) as file:
            check(file, 20)
    for steps in (1, 4, 9):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "learner-000-segment-000000.h5")
            writer = subprocess.Popen([program, directory, "1", "100000"], stdout=subprocess.PIPE,
                                      text=True)
            for _ in range(steps):
                writer.stdout.readline()
            writer.send_signal(signal.SIGKILL)
            writer.wait()
            with h5py.File(path, "r", swmr=True) as file:
                check(file, steps)
    print("h5py", h5py.__version__, "reads during writing, after kill -9 and after close")


if __name__ == "__main__":
    main(sys.argv[1])
