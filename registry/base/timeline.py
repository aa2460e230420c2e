"""timeline: the Kubernetes minors that this server can be, and since and until when a fact holds.

One install has the facts of all minors. A fact that changed stands once, with the minors in which it holds, beside what
it is about. Assembly reads the facts of one minor, and requests find a view of them. docs/minors.md tells how a minor
is added.

    fact of a kind       Kind.history, a `Before` for each minor that changed something      registry/generic/kind.py
    field error          Kind.errors, and common_history.ERRORS                registry/generic/error_history.py
    feature gate         gates.json                                                      registry/base/gates.py
    type and field       the OpenAPI definitions of the minor, and types.json      registry/base/type_facts.py
    role and binding     rbac.json                                 registry/controlplane/bootstrap/rbac.py
    any other value      `Dated`, beside the value

Pure. Must hold: nothing here depends on which minors run in the process.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")

Version = tuple[int, int]
"""The major and minor version: (1, 36)."""

ALWAYS: Version = (0, 0)
FOREVER: Version = (2, 0)
DEFAULT: Version = (1, 36)
"""The minor of a server that is not told one: the newest that is complete."""

PATCHES: Mapping[Version, str] = {
    (1, 33): "v1.33.13",
    (1, 34): "v1.34.11",
    (1, 35): "v1.35.8",
    (1, 36): "v1.36.4",
    (1, 37): "v1.37.0-rc.1",
}
"""The minors that this server can be, each with the release that it behaves as."""


class Lifetime(Struct, frozen=True, kw_only=True):
    """The minors in which something holds: from `since` on, and before `until`."""

    since: Version = ALWAYS
    until: Version = FOREVER

    def has(self, version: Version) -> bool:
        """Whether it holds in a minor."""
        return self.since <= version < self.until


class Dated(Struct, Generic[T], frozen=True):
    """A value that changed: the value of each minor is the last one that began by then.

    Dated({ALWAYS: "old", (1, 36): "new"}).at((1, 35)) is "old".
    """

    values: Mapping[Version, T]

    def at(self, version: Version) -> T:
        """The value in a minor."""
        return self.values[max(begun for begun in self.values if begun <= version)]


class Before(Struct, frozen=True):
    """What was different in all minors before one, or is without a feature gate: values of fields, by their names."""

    version: Version
    different: Mapping[str, Any]
    gate: str = ""


def before(version: Version, **different: Any) -> Before:
    """What was different before a minor."""
    return Before(version, different)


def without(gate: str, **different: Any) -> Before:
    """What is different in a server whose feature gate is closed."""
    return Before(FOREVER, different, gate)


def differences(
    history: Sequence[Before], version: Version, is_closed: Callable[[str], bool] | None = None
) -> Mapping[str, Any]:
    """The fields that differ in a minor from what is written, with their values there.

    is_closed: whether the minor has a feature gate closed, for a history that names gates.
    """
    changed: dict[str, Any] = {}
    for change in sorted(history, key=lambda change: change.version, reverse=True):
        if version < change.version and (not change.gate or (is_closed is not None and is_closed(change.gate))):
            changed = _joined(changed, change.different)
    return changed


def _joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Both differences; those of a strategy are joined field by field."""
    joined = {**one, **other}
    for name in one.keys() & other.keys():
        if isinstance(one[name], dict) and isinstance(other[name], dict) and name.endswith("strategy"):
            joined[name] = {**one[name], **other[name]}
    return joined


def text_of(version: Version) -> str:
    """The text of a version: 1.36."""
    return f"{version[0]}.{version[1]}"


def version_of(text: str) -> Version:
    """The version of a text of digits: 1.36."""
    major, minor = text.split(".")
    return int(major), int(minor)
