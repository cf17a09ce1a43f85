"""Columns as a data frame of pandas or Polars, which are imported only if asked for."""
import importlib

from .error import Error


def as_frame(columns, frame):
    """Returns `columns` unchanged for None, else as a DataFrame of "pandas" or "polars"."""
    if frame is None:
        return columns
    if frame not in ("pandas", "polars"):
        raise Error(f'frame="{frame}": expected "pandas" or "polars", or none for NumPy arrays')
    try:
        return importlib.import_module(frame).DataFrame(columns)
    except ImportError as error:
        raise Error(f'frame="{frame}": the package is not installed: pip install {frame}') from error
