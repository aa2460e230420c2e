"""Compare: the difference of two typed values as field sets, SMD's Comparison. Pure.

Must hold: a field is in at most one of the three sets. Equal values give three empty sets.
"""

from typing import Any

from msgspec import Struct, field

from aio_apiserver.registry.machinery.patch.apply import elements, fields
from aio_apiserver.registry.machinery.patch.apply.elements import Path
from aio_apiserver.registry.machinery.patch.apply.fields import Fields
from aio_apiserver.registry.machinery.patch.apply.resets import NO_RESETS, Resets
from aio_apiserver.registry.machinery.patch.apply.shapes import ABSENT, Lists, Maps, Part, Scalar, Shape


class Comparison(Struct, frozen=True):
    """The fields that the second value adds, modifies and removes."""

    added: Fields = field(default_factory=dict)
    modified: Fields = field(default_factory=dict)
    removed: Fields = field(default_factory=dict)

    @property
    def changed(self) -> Fields:
        """The fields with a new value."""
        return fields.union(self.modified, self.added)

    def within(self, resets: Resets) -> "Comparison":
        """The comparison without reset fields."""
        if resets is NO_RESETS:
            return self
        return Comparison(resets.kept(self.added), resets.kept(self.modified), resets.kept(self.removed))


def compared(shape: Shape, old: Any, new: Any) -> Comparison:
    """Compare two values of a type. Raises ShapeError."""
    found = _Comparing()
    found.compare(shape, old, new, ())
    return Comparison(fields.of_paths(found.added), fields.of_paths(found.modified), fields.of_paths(found.removed))


class _Comparing:
    """The paths found so far."""

    __slots__ = ("added", "modified", "removed")

    def __init__(self) -> None:
        self.added: list[Path] = []
        self.modified: list[Path] = []
        self.removed: list[Path] = []

    def compare(self, shape: Shape, old: Any, new: Any, path: Path) -> None:
        if type(old) is type(new) and old == new:
            return
        before, after = shape.part(old), shape.part(new)
        if new is ABSENT:
            self._as(before, old, new, path)
        else:
            if old is not ABSENT and before is not after:
                self._as(before, old, new, path)
            self._as(after, old, new, path)

    def _as(self, part: Part, old: Any, new: Any, path: Path) -> None:
        """Compare two values as this part."""
        if isinstance(part, Scalar) or part.is_atomic or not (_holds(part, old) or _holds(part, new)):
            self._whole(old, new, path)
            return
        if isinstance(part, Maps):
            self._maps(part, old, new, path)
        else:
            self._lists(part, old, new, path)
        if (old is ABSENT or new is ABSENT) and path:
            (self.added if old is ABSENT else self.removed).append(path)

    def _whole(self, old: Any, new: Any, path: Path) -> None:
        if not path:
            return
        if old is ABSENT:
            self.added.append(path)
        elif new is ABSENT:
            self.removed.append(path)
        elif not _are_equal(old, new):
            self.modified.append(path)

    def _maps(self, part: Maps, old: Any, new: Any, path: Path) -> None:
        before = old if isinstance(old, dict) else {}
        after = new if isinstance(new, dict) else {}
        if part.of_scalars:
            self._scalars(before, after, path)
            return
        for name in {**before, **after}:
            one, other = before.get(name, ABSENT), after.get(name, ABSENT)
            if type(one) is not type(other) or one != other:
                self.compare(part.member(name), one, other, (*path, elements.field(name)))

    def _scalars(self, before: dict[str, Any], after: dict[str, Any], path: Path) -> None:
        """Compare the members of maps of scalars."""
        for name, value in after.items():
            old = before.get(name, ABSENT)
            if old is ABSENT:
                self.added.append((*path, elements.field(name)))
            elif not _are_equal(old, value):
                self.modified.append((*path, elements.field(name)))
        self.removed += [(*path, elements.field(name)) for name in before if name not in after]

    def _lists(self, part: Lists, old: Any, new: Any, path: Path) -> None:
        before, after = grouped(part, old), grouped(part, new)
        for element in {**before, **after}:
            olds, news = before.get(element, []), after.get(element, [])
            self._elements(part.items, olds, news, (*path, element))

    def _elements(self, items: Shape, olds: list[Any], news: list[Any], path: Path) -> None:
        """Elements with the same key are compared as one value."""
        old, new = (olds[0] if olds else ABSENT), (news[0] if news else ABSENT)
        if len(olds) <= 1 and len(news) <= 1:
            self.compare(items, old, new, path)
        elif len(olds) > 1 and len(news) > 1:
            if not _are_equal(olds, news):
                self.modified.append(path)
        elif len(olds) > 1:
            if news:
                self.compare(items, ABSENT, new, path)
            self.removed.append(path)
        else:
            if olds:
                self.compare(items, old, ABSENT, path)
            self.added.append(path)


def _holds(part: Maps | Lists, value: Any) -> bool:
    """Whether the value is a map or list with members."""
    return isinstance(value, dict if isinstance(part, Maps) else list) and bool(value)


def _are_equal(old: Any, new: Any) -> bool:
    return bool(old == new) and isinstance(old, bool) == isinstance(new, bool)


def grouped(part: Lists, value: Any) -> dict[str, list[Any]]:
    """The elements of a list by their key. Raises ShapeError."""
    groups: dict[str, list[Any]] = {}
    for one in value if isinstance(value, list) else ():
        groups.setdefault(part.element(one), []).append(one)
    return groups
