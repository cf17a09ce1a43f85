"""python -m lie_cluster.study.sources: accuracy by data source, for each row of a study.

Reads ROW/seed-N/table.json of `lie_cluster eval`. A seed counts once; intervals are Student's over the seeds.
"""
import pathlib

from ..command_line import make_parser, run
from ..estimates import mean_interval
from .report import aligned, interval_text
from .tables import load_tables


def load_sources(directory):
    """Returns {row: {data source: (accuracies, mean lengths in tokens)}}, with a number for each seed."""
    rows = {}
    for table in load_tables(directory):
        for of_source in table.lines:
            accuracies, lengths = rows.setdefault(table.row, {}).setdefault(of_source["data_source"], ([], []))
            accuracies.append(of_source["average"]["value"])
            lengths.append(of_source["response_length_mean"])
    return rows


def sources_text(rows):
    """Shows one line for each row and data source."""
    lines = [["row", "data source", "seeds", "accuracy", "tokens", "each seed"]]
    for name, sources in rows.items():
        for source, (accuracies, lengths) in sources.items():
            lines.append([name, source, str(len(accuracies)), interval_text(mean_interval(accuracies)),
                          f"{sum(lengths) / len(lengths):.0f}", " ".join(f"{value:.3f}" for value in accuracies)])
    return aligned(lines)


def main():
    parser = make_parser("study.sources", __doc__)
    parser.add_argument("directory", type=pathlib.Path, help="holds ROW/seed-N/table.json")
    print(sources_text(load_sources(parser.parse_args().directory)), end="")
    return 0


if __name__ == "__main__":
    run("study.sources", main)
