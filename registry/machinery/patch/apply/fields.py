"""Fields: field sets in the form of FieldsV1.

A set is a tree of path elements. An element without children is a member of the set. An element with children is a
member if it has the child `.`:

    {"f:metadata": {"f:labels": {".": {}, "f:app": {}}}, "f:spec": {"f:replicas": {}}}

has the members .metadata.labels, .metadata.labels.app and .spec.replicas. The empty set is the empty map.

Pure. Must hold: a finished set does not change, since sets share parts with each other and with objects. Elements are
sorted, and each has a member in or below it. Encoding a decoded set gives the same text.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from aio_apiserver.registry.machinery.patch.apply import elements
from aio_apiserver.registry.machinery.patch.apply.elements import Path

Fields = dict[str, Any]
"""dict[str, Fields]"""

MEMBER = "."
LEAF: Fields = {}
NOTHING: Fields = {}
_MARK: Fields = {MEMBER: {}}


def decoded(value: Any) -> Fields:
    """The set of a client's FieldsV1. Raises ValueError."""
    if not isinstance(value, dict):
        raise ValueError("a field set is an object")
    return {name: inside for name, inside in _decoded(value).items() if name != MEMBER}


def _decoded(value: Any) -> Fields:
    if not isinstance(value, dict):
        raise ValueError("a field set is an object")
    found: Fields = {}
    for name, inside in value.items():
        element = MEMBER if name == MEMBER else elements.normalized(name)
        if element is not None:
            found[element] = _decoded(inside) if element != MEMBER else LEAF
    return LEAF if found == _MARK else ordered(found)


def ordered(tree: Fields) -> Fields:
    """The tree with its first level sorted."""
    if len(tree) < 2:
        return tree
    names = list(tree)
    has_fields_only = True
    for name in names:
        if not name.startswith(elements.FIELD):
            has_fields_only = False
            break
    in_order = sorted(names) if has_fields_only else sorted(names, key=elements.order)
    return tree if in_order == names else {name: tree[name] for name in in_order}


def is_member(tree: Fields) -> bool:
    """Whether the element above this tree is a member."""
    return not tree or MEMBER in tree


def as_member(tree: Fields | None) -> Fields:
    """The tree (None: no children) with the element above it as a member."""
    if not tree or MEMBER in tree:
        return tree or LEAF
    return {MEMBER: LEAF, **tree}


def of_paths(paths: Iterable[Path]) -> Fields:
    """The set of these paths."""
    tree: Fields = {}
    for path in paths:
        inside = tree
        for element in path:
            inside = inside.setdefault(element, {})
        inside[MEMBER] = LEAF
    return _finished(tree)


def _finished(tree: Fields) -> Fields:
    """The canonical form of a tree with a mark at each member."""
    finished: Fields = {}
    for name, inside in tree.items():
        finished[name] = LEAF if inside == _MARK or name == MEMBER else _finished(inside)
    return ordered(finished)


def has(fields: Fields, path: Path) -> bool:
    """Whether the path is a member."""
    for element in path:
        inside = fields.get(element)
        if inside is None:
            return False
        fields = inside
    return is_member(fields)


def members(fields: Fields, before: Path = ()) -> Iterator[Path]:
    """The paths of all members; one level before the next."""
    for name, inside in fields.items():
        if name != MEMBER and is_member(inside):
            yield (*before, name)
    for name, inside in fields.items():
        if name != MEMBER and inside:
            yield from members(inside, (*before, name))


def union(one: Fields, other: Fields) -> Fields:
    """The members of either set."""
    return _union(one, other) if one and other else one or other


def union_of(sets: Iterable[Fields]) -> Fields:
    """The members of all: each set is walked once, however many there are."""
    present = [one for one in sets if one]
    return _union_of(present) if len(present) > 1 else present[0] if present else NOTHING


def difference(one: Fields, other: Fields) -> Fields:
    """The members of `one` that are not in `other`."""
    return (_difference(one, other) or NOTHING) if one and other else one


def outside(one: Fields, other: Fields) -> Fields:
    """The members of `one` that are neither in `other` nor below one of its members."""
    return (_outside(one, other) or NOTHING) if one and other else one


def intersection(one: Fields, other: Fields) -> Fields:
    """The members of both sets."""
    return (_intersection(one, other) or NOTHING) if one and other else NOTHING


def _union(one: Fields, other: Fields) -> Fields:
    if not one or not other:
        return as_member(one or other)
    result = dict(one)
    for name, inside in other.items():
        mine = result.get(name)
        result[name] = inside if mine is None else _union(mine, inside)
    return result if len(result) == len(one) else ordered(result)


def _union_of(trees: Sequence[Fields]) -> Fields:
    """An empty tree is a member here."""
    below: dict[str, list[Fields]] = {}
    for tree in trees:
        for name, inside in tree.items():
            below.setdefault(name, []).append(inside)
    result = ordered({name: _union_of(same) if len(same) > 1 else same[0] for name, same in below.items()})
    return result if all(trees) else as_member(result)


def _difference(one: Fields, other: Fields) -> Fields | None:
    """None for the empty set, since the empty tree is a member."""
    left = {}
    for name, inside in one.items():
        theirs = other.get(name)
        rest = inside if theirs is None else _difference(inside, theirs)
        if rest is not None and name != MEMBER:
            left[name] = rest
    if (not one or MEMBER in one) and other and MEMBER not in other:
        return {MEMBER: LEAF, **left} if left else LEAF
    return left or None


def _outside(one: Fields, other: Fields) -> Fields | None:
    left = {}
    for name, inside in one.items():
        theirs = other.get(name)
        if theirs is not None and is_member(theirs):
            continue
        rest = inside if theirs is None else _outside(inside, theirs)
        if rest is not None:
            left[name] = rest
    if left == _MARK or not one:
        return LEAF
    return left or None


def _intersection(one: Fields, other: Fields) -> Fields | None:
    shared = {}
    for name, inside in one.items():
        theirs = other.get(name)
        if theirs is None or name == MEMBER:
            continue
        both = _intersection(inside, theirs)
        if both is not None:
            shared[name] = both
    if (not one or MEMBER in one) and (not other or MEMBER in other):
        return {MEMBER: LEAF, **shared} if shared else LEAF
    return shared or None
