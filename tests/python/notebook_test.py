"""Executes python/examples/paper_figures.ipynb on two short runs of the demo and checks its figures.

usage: notebook_test.py BIN WORK        (exit status 77: matplotlib, h5py or PyYAML is missing)
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

try:
    import h5py  # noqa: F401
    import matplotlib
    import yaml  # noqa: F401
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
if os.environ.get("LIE_INSTALLED") is None:  # scripts/check_python.sh tests the installed package
    sys.path.insert(0, str(ROOT / "python"))
PLAIN = ["reward.length.enabled=false", "reward.redundancy.enabled=false"]


def train(program, directory, overrides):
    settings = [f"run.directory={directory}", "run.steps=3", "evaluation.every=1", "evaluation.prompts=8",
                "rollout.prompts_per_step=4", *overrides]
    command = [program, "train", "configs/demo.yaml"] + [part for s in settings for part in ("--set", s)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def execute(notebook):
    """Returns the figures that the code cells drew, and the variables that the cells defined."""
    names = {}
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{notebook.name}, cell {cell['id']}", "exec"), names)
    return [plt.figure(number) for number in plt.get_fignums()], names


def main(program, work):
    shutil.rmtree(work, ignore_errors=True)
    for name, overrides in (("gspo", PLAIN), ("lie", [])):
        train(program, work / "runs/demo" / name, overrides)
    os.chdir(work)
    figures, names = execute(ROOT / "python/examples/paper_figures.ipynb")
    assert [len(figure.axes) for figure in figures] == [3, 2, 1], figures
    for axis in (axis for figure in figures for axis in figure.axes):
        assert axis.has_data() and axis.get_xlabel() and axis.get_ylabel(), axis
    rows = [json.loads(line) for line in open("runs/demo/lie/metrics.jsonl")]
    for axis, metric in zip(figures[0].axes, names["curves"]):
        plain, lie = axis.lines
        assert lie.get_label() == "GSPO+LIE" and len(plain.get_xdata()) == len(lie.get_xdata())
        assert lie.get_ydata().tolist() == [row[metric] for row in rows if metric in row], metric
    points = figures[1].axes[1].collections[0].get_offsets()
    assert len(points) == 4 * 16 and (points[:, 1] <= points[:, 0]).all()
    print("the notebook draws", len(figures), "figures")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve() / "lie_cluster", pathlib.Path(sys.argv[2]).resolve())
