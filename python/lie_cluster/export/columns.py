"""The columns of an export."""
from typing import Callable, NamedTuple

import numpy as np

from ..error import Error
from ..metric_names import VERDICTS
from .batches import EVALUATE



class Column(NamedTuple):
    name: str
    example: object  # a value of the column's type
    values: Callable  # from a Batch to a list of Python values
    is_default: bool = True


def _numbers(values):
    """Returns finite numbers, and None for others. A float32 becomes the shortest decimal that reads back as itself."""
    values = np.asarray(values)
    exact = values.astype(str).astype(float) if values.dtype == np.float32 else values.astype(float)
    return [value if np.isfinite(value) else None for value in exact.tolist()]


def _plain(name, example):
    return Column(name, example, lambda batch: batch[name].tolist())


def _number(name):
    """A column of numbers that a run may lack."""
    return Column(name, 0.0, lambda batch: _numbers(batch[name]) if name in batch else [None] * len(batch))


def _text(name):
    return Column(name, "", lambda batch: batch.text(name))


def _named(name, names, source):
    return Column(name, "", lambda batch: [names[code] for code in batch[source].tolist()])


def _masked(values, mask):
    return [value if kept else None for value, kept in zip(values, mask)]


def _is_result(batch):
    """Returns which responses have results of the learner. Those of evaluations have none."""
    return batch["purpose"] != EVALUATE


def _reference_lengths(batch):
    lengths = batch["reference_length"]
    return _masked(_numbers(lengths), lengths >= 0)


def _learner_log_probs(batch):
    """Returns the log-probs of each response, or None if the learner did not train on it."""
    found = batch.tokens("learner_log_probs")
    return [None if np.isnan(values).all() else _numbers(values) for values in found]


def _token_column(name, example, values):
    return Column(name, [example], values, is_default=False)


def response_columns(runs):
    """Returns all columns, including those for every reward term and further number of the runs."""
    named = dict.fromkeys(name for logged in runs for name in logged.run.reward_terms)
    named.update(dict.fromkeys(name for logged in runs for name in logged.run.numbers))
    ids = [_token_column(name, 0, lambda batch, field=field: [part.tolist() for part in batch.tokens(field)])
           for name, field in (("prompt_ids", "prompt_ids"), ("response_ids", "ids"))]
    return [
        Column("run", "", lambda batch: [str(batch.logged.directory)] * len(batch)),
        _plain("step", 0), _named("kind", ("train", "eval"), "purpose"), _plain("group", 0), _plain("sample", 0),
        _plain("problem", 0), _text("data_source"), _text("prompt"), _text("gold"),
        Column("reference_length", 0.0, _reference_lengths), _text("response"),
        Column("tokens", 0, lambda batch: batch["token_count"].tolist()),
        _named("finish_reason", ("end_of_sequence", "length"), "finish_reason"), _named("verdict", VERDICTS, "verdict"),
        Column("right", False, lambda batch: batch.right.tolist()), _text("extracted"), _number("target_length"),
        _plain("distinct_ngrams", 0), _plain("ngrams", 0), _plain("largest_repeat", 0), _number("reward"),
        *map(_number, named),
        Column("advantage", 0.0, lambda batch: _masked(_numbers(batch["advantage"]), _is_result(batch))),
        Column("sequence_log_ratio", 0.0,
               lambda batch: _masked(_numbers(batch["sequence_log_ratio"]), _is_result(batch) & (batch["mini_batch"] >= 0))),
        Column("clipped", False, lambda batch: _masked((batch["clipped"] != 0).tolist(), _is_result(batch))),
        *ids,
        _token_column("behavior_log_probs", 0.0, lambda batch: list(map(_numbers, batch.tokens("behavior_log_probs")))),
        _token_column("learner_log_probs", 0.0, _learner_log_probs),
    ]


def chosen_columns(columns, names):
    """Returns the columns with these names, in the order of the names. Without names, returns the default columns."""
    if not names:
        return [column for column in columns if column.is_default]
    by_name = {column.name: column for column in columns}
    for name in names:
        if name not in by_name:
            raise Error(f"--columns {name}: no such column; there are {', '.join(by_name)}")
    return [by_name[name] for name in names]
