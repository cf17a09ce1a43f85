"""The rows of data files: JSONL, or Parquet by pyarrow."""
import json
import pathlib

from .error import Error


def _number(text):
    raise ValueError(f"{text} is not JSON")


def parse_row(line, place):
    """Parses a line that must be a JSON object of valid Unicode."""
    try:
        row = json.loads(line, parse_constant=_number)
        if not isinstance(row, dict):
            raise ValueError(f"found a line that begins with {line[:20]!r}")
        json.dumps(row, ensure_ascii=False).encode()
        return row
    except (ValueError, RecursionError) as error:
        raise Error(f"{place}: expected a JSON object in a line (JSONL): {error}") from error


def _parquet_rows(path):
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise Error(f"{path}: Parquet needs pyarrow: pip install pyarrow") from error
    for number, row in enumerate(pyarrow.parquet.read_table(path).to_pylist(), 1):
        yield f"{path}:row {number}", row


def _json_rows(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.strip():
            yield f"{path}:{number}", parse_row(line, f"{path}:{number}")


def read_rows(path):
    """Yields the place and the fields of each row. Raises Error naming the place of a damaged one."""
    path = pathlib.Path(path)
    try:
        if not path.is_file():
            raise Error(f"{path}: {'is no file' if path.exists() else 'no such file'}; give a JSONL or Parquet file")
        with path.open("rb") as file:
            is_parquet = file.read(4) == b"PAR1"
        found = False
        for found in _parquet_rows(path) if is_parquet else _json_rows(path):
            yield found
    except (OSError, UnicodeDecodeError) as error:
        raise Error(f"cannot read {path}: {error}") from error
    if not found:
        raise Error(f"{path}: holds no row; expected one JSON object per line, or Parquet")


def field(row, name):
    """Returns the value of a field, whose name may be a path such as reward_model.ground_truth; None if it is absent."""
    while isinstance(row, dict):
        if name in row or "." not in name:
            return row.get(name)
        head, _, name = name.partition(".")
        row = row.get(head)
    return None


def required_text(row, name, place):
    value = field(row, name)
    if not isinstance(value, str):
        raise Error(f"{place}: field {name}: expected a text; correct the row")
    return value
