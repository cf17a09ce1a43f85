"""The one exception of this package."""


class Error(Exception):
    """Names the file, what is wrong with it and the remedy."""
