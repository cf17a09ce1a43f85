"""The responses of one step of a run, as an export reads them."""
import numpy as np

from ..error import Error
from ..run import Run

TRAIN, EVALUATE = 0, 1
_LENGTH = 1  # finish_reason of a response that was cut at the token limit


class LoggedRun:
    """A training run with the columns of all its responses."""

    def __init__(self, directory, overrides):
        """`overrides` maps the keys data.* and model.path to the current places of the data files and the tokenizer.
        Raises Error if the directory holds no training run or no complete training step."""
        for part in ("config.yaml", "trajectories"):  # sft and eval have no log
            if not (directory / part).exists():
                raise Error(f"{directory} holds no run of train ({part} is missing): give the run.directory of one")
        self.directory, self.run = directory, Run(directory)
        self.samples = self.run.samples()
        if not self.samples or not (self.samples["step"] > 0).any():
            raise Error(f"{directory}/trajectories holds no complete training step")
        self.data, self.tokenizer = dict(self.run.config["data"]), overrides.get("model.path")
        for key, value in overrides.items():
            section, _, name = key.partition(".")
            if key != "model.path" and section != "data":
                raise Error(f"--set {key}: an export only reads data.* and model.path")
            if section == "data" and name not in self.data:
                raise Error(f"--set {key}: no such key; there are {', '.join(f'data.{known}' for known in self.data)}")
            if section == "data":
                self.data[name] = value

    def batches(self, first_step, last_step, kind):
        """Yields a Batch for each step of the range, ascending. `kind`: train, eval or all."""
        step, purpose = self.samples["step"], self.samples["purpose"]
        chosen = (first_step <= step) & (step <= last_step)
        if kind != "all":
            chosen &= purpose == (TRAIN if kind == "train" else EVALUATE)
        rows = np.flatnonzero(chosen)
        rows = rows[np.argsort(step[rows], kind="stable")]  # training first, then by group and sample
        for part in np.split(rows, np.flatnonzero(np.diff(step[rows])) + 1):
            if len(part):
                yield Batch(self, part)


class Batch:
    """Responses of a step. `groups` are slices of its responses."""

    def __init__(self, logged, rows):
        self.logged, self.rows = logged, rows
        key = self["purpose"].astype(np.int64) << 40 | self["group"]
        edges = (np.flatnonzero(np.diff(key)) + 1).tolist()
        self.groups = [slice(a, b) for a, b in zip([0, *edges], [*edges, len(rows)])]
        self.right = self["verdict"] == 0
        self.cut = self["finish_reason"] == _LENGTH
        self._texts = self._tokens = self._keys = self._dropped = None

    def __len__(self):
        return len(self.rows)

    def __contains__(self, name):
        return name in self.logged.samples

    def __getitem__(self, name):
        """Returns a column of Run.samples()."""
        return self.logged.samples[name][self.rows]

    def text(self, name):
        """Returns a column of Run.texts(), with the prompts as the model read them. Responses have no special tokens, such
        as the end of sequence."""
        if self._texts is None:
            run, tokenizer = self.logged.run, self.logged.tokenizer
            self._texts = {**run.texts(self.rows, tokenizer, special_tokens=False),
                           "prompt": run.prompts_as_read(self.rows, tokenizer)}
        return self._texts[name]

    def problem_keys(self):
        """Returns the problem of each response as (data_source, prompt, gold), with the whole text of the prompt."""
        if self._keys is None:
            self._keys = self.logged.run.problem_keys(self.rows)
        return self._keys

    def prompt_tokens_dropped(self):
        """Returns how many tokens each response's prompt lost at rollout.max_prompt_tokens."""
        if self._dropped is None:
            self._dropped = self.logged.run.prompt_tokens_dropped(self.rows)
        return self._dropped

    def tokens(self, name):
        """Returns a field of Tokens for each response."""
        if self._tokens is None:
            self._tokens = self.logged.run.tokens(self.rows)
        return [getattr(tokens, name) for tokens in self._tokens]
