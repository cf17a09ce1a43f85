"""A run directory."""
import difflib
import math
import pathlib
import re
from typing import NamedTuple

import numpy as np
import yaml

from .error import Error
from .frame import as_frame
from .json_lines import read_json_lines, valid_json_lines
from .log import Log
from .metric_names import present_metric_name
from .tokenizer import Decoder


class Tokens(NamedTuple):
    """The tokens of one response."""

    prompt_ids: np.ndarray  # [P]
    ids: np.ndarray  # [T]
    behavior_log_probs: np.ndarray  # [T], nats
    learner_log_probs: np.ndarray  # [T], nats; NaN: not trained on
    policy_versions: np.ndarray  # [T], training steps of the weights that sampled each token


class _Loader(yaml.SafeLoader):
    """Reads 1e-08 as a number. PyYAML reads it as a text, because YAML 1.1 requires a point."""


_Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$"),
                              list("-+0123456789"))


_SHOWN_METRICS = ("step", "accuracy", "eval_accuracy", "response_length_mean")
_TEXTS = {"prompt": "problem/text", "gold": "problem/gold", "data_source": "problem/data_source",
          "extracted": "sample/extracted"}


def _require_a_run(directory):
    if not directory.is_dir():
        raise Error(f"{directory}: no such directory; give the run.directory of a training run")
    if not any((directory / part).exists() for part in ("config.yaml", "metrics.jsonl", "trajectories")):
        raise Error(f"{directory}: holds neither config.yaml nor metrics.jsonl nor trajectories/; give the run.directory "
                    "of a training run")


def metric_row(row):
    """Returns the numbers of a line of metrics.jsonl under their present names, NaN where it has null."""
    values = {present_metric_name(name): math.nan if v is None else float(v) for name, v in row.items()}
    return {**values, "step": int(row["step"])}


METRIC_LINE = 'one flat JSON object of numbers with a "step"'
_CHECKPOINT = re.compile(r"step-\d+")  # not those that were renamed because they are damaged


def read_metrics(path):
    """Returns the rows of a metrics.jsonl: dicts of numbers, NaN where the file has null. Raises Error for a damaged
    line."""
    return read_json_lines(path, metric_row, METRIC_LINE)


class Run:
    """A run directory as it is at construction: the responses of all steps that are complete in the files of all
    learners. Construct another Run to see what a running job has added. `notes` says what is missing, and why. Raises
    Error naming file and remedy if nothing can be read. Columns come as a dict of NumPy arrays, or as a frame ("pandas",
    "polars")."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        _require_a_run(self.directory)
        self._log = Log(self.directory / "trajectories")
        self._decoders = {}
        self._valid_metrics = None

    def __repr__(self):
        """Says what the run holds: Run("runs/demo/lie"): 60 steps, 38912 samples, last metrics: step 60, accuracy 0.861."""
        steps = self.steps().get("step", np.empty(0, np.int64))
        return (f'Run("{self.directory}"): {np.count_nonzero(steps)} steps, {len(self._log.row)} samples, last metrics: '
                f"{self._last_metrics()}" + (f", {len(self.notes)} notes" if self.notes else ""))

    def _last_metrics(self):
        try:
            metrics = self.metrics()
        except Error:
            return "none"
        known = (name for name in _SHOWN_METRICS if name in metrics and np.isfinite(metrics[name]).any())
        last = (f"{name} {metrics[name][np.isfinite(metrics[name])][-1]:.4g}" for name in known)
        return ", ".join(last) or "none"

    @property
    def notes(self):
        """Returns a sentence for each thing that is left out or lost; empty if nothing is."""
        return self._log.notes + self._read_metrics()[1]

    @property
    def reward_terms(self):
        """Returns the columns of samples() that hold reward terms, in the order of their sum."""
        return [f"reward_{name}" for name in self._log.rewards]

    @property
    def numbers(self):
        """Returns the columns of samples() that hold further numbers of reward and verifier programs, and of coverage."""
        return list(self._log.numbers)

    @property
    def config(self):
        """Returns every setting: config["reward"]["length"]["eta"]. They come from config.yaml, or else from the log."""
        path = self.directory / "config.yaml"
        if path.exists():
            return yaml.load(path.read_text(), _Loader)
        if not self._log.segments:
            raise Error(f"{path}: no such file, and no trajectory file that would say the settings")
        return yaml.load(self._log.segments[0].config, _Loader)

    def _read_metrics(self):
        """Returns the rows of the intact lines of metrics.jsonl by step, and a note for each damaged one. The first call
        reads the file."""
        path = self.directory / "metrics.jsonl"
        if self._valid_metrics is None:
            text = path.read_text(errors="replace") if path.exists() else ""
            rows, damage = valid_json_lines(text, path, metric_row, METRIC_LINE)
            notes = [f"{one}; the line is left out, and the next start of the run repairs the file" for one in damage]
            self._valid_metrics = sorted(rows, key=lambda row: row["step"]), notes
        return self._valid_metrics

    def metrics(self, frame=None):
        """Returns metrics.jsonl, a row per step; NaN where a step lacks a metric. An unfinished last line is left out, and
        so are damaged lines, which `notes` names. Raises Error if the file is missing."""
        path = self.directory / "metrics.jsonl"
        if not path.exists():
            raise Error(f"{path}: no such file; the responses themselves are in samples(), and lie_analyze makes curves of "
                        "them")
        rows = self._read_metrics()[0]
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: np.array([row.get(name, math.nan) for row in rows]) for name in names}
        if rows:
            columns["step"] = columns["step"].astype(np.int64)
        return as_frame(columns, frame)

    def steps(self, frame=None):
        """Returns the steps of the log and their times, ascending; of several learners, the times of the first one."""
        return as_frame(self._log.steps(), frame)

    def samples(self, columns=None, frame=None, texts=False):
        """Returns the responses, [N] in canonical order: purpose (0 train, 1 evaluate), step, group, sample. `columns`
        names the wanted columns; about() lists all. `texts` adds the columns of texts()."""
        known = self._log.sample_columns()
        for name in columns or ():
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                raise Error(f'no column "{name}"' + (f', but "{near[0]}"' if near else "") + "; about() lists them")
        found = self._log.columns(known if columns is None else columns)
        if texts:
            found.update((name, np.array(values, object)) for name, values in self.texts().items())
        return as_frame(found, frame)

    def last_evaluation(self):
        """Returns the indices of the rows of samples() that belong to the last evaluation, ascending:
        samples()["reward"][last_evaluation()]. Raises Error if there is none."""
        columns = self._log.columns(["purpose", "step"])
        evaluated = columns["purpose"] == 1
        if not evaluated.any():
            raise Error(f"{self.directory}: its trajectory files hold no evaluation; evaluation.every switches it on")
        return np.flatnonzero(evaluated & (columns["step"] == columns["step"][evaluated].max()))

    def about(self):
        """Returns what each column of samples() holds: name to sentence and unit."""
        return {name: self._log.about(name) for name in self._log.sample_columns()}

    def _indices(self, samples):
        """Returns the rows of samples() that an index, indices or a mask select, [N]. Raises Error for anything else."""
        given = np.atleast_1d(np.asarray(samples))
        if given.ndim == 1 and given.dtype == bool and np.ndim(samples):
            if len(given) != len(self._log.row):
                raise Error(f"{self.directory}: a mask of {len(given)} values, but samples() has {len(self._log.row)} rows; "
                            "give a mask over all rows, or the indices of rows")
            return np.flatnonzero(given)
        if given.ndim != 1 or len(given) and not np.issubdtype(given.dtype, np.integer):
            raise Error(f"{self.directory}: expected the index of a row of samples(), a list of indices, or a mask over all "
                        f"rows; found {given.dtype} of shape {np.shape(samples)}")
        return given.astype(np.int64)

    def tokens(self, samples):
        """Returns the Tokens of a row of samples(); of several rows, or of a mask over all, a list that is read at once."""
        rows = self._indices(samples)
        columns = [self._log.parts(rows, "problem/prompt", "prompt/id")]
        columns += [self._log.parts(rows, "sample/token", f"token/{name}")
                    for name in ("id", "behavior_log_prob", "learner_log_prob")]
        columns.append(self._log.versions_of_tokens(rows))
        tokens = [Tokens(*parts) for parts in zip(*columns)]
        return tokens if np.ndim(samples) else tokens[0]

    def texts(self, samples=None, tokenizer=None, frame=None, special_tokens=True):
        """Returns prompt, gold, data_source, response and extracted answer of rows `samples` of samples(), of all by
        default: columns, also of a single row. `samples` are an index, indices or a mask over all rows. `tokenizer` is the
        directory of tokenizer.json, by default the last checkpoint's, else the start model's. `special_tokens`: whether a
        response shows them, such as its end of sequence."""
        rows = np.arange(len(self._log.row)) if samples is None else self._indices(samples)
        decode = self._decoder(tokenizer, special_tokens) if len(rows) else None
        columns = {name: self._logged_texts(rows, name) for name in _TEXTS}
        columns["response"] = [decode(ids) for ids in self._log.parts(rows, "sample/token", "token/id")]
        return as_frame(columns, frame)

    def _logged_texts(self, rows, name):
        return [part.tobytes().decode("utf-8", "replace") for part in self._log.parts(rows, _TEXTS[name], "text/bytes")]

    def prompt_tokens_dropped(self, samples):
        """Returns how many tokens the prompts of rows `samples` of samples() lost from their start, [N]: those beyond
        rollout.max_prompt_tokens."""
        values = self._log.problem_values(self._indices(samples), "prompt_tokens_dropped")
        return np.array(values, np.int64)

    def prompts_as_read(self, samples, tokenizer=None):
        """Returns the prompts of rows `samples` of samples() as the model read them. A prompt that lost tokens is the text of
        those that were left; texts() has the whole one. `tokenizer`: as in texts()."""
        rows = self._indices(samples)
        prompts, cut = self._logged_texts(rows, "prompt"), np.flatnonzero(self.prompt_tokens_dropped(rows))
        decode = self._decoder(tokenizer, True) if len(cut) else None
        for i, ids in zip(cut.tolist(), self._log.parts(rows[cut], "problem/prompt", "prompt/id")):
            prompts[i] = decode(ids)
        return prompts

    def problem_keys(self, samples):
        """Returns what makes a response's problem the same as another's: tuples of data_source, prompt and gold of rows
        `samples` of samples(). Equal rows of a data file are one problem. Needs no tokenizer."""
        rows = self._indices(samples)
        return list(zip(*(self._logged_texts(rows, name) for name in ("data_source", "prompt", "gold"))))

    def _decoder(self, tokenizer, special_tokens):
        key = str(tokenizer), special_tokens
        if key not in self._decoders:
            self._decoders[key] = self._make_decoder(tokenizer, special_tokens)
        return self._decoders[key]

    def _make_decoder(self, tokenizer, special_tokens):
        found = (self.directory / "checkpoints").glob("step-*")
        checkpoints = sorted((path for path in found if _CHECKPOINT.fullmatch(path.name)), key=lambda path: int(path.name[5:]))
        start_model = (self.config.get("model") or {}).get("path")
        likely = [tokenizer] if tokenizer else checkpoints[::-1] + ([start_model] if start_model else [])
        for directory in map(pathlib.Path, likely):
            if (directory / "tokenizer.json").exists():
                return Decoder(directory / "tokenizer.json", self._log.segments[0].tokenizer_sha256, special_tokens)
        where = pathlib.Path(likely[-1]).absolute() if likely else self.directory
        raise Error(f"{where}: holds no tokenizer.json, which turns the responses' token ids into text; restore it, or give "
                    "the start model's directory: texts(tokenizer=DIRECTORY)")
