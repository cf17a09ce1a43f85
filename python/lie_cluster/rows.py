"""The rows of data files: JSONL, or Parquet by pyarrow."""
import json
import math
import pathlib

from .error import Error


def _digits(text):
    """Returns the significant digits of a number's text."""
    return "".join(c for c in text.lower().split("e")[0] if c.isdigit()).strip("0")


def _fraction(text):
    """Returns a number, or its text if a double would round it, as common/io/json.cpp does."""
    value = float(text)
    is_exact = math.isfinite(value) and (len(_digits(text)) <= 15 or _digits(text) == _digits(repr(value)))
    return value if is_exact else text


def _integer(text):
    """Returns an integer of 64 bits, or the text of a longer one."""
    value = int(text) if len(text) < 25 else 1 << 64
    return value if -(1 << 63) <= value < 1 << 64 else text


def parse_row(line, place):
    """Parses a line that must be a JSON object of valid Unicode. NaN and the infinities are numbers."""
    try:
        row = json.loads(line, parse_float=_fraction, parse_int=_integer)
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


def _json_rows(path, skip_bad_rows):
    for number, line in enumerate(path.read_bytes().decode("utf-8-sig").split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield f"{path}:{number}", parse_row(line, f"{path}:{number}")
        except Error:
            if not skip_bad_rows:
                raise
            yield f"{path}:{number}", None


def read_rows(path, skip_bad_rows=False):
    """Yields the place and the fields of each row. Raises Error naming the place of a damaged one; with `skip_bad_rows`, its
    fields are None, because the trainer's numbers of rows count it. A byte order mark is ignored, as by the trainer."""
    path = pathlib.Path(path)
    try:
        if not path.is_file():
            raise Error(f"{path}: {'is no file' if path.exists() else 'no such file'}; give a JSONL or Parquet file")
        with path.open("rb") as file:
            is_parquet = file.read(4) == b"PAR1"
        found = False
        for found in _parquet_rows(path) if is_parquet else _json_rows(path, skip_bad_rows):
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


_SENDERS = {"human": "user", "gpt": "assistant"}  # of ShareGPT's rows


def turn_of(message):
    """Returns the role and the content of a chat message, as common/dataset/messages.cpp reads them. Raises TypeError or
    KeyError for a malformed one."""
    if "role" not in message and "from" in message:
        return {"role": _SENDERS.get(message["from"], message["from"]), "content": message["value"]}
    content = message["content"]
    if isinstance(content, list):
        content = "".join(part["text"] for part in content)
    return {"role": message["role"], "content": content}


def required_text(row, name, place):
    value = field(row, name)
    if not isinstance(value, str):
        raise Error(f"{place}: field {name}: expected a text; correct the row")
    return value
