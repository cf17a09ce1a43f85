"""All trajectory files of a run: every learner's segments merged in canonical order, as by
common/trajectory/run_reader.cpp."""
import collections
import re

import numpy as np

from .error import Error
from .json_lines import read_json_lines
from .segment import OpenFiles, Segment, damaged

_KEY = ("purpose", "step", "group", "sample")  # of a response, in canonical order
_NAME = re.compile(r"learner-(\d+)-segment-(\d+)\.h5")


def _segment_paths(directory):
    """Returns the trajectory files by start step and learner."""
    found = [(_NAME.fullmatch(path.name), path) for path in directory.glob("*.h5")]
    return [path for _, _, path in sorted((int(m[2]), int(m[1]), path) for m, path in found if m)]


def _missing_note(entry):
    """Returns the file of a line of index.jsonl and a note about its loss; None if it was removed on purpose."""
    first, last = entry["first_step"], entry["last_step"]
    steps = f"step {first}" if first == last else f"steps {first} to {last}"
    note = f"{entry['file']} is missing: it held {steps} of learner {entry['learner']}"
    return None if entry.get("removed") else (entry["file"], note)


def _missing_notes(directory):
    """Returns a note for each file that index.jsonl lists and that is missing."""
    index = directory / "index.jsonl"
    if not index.exists():
        return []
    try:
        known = filter(None, read_json_lines(index, _missing_note, "a file, its learner and steps"))
        return [note for file, note in known if not (directory / file).exists()]
    except Error as error:
        return [f"{error}: missing files would not be noticed"]


def _lost_notes(directory, held):
    """Returns a note for each range of steps between those of files, `held`, that no file holds and no line of index.jsonl
    names: the file was lost together with its line. A log may begin with any step."""
    known, index = set(held), directory / "index.jsonl"
    try:
        if index.exists():
            known.update(*read_json_lines(index, lambda entry: range(entry["first_step"], entry["last_step"] + 1), "steps"))
    except Error:
        return []  # _missing_notes() says so
    between = [step for step in sorted(known) if min(held, default=0) <= step <= max(held, default=0)]
    lost = [(before + 1, step - 1) for before, step in zip(between, between[1:]) if step > before + 1]
    return [f"no file holds step{f' {first}' if first == last else f's {first} to {last}'}" for first, last in lost]


def _keep_common_steps(segments):
    """Keeps the steps that all of these segments have. The segments start at the same step, but the learners of a killed
    job may have logged up to different ones. Step 0, which only learner 0 logs, is kept. Returns a note for the steps
    that are left out."""
    start, expected = segments[0].starts_after, segments[0].learners
    last = [int(segment.steps[-1]) if len(segment.steps) else -1 for segment in segments]
    common = max(0, min(last)) if len(segments) >= expected else 0
    for segment in segments:
        segment.keep_steps_up_to(common)
    if common >= max(last):
        return []
    return [f"steps after {max(common, start)} up to {max(last)} are not in the files of all {expected} learners and are "
            "excluded"]


def _group_keys(segment, table):
    """Returns one number for each row's (purpose, step, group)."""
    purpose, step, group = (segment.column(f"{table}/{name}") for name in ("purpose", "step", "group"))
    return (step << 33) + (group << 1) + purpose


def _problem_rows(segment):
    """Returns the row of /problem of each row of /sample."""
    problems, samples = _group_keys(segment, "problem"), _group_keys(segment, "sample")
    order = np.argsort(problems, kind="stable")
    place = np.searchsorted(problems[order], samples, side="right") - 1
    if len(samples) and (place.min() < 0 or (problems[order][place] != samples).any()):
        raise damaged(segment.path, "responses have no row in /problem")
    return order[place]


class Log:
    """The responses of the steps that every learner completed, [N] in canonical order: purpose, step, group, sample."""

    def __init__(self, directory):
        self.notes = _missing_notes(directory)
        files = OpenFiles()
        self.segments = [Segment(path, files) for path in _segment_paths(directory)]
        held = {int(step) for segment in self.segments for step in segment.steps} - {0}
        self._keep_common_steps()
        self.notes += _lost_notes(directory, held)
        # Reward terms that the first segment lacks come last. Further numbers are sorted by name.
        self.rewards = list(dict.fromkeys(name for segment in self.segments for name in segment.rewards))
        self.numbers = sorted({name for segment in self.segments for name in segment.numbers})
        count = [segment.rows("sample") for segment in self.segments]
        self._order = np.arange(sum(count))
        keys = self.columns(_KEY)
        self._order = np.lexsort([keys[name] for name in _KEY[::-1]])
        self.segment = np.repeat(np.arange(len(count)), count)[self._order]  # [N], index into segments
        self.row = self._merged([np.arange(n) for n in count])  # [N], of /sample in that segment
        self.problem = self._merged([_problem_rows(segment) for segment in self.segments])  # [N], of /problem
        self._check_differ([keys[name][self._order] for name in _KEY])

    def _keep_common_steps(self):
        together = collections.defaultdict(list)
        for segment in self.segments:
            together[segment.starts_after].append(segment)
        for start in sorted(together):
            self.notes += _keep_common_steps(together[start])

    def _merged(self, parts):
        """Merges one part per segment in canonical order."""
        return np.concatenate(parts)[self._order] if parts else np.empty(0, np.int64)

    def _check_differ(self, keys):
        same = np.logical_and.reduce([key[1:] == key[:-1] for key in keys])
        if not same.any():
            return
        at = int(np.argmax(same))
        one, other = (self.segments[self.segment[i]].path for i in (at, at + 1))
        _, step, group, sample = (key[at] for key in keys)
        raise Error(f"{one} and {other}: both hold step {step} group {group} sample {sample}; remove the one that does "
                    "not belong to this run")

    def sample_columns(self):
        """Returns the names of all columns of /sample that do not point into the file: the key, the others, terms and
        numbers."""
        first = ["step", "group", "sample", "purpose", "problem"]
        named = [f"reward_{name}" for name in self.rewards] + self.numbers
        names = [name for segment in self.segments[:1] for name in segment.columns("sample")]
        return first + [n for n in names if n not in first + named and not n.endswith(("_offset", "run_count"))] + named

    def columns(self, names):
        """Returns columns of /sample, [N] each; NaN where a segment lacks a reward term or a number."""
        parts = [[self._part(segment, name) for name in names] for segment in self.segments]
        return {name: self._merged([part[i] for part in parts]) for i, name in enumerate(names)}

    def _part(self, segment, name):
        for prefix, of_run, own, dtype in (("reward_", self.rewards, segment.rewards, np.float32),
                                           ("", self.numbers, segment.numbers, np.float64)):
            plain = name[len(prefix):]
            if name.startswith(prefix) and plain in of_run and plain not in own:
                return np.full(segment.rows("sample"), np.nan, dtype)
        return segment.column(f"sample/{name}")

    def about(self, name):
        """Returns what a column of /sample holds, with its unit."""
        holder = next(segment for segment in self.segments if name in segment.columns("sample"))
        return holder.about(f"sample/{name}")

    def parts(self, samples, owner, packed):
        """Returns each response's part of a packed column. `owner` names the table and field that own it: "sample/token",
        "problem/gold"."""
        rows = self.row if owner.startswith("sample/") else self.problem
        return self._by_segment(samples, lambda segment, at: segment.parts(owner, packed, rows[at]))

    def problem_values(self, samples, name):
        """Returns the value of a column of /problem for each response."""
        return self._by_segment(samples, lambda segment, at: segment.values(f"problem/{name}", self.problem[at]))

    def versions_of_tokens(self, samples):
        """Returns for each response the policy version of every token."""
        return self._by_segment(samples, lambda segment, at: segment.versions_of_tokens(self.row[at]))

    def _by_segment(self, samples, read):
        parts = [None] * len(samples)
        for s in np.unique(self.segment[samples]):
            at = np.flatnonzero(self.segment[samples] == s)
            for i, part in zip(at, read(self.segments[s], samples[at])):
                parts[i] = part
        return parts

    def steps(self):
        """Returns the columns of /step that do not point into the file. Those of a step of several learners are the first's."""
        names = [name for segment in self.segments[:1] for name in segment.columns("step") if not name.endswith("_end")]
        columns = {name: np.concatenate([s.column(f"step/{name}") for s in self.segments])
                   for name in sorted(names, key=lambda name: name != "step")}
        first = np.unique(columns["step"], return_index=True)[1] if columns else []
        return {name: values[first] for name, values in columns.items()}
