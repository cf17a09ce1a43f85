"""The rows of a study: what is run, what it mirrors in the paper, and what it is compared with."""
from typing import NamedTuple

import yaml

from ..error import Error


class _TextLoader(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
    """Reads every scalar as the text that the file has."""


def _flat(value, prefix):
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _flat(part, f"{prefix}.{name}" if prefix else name)
    else:
        yield prefix, ", ".join(value) if isinstance(value, list) else value


def settings_of(path):
    """Returns the settings of a YAML file by full key, as texts in their order."""
    try:
        found = yaml.load(path.read_text(encoding="utf-8"), _TextLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise Error(f"cannot read {path}: {error}") from error
    return dict(_flat(found or {}, ""))


# Keys whose value `auto` another key decides; a run's config holds the value.
_DECIDED_BY = {"policy_loss.aggregation": "policy_loss.algorithm", "policy_loss.constant_divisor": "policy_loss.algorithm"}


class Row(NamedTuple):
    """A training config under these settings, run with several seeds."""

    name: str
    table: str  # rows of one title are shown together
    paper: str  # what it mirrors
    against: str  # the row it is compared with, seed by seed; empty: none
    settings: dict  # full keys of the training config

    def sets(self, key):
        """Returns whether the row decides the value of a full key. A preset decides the keys of its section."""
        presets = (preset.removesuffix("preset") for preset in self.settings if preset.endswith(".preset"))
        return key in self.settings or _DECIDED_BY.get(key) in self.settings or any(map(key.startswith, presets))


def load_rows(path):
    """Reads a file such as configs/study/rows.yaml: a section for each row, in their order. Raises Error if a row has no
    table, or `against` names no row."""
    sections = {}
    for key, value in settings_of(path).items():
        name, dot, inner = key.partition(".")
        if not dot:
            raise Error(f"{path}: {key} is no row; write its keys under it, indented")
        sections.setdefault(name, {})[inner] = value
    rows = []
    for name, section in sections.items():
        rows.append(Row(name, *(section.pop(key, "") for key in ("table", "paper", "against")), section))
        if not rows[-1].table:
            raise Error(f'{path}: row {name} has no table; add "table: TITLE"')
    for row in rows:
        if row.against and row.against not in sections:
            raise Error(f"{path}: row {row.name} is compared with {row.against}, which is no row")
    return rows


def overrides_text(rows):
    """Returns one line for each row, for scripts: its name and key=value of its settings, separated by tabs."""
    return "".join("\t".join([row.name] + [f"{key}={value}" for key, value in row.settings.items()]) + "\n" for row in rows)
