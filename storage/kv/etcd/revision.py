"""Revision: remembers the newest etcd revision that any answer has shown.

It is a lower bound of the store's revision: a request that is sent afterwards takes effect at a later one.
"""


class RevisionSeen:
    """The newest revision seen; shared by all readers of answers in one engine."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 1

    def note(self, revision: int) -> None:
        """Remember a revision."""
        if revision > self.value:
            self.value = revision
