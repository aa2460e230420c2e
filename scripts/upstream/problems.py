"""Problems: what ends the generator, with the file and the line of the cause."""


class NotUnderstood(Exception):
    """A source that a reader does not understand."""

    def __init__(self, path: str, line: int, problem: str) -> None:
        super().__init__(f"{path}:{line}: {problem}")


class Unusable(Exception):
    """A tree, a table or a set of definitions from which nothing can be generated."""
