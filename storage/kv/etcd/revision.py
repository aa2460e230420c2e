"""RevisionSeen: the newest revision of the store that any of its answers has shown us.

A lower bound of the store's revision: what is sent after a revision was seen can only take effect at a later one.
"""


class RevisionSeen:
    """Shared by everybody in one engine who reads answers."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 1

    def note(self, revision: int) -> None:
        """Learn of a revision."""
        if revision > self.value:
            self.value = revision
