"""Writes rows to a JSONL or Parquet file, which appears complete or not at all. pyarrow writes Parquet."""
import itertools
import json

from ..command_line import complete_file
from ..error import Error

_GROUP = 1024  # rows of a Parquet row group


def is_named_parquet(path):
    return path.suffix == ".parquet"


def _type_of(example, arrow):
    if isinstance(example, dict):
        return arrow.struct([(name, _type_of(value, arrow)) for name, value in example.items()])
    if isinstance(example, list):
        return arrow.list_(_type_of(example[0], arrow))
    return {str: arrow.string(), bool: arrow.bool_(), float: arrow.float64(), int: arrow.int64()}[type(example)]


def _write_parquet(path, rows, example):
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise Error(f"{path}: Parquet needs pyarrow: pip install 'lie_cluster[export]', or pip install pyarrow") from error
    schema = pyarrow.schema(list(_type_of(example, pyarrow)))
    with complete_file(path) as aside, pyarrow.parquet.ParquetWriter(aside, schema, compression="snappy") as writer:
        rows = iter(rows)
        for group in iter(lambda: list(itertools.islice(rows, _GROUP)), []):
            writer.write_table(pyarrow.Table.from_pylist(group, schema), _GROUP)


def _write_json_lines(path, rows):
    with complete_file(path) as aside, aside.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


def write_rows(path, rows, example):
    """Writes rows that have the fields of `example`, with values of the same types: text, integer, number, boolean, list
    of one type, or object. None fits every type. Parquet's schema comes from `example`, so its lists need an element."""
    if is_named_parquet(path):
        _write_parquet(path, rows, example)
    else:
        _write_json_lines(path, rows)
