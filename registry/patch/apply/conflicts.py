"""Conflicts: fields that an apply would take from others, and the error that says so. Pure."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from registry.errors import ApplyConflict, Cause
from registry.patch.apply import elements, fields
from registry.patch.apply.elements import Path
from registry.patch.apply.fields import Fields
from registry.patch.apply.managed import Owner
from registry.quoting import quote


class Conflict(NamedTuple):
    """A field and who owns it."""

    owner: Owner
    path: Path


class Conflicts(Exception):
    """Fields that an apply must not take without force."""

    def __init__(self, found: Iterable[Conflict]) -> None:
        super().__init__()
        self.found: Sequence[Conflict] = sorted(found, key=lambda conflict: str(conflict.owner))

    def outside(self, allowed: Fields) -> Sequence[Conflict]:
        """Those about other fields."""
        return [conflict for conflict in self.found if not fields.has(allowed, conflict.path)]


def error(conflicts: Conflicts) -> ApplyConflict:
    """The answer to whoever did not want force."""
    causes = [
        Cause("FieldManagerConflict", f"conflict with {_shown(owner)}", elements.path_text(path))
        for owner, path in conflicts.found
    ]
    return ApplyConflict(f"Apply failed with {_message(conflicts.found)}", causes)


def _message(found: Sequence[Conflict]) -> str:
    if len(found) == 1:
        owner, path = found[0]
        return f"1 conflict: conflict with {_shown(owner)}: {elements.path_text(path)}"
    paths: dict[Owner, list[Path]] = {}
    for owner, path in found:
        paths.setdefault(owner, []).append(path)
    lines = []
    for owner, lost in paths.items():
        lines.append(f"conflicts with {_shown(owner)}:")
        lines += [f"- {elements.path_text(path)}" for path in lost]
    return f"{len(found)} conflicts: " + "\n".join(lines)


def _shown(owner: Owner) -> str:
    text = quote(owner.manager)
    if owner.subresource:
        text += f" with subresource {quote(owner.subresource)}"
    return text if owner.is_applier else f"{text} using {owner.api_version}"
