"""What a reader cannot go on from."""


class Error(Exception):
    """Names the file, what is wrong with it and the remedy."""
