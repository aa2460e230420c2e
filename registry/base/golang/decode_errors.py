"""Decode errors: why a JSON value does not fit its Go type, in the words of Go's JSON decoder.

kube-apiserver puts a frame around the message: `... cannot be handled as a ...: ` for create and update, the quoted
object for patch. The callers add these frames.
"""

TOO_DEEP = "exceeded max depth"
"""The message for JSON that is nested too deeply."""


class DecodeError(Exception):
    """A value does not fit its type."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Unconvertible(DecodeError):
    """A value fits its type in the version, but kube-apiserver's internal type cannot hold it."""


class TypeMismatch(Exception):
    """JSON of the wrong type, found by a reader of scalars that does not know the path.

    The decoder, which knows the path, turns it into a DecodeError.
    """

    def __init__(self, found: str, go_type: str) -> None:
        super().__init__(found)
        self.found = found
        self.go_type = go_type


class UnknownMinor(ValueError):
    """There are no OpenAPI definitions of this Kubernetes minor version."""


class UnknownKind(Exception):
    """The OpenAPI definitions have no such kind."""
