"""Findings: the results of pod security checks, and helpers for their messages. Pure."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

Spec = Mapping[str, Any]


class Finding(Struct, frozen=True):
    """Why a pod violates a standard."""

    reason: str
    detail: str


Check = Callable[[Mapping[str, str], Spec], Finding | None]
"""A check, called with the annotations and the spec of a pod."""


def containers(spec: Spec) -> Iterator[Spec]:
    """All containers: init containers, containers, ephemeral containers."""
    for name in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(name) or ()


def security(owner: Spec) -> Spec:
    """The security context of a container or pod; empty when it has none."""
    return owner.get("securityContext") or {}


def names_of(these: Iterable[Spec]) -> list[str]:
    return [one.get("name", "") for one in these]


def quoted(words: Iterable[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


def counted(word: str, things: Collection[Any]) -> str:
    """A word in singular or plural, by the number of things."""
    return word if len(things) == 1 else f"{word}s"


def named(word: str, names: Collection[str]) -> str:
    """Things with their names: `containers "a", "b"`."""
    return f"{counted(word, names)} {quoted(names)}"


def setters(names: Collection[str], *, is_pod: bool) -> str:
    """The pod, the containers, or both, as the subject of a message."""
    return " and ".join([*(["pod"] if is_pod else []), *([named("container", names)] if names else [])])
