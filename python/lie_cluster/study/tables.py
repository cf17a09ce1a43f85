"""The tables of `lie_cluster eval` in ROW/seed-N/table.json, whose means over the seeds can be taken."""
import json
import pathlib
from typing import NamedTuple

from ..command_line import require_distinct
from ..error import Error
from .rows import settings_of

_OF_THE_TABLE = ("evaluation.budgets", "evaluation.ks", "evaluation.confidence", "evaluation.write_texts")


class EvalTable(NamedTuple):
    directory: pathlib.Path  # ROW/seed-N
    lines: list  # one for each data source, then the totals
    settings: dict  # config.yaml as texts by full key; empty: unknown

    @property
    def row(self):
        return self.directory.parent.name

    @property
    def seed(self):
        return self.directory.name

    def measure(self):
        """Returns by name what must be equal for a mean over seeds: data sources, and what is known of the settings."""
        settings = {key: value for key, value in self.settings.items()
                    if key.startswith(("data.", "evaluation.")) and key not in _OF_THE_TABLE}
        return {"data sources": [line["data_source"] for line in self.lines],
                "numbers of problems": [line["problems"] for line in self.lines], **settings}

    def sampled(self):
        """Returns what a row's other tables must not equal: model, adapter and seed of sampling. None if unknown."""
        keys = ("model.path", "model.adapter", "run.seed")
        return tuple(map(self.settings.get, keys)) if self.settings.get("model.path") else None


def _table_of(path):
    config = path.with_name("config.yaml")
    try:
        lines = json.loads(path.read_text(encoding="utf-8"))["rows"]
        table = EvalTable(path.parent, lines, settings_of(config) if config.is_file() else {})
        table.measure()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Error(f"{path} is no table of lie_cluster eval: {error!r}") from error
    return table


def _require_same_measure(first, table):
    other = first.measure()
    for key, value in table.measure().items():
        if other.get(key, value) != value:
            raise Error(f"{table.directory} and {first.directory} differ in {key} ({value}, {other[key]}); evaluate one of "
                        "them again")


def _require_distinct_seeds(tables):
    first = {}
    for table in tables:
        other = first.setdefault((table.row, table.sampled()), table)
        if other is not table and table.sampled():
            raise Error(f"{other.directory} and {table.directory} have the same model and the same run.seed, which would count "
                        "twice; remove one of them")


def load_tables(directory):
    """Returns the EvalTable of each ROW/seed-N, by name. Raises Error if there is none, if two seeds are the same evaluation,
    or if two tables measure something else."""
    paths = sorted(directory.glob("*/*/table.json"))
    if not paths:
        raise Error(f"{directory}: holds no ROW/SEED/table.json of lie_cluster eval")
    require_distinct([path.parent for path in paths])
    tables = [_table_of(path) for path in paths]
    for table in tables:
        _require_same_measure(tables[0], table)
    _require_distinct_seeds(tables)
    return tables
