"""The responses that are judged: a seeded sample of a run's responses, stratified over its steps, or of a file's rows."""
import argparse
import pathlib
from typing import NamedTuple

import numpy as np

from ..command_line import number, number_range, output_file, print_notes, without_open_end
from ..error import Error
from ..random_bits import JUDGE_STREAM, random_bits
from ..rows import field, read_rows, required_text, turn_of
from ..run import Run

_COLUMNS = 4


class SampledResponse(NamedTuple):
    step: int
    place: str  # "step 12, group 3, sample 0" or "rows.jsonl:7"
    prompt: str
    response: str
    is_cut: bool  # the response is longer than --max-bytes


class Sample(NamedTuple):
    """The responses that were drawn from one run or file."""

    source: str
    ranges: list  # first and last step of each column of the table
    responses: list

    def steps(self):
        return np.array([one.step for one in self.responses])


def _source(text):
    path = pathlib.Path(text)
    if text.endswith("/") and not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text}: is not a directory")
    return path


def add_arguments(parser, samples):
    """Adds the arguments that choose responses; `samples` is the default number."""
    parser.add_argument("sources", nargs="+", type=_source, metavar="RUN_DIR|FILE",
                        help="run directories, or JSONL files of prompt and response (and step)")
    parser.add_argument("--samples", type=number(int, 0), default=samples,
                        help="responses of each source, spread over its steps; 0: all")
    parser.add_argument("--seed", type=number(int, 0), default=1, help="seed of the draw of responses")
    parser.add_argument("--steps", type=number_range("--steps"), action="append", default=[],
                        help="only these, such as 40, 31-40 or 31-; may be repeated: each range is a column; default: all "
                        "steps, as four columns")
    parser.add_argument("--evaluation", action="store_true",
                        help="a run's evaluation responses instead of those of training")
    parser.add_argument("--max-bytes", type=number(int, 1000, 100_000_000), default=60000,
                        help="a longer response is read without its middle")
    parser.add_argument("--json", type=output_file, help="write tables and rows to this file")


def _default_ranges(steps):
    """Returns the distinct steps as at most four ranges of nearly equal size."""
    distinct = np.unique(steps).tolist()
    count = min(len(distinct), _COLUMNS)
    return [(distinct[len(distinct) * i // count], distinct[len(distinct) * (i + 1) // count - 1])
            for i in range(count)]


def draw(step, group, sample, ranges, count, seed):
    """Returns the indices of the drawn responses, ascending. Each range contributes `count` / ranges, or all it has.
    Within a range every step gives one before any gives two. A larger `count` draws the same and more. 0 draws all."""
    lots = random_bits(seed, JUDGE_STREAM, step, group, sample)
    drawn = []
    for r, (first, last) in enumerate(ranges):
        index = np.flatnonzero((first <= step) & (step <= last))
        index = index[np.lexsort((index, lots[index], step[index]))]
        turn = np.arange(len(index)) - np.searchsorted(step[index], step[index])  # rank within its step
        order = index[np.lexsort((index, lots[index], turn))]
        drawn.append(order[:count // len(ranges) + (r < count % len(ranges))] if count else order)
    return np.unique(np.concatenate(drawn)) if drawn else np.empty(0, np.int64)


def without_middle(text, most_bytes):
    """Returns the text, or its first and last bytes around a note if it has more than `most_bytes`. Cuts no character."""
    data = text.encode()
    if len(data) <= most_bytes:
        return text

    def start_of_character(at):
        while data[at] & 0xC0 == 0x80:
            at -= 1
        return at
    head, tail = start_of_character(most_bytes - most_bytes // 2), start_of_character(len(data) - most_bytes // 2)
    return f"{data[:head].decode()}\n[... {tail - head} bytes left out here ...]\n{data[tail:].decode()}"


def _drawn(source, places, choice, read):
    """`places`: step, group and sample of each response. `read` returns places, prompts and responses of indices."""
    step, group, sample = (np.asarray(column, np.int64) for column in places)
    last = int(step.max(initial=0))
    ranges = [without_open_end(one, last) for one in choice.steps] or _default_ranges(step)
    index = draw(step, group, sample, ranges, choice.samples, choice.seed)
    if len(index) == 0:
        what = "evaluation responses" if choice.evaluation else "responses"
        raise Error(f"{source}: holds no {what}{' of these --steps' if choice.steps else ''}")
    responses = [SampledResponse(int(step[i]), place, prompt, without_middle(response, choice.max_bytes),
                                 len(response.encode()) > choice.max_bytes)
                 for i, (place, prompt, response) in zip(index, read(index))]
    return Sample(str(source), ranges, responses)


def _sample_of_run(directory, choice):
    run = Run(directory)
    print_notes(run)
    columns = run.samples(["purpose", "step", "group", "sample"])
    rows = np.flatnonzero(columns["purpose"] == int(choice.evaluation))
    places = [columns[name][rows] for name in ("step", "group", "sample")]

    def read(index):
        texts = run.texts(rows[index])
        named = (f"step {step}, group {group}, sample {sample}"
                 for step, group, sample in zip(*(column[index] for column in places)))
        return zip(named, texts["prompt"], texts["response"])
    return _drawn(directory, places, choice, read)


def _step_of(row, place):
    step = row.get("step")
    if step is not None and type(step) is not int:
        raise Error(f"{place}: field step: expected an integer; correct the row")
    return step or 0


def _prompt_of(row, place):
    """Returns the prompt of a row as text. Chat messages become "role: content", one after another; a single one becomes
    its content."""
    prompt = field(row, "prompt")
    if not isinstance(prompt, list):
        return required_text(row, "prompt", place)
    try:
        turns = [turn_of(message) for message in prompt]
        if not turns or not all(isinstance(turn["content"], str) for turn in turns):
            raise TypeError
    except (TypeError, KeyError) as error:
        raise Error(f"{place}: field prompt: expected a text, or a list of messages with role and content; correct the "
                    "row") from error
    if len(turns) == 1:
        return turns[0]["content"]
    return "\n\n".join(f"{turn['role']}: {turn['content']}" for turn in turns)


def _sample_of_file(path, choice):
    if choice.evaluation:
        raise Error(f"{path}: --evaluation applies to runs, not to files")
    rows, steps = [], []
    for place, row in read_rows(path):
        rows.append((place, _prompt_of(row, place), required_text(row, "response", place)))
        steps.append(_step_of(row, place))
    places = steps, np.arange(len(rows)) + 1, np.zeros(len(rows))
    return _drawn(path, places, choice, lambda index: [rows[i] for i in index])


def draw_sample(source, choice):
    """Draws from a run directory, or from a file of rows with "prompt" (a text or chat messages), "response" and perhaps
    "step". `choice` holds the values of add_arguments(). Prints the notes of a run. Raises Error if there is nothing to
    draw, or no tokenizer to decode a run's responses."""
    return _sample_of_run(source, choice) if source.is_dir() else _sample_of_file(source, choice)
