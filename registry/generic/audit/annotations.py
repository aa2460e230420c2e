"""Annotations: adds annotations to a request's audit event, for code that does not know the event."""

from typing import Protocol

from aio_apiserver.registry.generic.audit.levels import Level


class Annotate(Protocol):
    """Adds an annotation (`pod-security.kubernetes.io/enforce-policy`); the first value of a key counts."""

    def __call__(self, key: str, value: str, level: Level = Level.METADATA) -> None:
        """`level`: events below it do not get the annotation."""
        ...


def unnoted(key: str, value: str, level: Level = Level.METADATA) -> None:
    """For requests without an audit event."""
