"""Result: the errors of a validation without repetition, and a count of successful checks.

The count chooses the alternative whose errors are reported when none matches, so clients see its effect.
"""

from collections.abc import Iterable

from msgspec import Struct, field

from aio_apiserver.registry.base.validation.field import FieldError

MOST = 128
"""The limit of errors for one object."""


class Result(Struct):
    """Errors by message, in order. `matches` counts checks."""

    errors: dict[str, FieldError] = field(default_factory=dict)
    matches: int = 0

    @property
    def is_valid(self) -> bool:
        return not self.errors

    def add(self, message: str, error: FieldError) -> None:
        """Add an error, unless the message is already there or the limit is reached."""
        if len(self.errors) < MOST:
            self.errors.setdefault(message, error)

    def merge(self, others: "Iterable[Result]") -> None:
        """Add the errors and counts of other results."""
        for other in others:
            for message, error in other.errors.items():
                self.add(message, error)
            self.matches += other.matches
