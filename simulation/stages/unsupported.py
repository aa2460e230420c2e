"""Unsupported: the error of a Stage that uses more of jq, of Go's templates or of kwok than this server knows."""


class Unsupported(Exception):
    """A part of a Stage that is not supported. The text names it."""
