"""python -m lie_cluster.behaviors: counts sentences with listed phrases, such as "let me check".

The counts are a proxy for the behaviors that python -m lie_cluster.judge counts, and need no server.
"""
import pathlib

from . import __version__
from .command_line import make_parser, run, write_json
from .error import Error
from .judge.measures import BEHAVIORS, prompt_text
from .judge.phrases import count_phrases, parse_phrases
from .judge.sampled_responses import add_arguments, draw_sample
from .judge.summary import cut_line, sample_report, summary_table


def _patterns(path):
    if path is None:
        return parse_phrases(prompt_text("phrases"), "phrases.txt")
    try:
        return parse_phrases(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise Error(f"cannot read {path}: {error}") from error


def main():
    parser = make_parser("behaviors", __doc__)
    add_arguments(parser, samples=0)
    parser.add_argument("--phrases", type=pathlib.Path,
                        help="a list of your own, in the format of lie_cluster/judge/prompts/phrases.txt")
    options = parser.parse_args()
    patterns = _patterns(options.phrases)
    report, tables = {"version": __version__, "sources": []}, ""
    for source in options.sources:
        sample = draw_sample(source, options)
        found = sample_report(sample, [[count_phrases(patterns, one.response)] for one in sample.responses], BEHAVIORS)
        tables += (f"{source}: {len(sample.responses)} responses, sentences with listed phrases (a proxy for behaviors)\n"
                   f"{summary_table(found['ranges'])}{cut_line(found, options.max_bytes)}\n")
        report["sources"].append(found)
    if options.json:
        write_json(options.json, report)
    print(f"{tables}depth and width of the reasoning graph need a judge: python -m lie_cluster.judge")
    return 0


if __name__ == "__main__":
    run("behaviors", main)
