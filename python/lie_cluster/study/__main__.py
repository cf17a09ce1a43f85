"""python -m lie_cluster.study: the rows of scripts/study.sh as tables.

Shows seeds, intervals and differences between matched pairs: a table for each of the paper's, and one HTML file.
"""
import pathlib

from ..command_line import make_parser, output_file, run, write_json, write_text
from .load import load_study
from .page import study_page
from .prompts import both_ways_text, final_shares
from .report import SAVED, study_json, study_text
from .results_file import results_json
from .rows import load_rows, overrides_text
from .tokens import tokens_text


def main():
    parser = make_parser("study", __doc__)
    parser.add_argument("places", nargs="+", type=pathlib.Path,
                        help="directories with rows.yaml and <row>/seed-<n>, and files of --results; they are joined")
    parser.add_argument("--json", type=output_file, help="write the tables with all intervals")
    parser.add_argument("--html", type=output_file, help="where to write the page; default: study.html in the first directory")
    parser.add_argument("--results", type=output_file, help="write what the tables need of each finished run, for another "
                        "computer to join")
    parser.add_argument("--overrides", action="store_true",
                        help="only print each row's name and overrides, one row per line, separated by tabs")
    parser.add_argument("--prompts", action="store_true",
                        help="also show intervals over seeds and prompts, which takes a second or two a run")
    parser.add_argument("--tokens", type=int, help="also compare the rows after this number of generated tokens")
    options = parser.parse_args()
    if options.overrides:
        print(overrides_text(load_rows(options.places[0] / "rows.yaml")), end="")
        return 0
    study = load_study(*options.places)
    if options.json:
        write_json(options.json, study_json(study))
    if options.results:
        write_json(options.results, results_json(study, SAVED, final_shares))
    text = study_text(study)
    if options.prompts:
        text += both_ways_text(study)
    if options.tokens is not None:
        text += tokens_text(study, options.tokens)
    directory = next(filter(pathlib.Path.is_dir, options.places), None)
    page = options.html or (directory / "study.html" if directory else None)
    if page:
        write_text(page, study_page(study))
        text += f"page: {page}\n"
    print(text, end="")
    return 0


if __name__ == "__main__":
    run("study", main)
