"""python -m lie_cluster.study.starts: one study for each start model, with the interval over the starts.

Each start counts once: its value is the mean over its seeds.
"""
import pathlib

from ..command_line import make_parser, run
from ..error import Error
from ..estimates import mean_interval
from .load import load_study
from .report import aligned, interval_text
from .results import ACCURACY

_HEADS = ["row", "starts", "accuracy", "each start", "difference", "each start", "pairs above"]


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
    print(starts_text([load_study(directory) for directory in parser.parse_args().directories]), end="")
    return 0


if __name__ == "__main__":
    run("study.starts", main)
