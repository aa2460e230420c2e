"""Conflicts: fields of an apply that other managers own, and the ApplyConflict error. Pure."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from aio_apiserver.registry.base.errors import ApplyConflict, Cause
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.machinery.patch.apply import elements, fields
from aio_apiserver.registry.machinery.patch.apply.elements import Path
from aio_apiserver.registry.machinery.patch.apply.fields import Fields
from aio_apiserver.registry.machinery.patch.apply.managed_fields import Owner


class FieldConflict(NamedTuple):
    """A field and its manager."""

    owner: Owner
    path: Path


class Conflicts(Exception):
    """An apply without force would take these fields from other managers."""

    def __init__(self, found: Iterable[FieldConflict]) -> None:
        super().__init__()
        self.found: Sequence[FieldConflict] = sorted(found, key=lambda conflict: str(conflict.owner))

    def outside(self, allowed: Fields) -> Sequence[FieldConflict]:
        """The conflicts about fields outside of `allowed`."""
        return [conflict for conflict in self.found if not fields.has(allowed, conflict.path)]


def error(conflicts: Conflicts) -> ApplyConflict:
    """The error for a client that applies without force."""
    causes = [
        Cause("FieldManagerConflict", f"conflict with {_manager_text(owner)}", elements.path_text(path))
        for owner, path in conflicts.found
    ]
    return ApplyConflict(f"Apply failed with {_message(conflicts.found)}", causes)


def _message(found: Sequence[FieldConflict]) -> str:
    if len(found) == 1:
        owner, path = found[0]
        return f"1 conflict: conflict with {_manager_text(owner)}: {elements.path_text(path)}"
    paths: dict[Owner, list[Path]] = {}
    for owner, path in found:
        paths.setdefault(owner, []).append(path)
    lines = []
    for owner, lost in paths.items():
        lines.append(f"conflicts with {_manager_text(owner)}:")
        lines += [f"- {elements.path_text(path)}" for path in lost]
    return f"{len(found)} conflicts: " + "\n".join(lines)


def _manager_text(owner: Owner) -> str:
    text = quote(owner.manager)
    if owner.subresource:
        text += f" with subresource {quote(owner.subresource)}"
    return text if owner.is_applier else f"{text} using {owner.api_version}"
