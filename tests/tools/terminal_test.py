#!/usr/bin/env python3
"""Tests the output of a run under mpirun on terminals of 80 and 120 columns and to a pipe.

On a terminal every line fits, and progress is rewritten in place and advances within a step. Output to
a pipe has no progress lines and no control sequences.

    terminal_test.py BIN WORK [COLUMNS...]

With COLUMNS, the test prints the screens and does not check them.
"""
import fcntl
import os
import pty
import shutil
import struct
import subprocess
import sys
import termios

STEPS = 3
WIPE = "\r\x1b[K"  # returns to the start of the line and clears it


def command(binary, run):
    return ["mpirun", "--oversubscribe", "-n", "4", os.path.join(binary, "lie_cluster"), "train", "tests/tools/small.yaml",
            "--set", f"run.directory={run}", "--set", f"run.steps={STEPS}"]


def shown(columns, arguments, environment):
    """Returns the exit status and the output of a command on a terminal, or on a pipe with columns 0."""
    if columns == 0:
        done = subprocess.run(arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout.decode()
    reader, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(arguments, env=environment, stdin=terminal, stdout=terminal, stderr=terminal)
    os.close(terminal)
    written = b""
    try:
        while part := os.read(reader, 65536):
            written += part
    except OSError:  # the last process with an open terminal closed it
        pass
    os.close(reader)
    return process.wait(), written.decode().replace("\r\n", "\n")


def check_build(environment):
    """Checks that scripts/progress_lib.sh shows build output on one terminal line, cut to its width."""
    script = 'set -o pipefail; source scripts/progress_lib.sh; { printf "[1/2] a\\n[2/2] %0100d\\n" 0; exit 3; } | show_progress build'
    status, text = shown(80, ["bash", "-c", script], environment)
    first, second, end = text.split(WIPE)[1:]
    assert (status, first, end) == (3, "[build] 0:00 [1/2] a", ""), (status, text)
    assert second == "[build] 0:00 [2/2] ".ljust(79, "0"), text
    assert shown(0, ["bash", "-c", script], environment) == (3, "")


def check_error(binary, work, environment):
    """Checks that an error report during progress output begins on a new line."""
    faulty = dict(environment, LIE_FAULT="journal:9")
    status, text = shown(80, command(binary, os.path.join(work, "faulty")), faulty)
    before, _, report = text.partition("error on rank ")
    assert status != 0 and " groups" in before and before.endswith(WIPE), text
    assert report.splitlines()[0].startswith("0 (learner"), text


def check_help(binary, environment):
    """Checks that help fits a terminal and that a pipe receives one line per key, for grep."""
    arguments = [os.path.join(binary, "lie_cluster"), "train", "--help", "all"]
    for columns in (20, 80, 120):
        status, text = shown(columns, arguments, environment)
        wide = [line for line in text.split("\n") if len(line) > columns]
        assert status == 0 and (columns == 20 or not wide), wide
    assert any("run.resume  " in line and line.endswith("not logged.") for line in shown(0, arguments, environment)[1].split("\n"))


def main(binary, work, *columns):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    binary, work = os.path.realpath(binary), os.path.realpath(work)
    for width in [int(c) for c in columns] or [80, 120, 0]:
        run = os.path.join(work, f"run{width}")
        status, text = shown(width, command(binary, run), environment)
        assert status == 0, text
        lines = [line.split(WIPE) for line in text.split("\n")]
        if columns:
            print("\n".join(line[-1] for line in lines))
            continue
        within = [state for line in lines for state in line if " groups" in state]
        if width == 0:
            assert WIPE not in text and not within, text
            continue
        for state in (state for line in lines for state in line):
            assert len(state) < width or work in state, f"{len(state)} columns: {state}"
        for step in range(1, STEPS + 1):
            assert any(state.startswith(f"step {step}/{STEPS} | 6/6 groups") for state in within), text
        assert any("evaluation 0/8 groups" in state for state in within), text
        assert any("evaluation 8/8 groups" in state for state in within), text
        assert any(f"step {STEPS - 1}: accuracy" in state for state in within), text
        standing = [line[-1] for line in lines]
        assert not any(" groups" in state for state in standing), "progress within a step was not erased: " + text
        assert sum(state.startswith(f"step {STEPS}/{STEPS} | accuracy") for state in standing) == 1, text
    check_build(environment)
    check_help(binary, environment)
    check_error(binary, work, environment)
    print("output fits terminals of 80 and 120 columns, and a pipe receives no progress lines")


main(*sys.argv[1:])
