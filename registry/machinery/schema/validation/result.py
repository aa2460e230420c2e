"""What a validation has found: mistakes, each told once, and how much of a schema fitted.

Of alternatives of which none is right, the one that fits best says what is wrong. It is chosen by a count of checks
made, so this count is part of what clients see.
"""

from collections.abc import Iterable

from msgspec import Struct, field

from aio_apiserver.registry.base.validation.field import FieldError

MOST = 128
"""Mistakes that are told of one object: nobody reads more."""


class Result(Struct):
    """Mistakes by their words, in order; `matches` counts checks."""

    errors: dict[str, FieldError] = field(default_factory=dict)
    matches: int = 0

    @property
    def is_valid(self) -> bool:
        return not self.errors

    def add(self, message: str, error: FieldError) -> None:
        """Note a mistake, unless the same words stand there already, or too many."""
        if len(self.errors) < MOST:
            self.errors.setdefault(message, error)

    def merge(self, others: "Iterable[Result]") -> None:
        """Take over what others have found."""
        for other in others:
            for message, error in other.errors.items():
                self.add(message, error)
            self.matches += other.matches
