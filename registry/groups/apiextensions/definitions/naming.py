"""Naming: decides which names a definition gets: the requested ones that no other definition of its group has.

Pure. Must hold: each name is decided by itself, so a definition with one conflict gets its other names. A definition
keeps the names that it has.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.conditions import Condition
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.groups.apiextensions.definitions import crd_conditions

_INSTALLING = crd_conditions.condition(
    crd_conditions.ESTABLISHED,
    status="False",
    reason="Installing",
    message="the initial names have been accepted",
)
_NOT_ACCEPTED = crd_conditions.condition(
    crd_conditions.ESTABLISHED, status="False", reason="NotAccepted", message="not all names are accepted"
)
_NO_CONFLICTS = crd_conditions.condition(
    crd_conditions.NAMES_ACCEPTED, status="True", reason="NoConflicts", message="no conflicts found"
)

_FIELDS = ("plural", "singular", "shortNames", "kind", "listKind", "categories")


class Naming(Struct, frozen=True):
    """The result: the names that are accepted now, and the two conditions that follow."""

    accepted: dict[str, Any]
    names_accepted: Condition
    established: Condition


class TakenNames(Struct, frozen=True):
    """The names that the definitions of a group have, including the definition that is decided on."""

    resources: frozenset[str]
    kinds: frozenset[str]

    @classmethod
    def by(cls, accepted: Iterable[Mapping[str, Any]]) -> "TakenNames":
        """Collect the accepted names of all definitions of a group."""
        resources: set[str] = set()
        kinds: set[str] = set()
        for names in accepted:
            resources.update((names.get("plural", ""), names.get("singular", ""), *(names.get("shortNames") or ())))
            kinds.update((names.get("kind", ""), names.get("listKind", "")))
        return cls(frozenset(resources), frozenset(kinds))

    def has_more_than(self, other: "TakenNames") -> bool:
        """Whether it has a name that the other does not have."""
        return bool(((self.resources - other.resources) | (self.kinds - other.kinds)) - {""})


def names_of(crd: Object) -> dict[str, Any]:
    """The accepted names of a definition."""
    names: dict[str, Any] = (crd.get("status") or {}).get("acceptedNames") or {}
    return names


def is_settled(crd: Object) -> bool:
    """Whether a definition has all requested names."""
    wanted, given = crd["spec"]["names"], names_of(crd)
    return all((wanted.get(name) or None) == (given.get(name) or None) for name in _FIELDS)


def decide(crd: Object, taken: TakenNames) -> Naming:
    """Decide on the names and conditions of a definition."""
    wanted, given = crd["spec"]["names"], names_of(crd)
    accepted = dict(given)
    accepted_condition = _NO_CONFLICTS
    for name in ("plural", "singular", "shortNames", "kind", "listKind"):
        words = taken.kinds if name in ("kind", "listKind") else taken.resources
        conflict = _conflict(wanted.get(name), given.get(name), words)
        if conflict:
            reason = f"{name[0].upper()}{name[1:]}Conflict"
            accepted_condition = crd_conditions.condition(
                crd_conditions.NAMES_ACCEPTED, status="False", reason=reason, message=conflict
            )
        else:
            _put(accepted, name, wanted.get(name))
    _put(accepted, "categories", wanted.get("categories"))
    ordered = {name: accepted[name] for name in _FIELDS if name in accepted}
    return Naming(ordered, accepted_condition, _established(crd, accepted_condition))


def _put(accepted: dict[str, Any], name: str, value: Any) -> None:
    if value:
        accepted[name] = value
    else:
        accepted.pop(name, None)


def _conflict(wanted: Any, given: Any, words: frozenset[str]) -> str:
    if isinstance(wanted or given, list):
        return _conflict_of_short_names(wanted or (), given or (), words)
    if wanted == given or wanted not in words:
        return ""
    return f"{quote(wanted)} is already in use"


def _conflict_of_short_names(wanted: Sequence[str], given: Sequence[str], words: frozenset[str]) -> str:
    conflicts = [f"{quote(one)} is already in use" for one in wanted if one not in given and one in words]
    distinct = list(dict.fromkeys(conflicts))
    return f"[{', '.join(distinct)}]" if len(distinct) > 1 else "".join(distinct)


def _established(crd: Object, accepted: Condition) -> Condition:
    old = crd_conditions.find(crd, crd_conditions.ESTABLISHED)
    if (old is None or old["status"] != "True") and accepted["status"] == "True":
        return _INSTALLING
    return old or _NOT_ACCEPTED
