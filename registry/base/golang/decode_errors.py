"""What decoding can end in. The words are those of Go's JSON decoder, which clients of kube-apiserver know.

The message is what kube-apiserver puts behind `... cannot be handled as a ...: ` (create, update) or behind the quoted
object (patch); those frames belong to the callers.
"""

TOO_DEEP = "exceeded max depth"
"""The message for JSON that is nested more deeply than is read."""


class DecodeError(Exception):
    """A value that does not fit its type."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Unconvertible(DecodeError):
    """A value that fits its type, which kube-apiserver's own form of it cannot hold."""


class TypeMismatch(Exception):
    """JSON of the wrong type, met by the reader of a leaf, which does not know the place.

    Whoever knows it turns this into a DecodeError.
    """

    def __init__(self, found: str, go_type: str) -> None:
        super().__init__(found)
        self.found = found
        self.go_type = go_type


class UnknownMinor(Exception):
    """There are no definitions of this Kubernetes minor."""


class UnknownKind(Exception):
    """The definitions have no such kind."""
