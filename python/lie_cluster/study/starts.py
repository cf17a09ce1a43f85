"""python -m lie_cluster.study.starts: one study for each start model, with the interval over the starts.

Each start counts once: its value is the mean over its seeds.
"""
import pathlib

from ..command_line import make_parser, require_distinct, run
from ..error import Error
from ..estimates import mean_interval
from .load import load_study
from .report import aligned, interval_text
from .results import ACCURACY
from .rows import settings_of

_HEADS = ["row", "starts", "accuracy", "each start", "difference", "each start", "pairs above"]


def _starts_of(study):
    """Returns the start models of the finished runs, by the hashes of weights and adapter; those that are known."""
    paths = (run.directory / "inputs.yaml" for result in study.results for run in result.runs.values())
    inputs = [settings_of(path) for path in paths if path.is_file()]
    return {(found["weights_sha256"], found.get("adapter_sha256")) for found in inputs if found.get("weights_sha256")}


def load_starts(directories):
    """Returns the study of each directory. Raises Error if two are one, or have the same start model."""
    require_distinct(directories)
    studies, first = [load_study(directory) for directory in directories], {}
    for directory, study in zip(directories, studies):
        for start in _starts_of(study):
            other = first.setdefault(start, directory)
            if other != directory:
                raise Error(f"{other} and {directory} have runs from the same start model, which would count twice; name one "
                            "study for each start")
    return studies


def _cells(name, studies):
    results = [(study, study.find(name)) for study in studies]
    accuracies = [result.final_mean(ACCURACY).value for _, result in results]
    cells = [name, str(len(studies)), interval_text(mean_interval(accuracies)), " ".join(f"{v:.3f}" for v in accuracies)]
    found = [study.difference(result) for study, result in results]
    if None in found:
        return cells + ["-", "-", "-"]
    means = [difference.mean.value for difference in found]
    return cells + [interval_text(mean_interval(means), "{:+.3f}"), " ".join(f"{v:+.3f}" for v in means),
                    f"{sum(d.above for d in found)} of {sum(d.pairs for d in found)}"]


def starts_text(studies):
    """Shows the rows that every study has runs of."""
    names = [row.row.name for row in studies[0].with_runs() if all(s.find(row.row.name).runs for s in studies)]
    if not names:
        raise Error("the studies share no row with a finished run")
    return aligned([_HEADS] + [_cells(name, studies) for name in names])


def main():
    parser = make_parser("study.starts", __doc__)
    parser.add_argument("directories", nargs="+", type=pathlib.Path, help="studies of scripts/study.sh, one for each start")
    print(starts_text(load_starts(parser.parse_args().directories)), end="")
    return 0


if __name__ == "__main__":
    run("study.starts", main)
