"""The exception class of this package."""


class Error(Exception):
    """An error whose message names the file, the problem and the remedy."""
