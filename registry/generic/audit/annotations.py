"""Annotations: what those who decide about a request want to have noted of it, without knowing who takes notes."""

from typing import Protocol

from aio_apiserver.registry.generic.audit.levels import Level


class Annotate(Protocol):
    """Notes a value by a key (`pod-security.kubernetes.io/enforce-policy`); of two values the first one counts."""

    def __call__(self, key: str, value: str, level: Level = Level.METADATA) -> None:
        """`level`: what is recorded with less detail does not get the note."""
        ...


def unnoted(key: str, value: str, level: Level = Level.METADATA) -> None:
    """Of requests of which nothing is recorded."""
