"""python -m lie_cluster.export: logged responses as a data set, Parquet or JSONL, as TRL and verl read it."""
import pathlib
import sys

import yaml

from ..command_line import make_parser, number, number_range, output_file, print_notes, require_distinct, run
from ..error import Error
from .batches import LoggedRun
from .row_file import is_named_parquet, write_rows
from .shapes import SHAPES


def _parser():
    parser = make_parser("export", __doc__)
    parser.add_argument("runs", nargs="+", type=pathlib.Path, metavar="RUN_DIR",
                        help="run directories of lie_cluster train")
    parser.add_argument("--output", type=output_file, required=True, help="FILE.parquet, or FILE.jsonl")
    parser.add_argument("--overwrite", action="store_true", help="replace the file if it exists")
    parser.add_argument("--as", "--shape", dest="shape", choices=SHAPES, default="responses",
                        help="responses: one row per response; sft: prompt and completion; messages: a chat; pairs: prompt, "
                        "chosen and rejected; problems: each problem once")
    parser.add_argument("--columns", type=lambda text: text.split(","), default=[],
                        help="only responses: step,reward,response,...")
    parser.add_argument("--best", type=number(int, 0), default=1,
                        help="only sft and messages: this many correct responses of each group, those of highest reward; "
                        "0: all")
    parser.add_argument("--messages", action="store_true",
                        help="only sft and pairs: chat messages, from the run's data files; without it, texts, where "
                        "the template surrounds the prompt")
    parser.add_argument("--steps", type=number_range("--steps"), help="only these: 5-10, 5-, -10 or 7; default: all")
    parser.add_argument("--kind", choices=("train", "eval", "all"), default="train",
                        help="groups of training, of evaluation, or both")
    parser.add_argument("--least-accuracy", type=number(float, 0, 1), default=0.0,
                        help="only groups with at least this share of correct responses")
    parser.add_argument("--most-accuracy", type=number(float, 0, 1), default=1.0,
                        help="only groups with at most this share")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        help="where the run's data and tokenizer are now: data.* and model.path; may be repeated")
    return parser


def _check(options):
    if options.columns and options.shape != "responses":
        raise Error("--columns: only --as responses has columns to choose")
    if options.best != 1 and options.shape not in ("sft", "messages"):
        raise Error("--best: only --as sft and --as messages take the best responses of a group")
    if options.messages and options.shape not in ("sft", "pairs"):
        raise Error("--messages: only --as sft and --as pairs have a choice between messages and texts")
    if not is_named_parquet(options.output) and options.output.suffix != ".jsonl":
        raise Error(f"--output {options.output}: rows are written as FILE.parquet or FILE.jsonl; name it so")
    if options.output.exists() and not options.overwrite:
        raise Error(f"--output {options.output} exists: name another file, or give --overwrite")


def _overrides(texts):
    overrides = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise Error(f"--set {text}: expected KEY=VALUE")
        overrides[key] = yaml.safe_load(value)
    return overrides


class _Counted:
    """Iterates over rows and counts them. Raises Error at the end if there was none, so that no file is written."""

    def __init__(self, rows, options, shape):
        self.rows, self._options, self._shape, self.count = rows, options, shape, 0

    def outcome(self):
        text = f"{self.count} rows of {self._shape.groups} groups"
        return text + "".join(f"; {count} {reason} left out" for reason, count in sorted(self._shape.left_out.items()))

    def __iter__(self):
        for row in self.rows:
            self.count += 1
            yield row
        if self.count == 0:
            raise Error(f"{self._options.output}: nothing is written: {self.outcome()}")


def _rows(shape, runs, options):
    """Yields the rows by run, step, kind (training first), group and sample."""
    steps = options.steps or number_range("--steps")("")
    for logged in runs:
        for batch in logged.batches(*steps, options.kind):
            yield from shape.rows(batch)
    yield from shape.rest()


def main():
    options = _parser().parse_args()
    _check(options)
    require_distinct(options.runs)
    overrides = _overrides(options.set)
    runs = [LoggedRun(directory, overrides) for directory in options.runs]
    for logged in runs:
        print_notes(logged.run)
    shape = SHAPES[options.shape](options, runs)
    rows = _Counted(_rows(shape, runs, options), options, shape)
    write_rows(options.output, rows, shape.example)
    for note in shape.notes():
        print(f"{options.output}: {note}", file=sys.stderr)
    print(f"{options.output}: {rows.outcome()}")
    return 0


if __name__ == "__main__":
    run("export", main)
