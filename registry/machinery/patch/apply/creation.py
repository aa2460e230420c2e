"""Creation: the field set of a new object, which its first writer owns. Compiled to closures, once a type.

The result equals the comparison with an object without content, but needs no paths, because every create runs it. Some
members are printed even when empty, such as a status. The writer owns them when they have more content than that.

The plan for the keys of a map is cached, since objects have few sets of keys. The cache is limited to a number of
short sets, since clients choose the keys.

Pure. Must hold: a value of the wrong type counts as a single field.
"""

from collections.abc import Callable, Collection, Mapping
from operator import itemgetter
from typing import Any

from aio_apiserver.registry.machinery.patch.apply import elements, fields
from aio_apiserver.registry.machinery.patch.apply.fields import LEAF, MEMBER, NOTHING, Fields
from aio_apiserver.registry.machinery.patch.apply.shapes import Lists, Maps, Shape

MAX_PLANS = 256
_LONGEST_PLAN = 2048
"""The letters of all keys of a map."""

Walk = Callable[[Any], Fields | None]
"""From a value to the tree below its element; None for no fields."""

_Step = tuple[str, str, Walk | None]
"""A member: its name, its path element, and the walk over its value (None for a leaf)."""
_Plan = tuple[list[_Step], Fields | None]
"""The members in order. The tree too, when all members are leaves, since it is then the same for all maps."""


def compiled(shape: Shape, empty: Mapping[str, Any], *, without: Fields = NOTHING) -> Callable[[Any], Fields]:
    """A function from an object to its field set. `empty`: the printed object without content. `without`: fields that
    are left out. Raises ShapeError.
    """
    walk = _Compiler().besides(shape, empty, without)
    return lambda value: walk(value) or NOTHING


class _Compiler:
    """The walks of one type. Maps and lists of one shape share a walk."""

    def __init__(self) -> None:
        self._walks: dict[int, Walk] = {}

    def whole(self, shape: Shape) -> Walk | None:
        """The walk over a value that is absent in the empty object; None for a leaf."""
        if shape.maps is not None and shape.lists is not None:
            return self._free(shape)
        part = shape.maps or shape.lists
        if part is None or part.is_atomic:
            return None
        return self._part(part)

    def _free(self, shape: Shape) -> Walk | None:
        """Arbitrary JSON: maps are walked unless atomic, lists are leaves."""
        assert shape.maps is not None
        if shape.maps.is_atomic:
            return None
        maps = self._part(shape.maps)
        return lambda value: maps(value) if type(value) is dict else LEAF

    def _part(self, part: Maps | Lists) -> Walk:
        known = self._walks.get(id(part))
        if known is None:
            self._walks[id(part)] = lambda value: self._walks[id(part)](value)
            known = self._walks[id(part)] = self._map(part) if isinstance(part, Maps) else self._list(part)
        return known

    def _map(self, part: Maps) -> Walk:
        if not part.fields:
            return self._uniform_map(part)
        plans = _Plans(lambda name: self.whole(part.member(name)))
        known = plans.known

        def walk(value: Any) -> Fields:
            if not value or type(value) is not dict:
                return LEAF
            names = tuple(value)
            steps, tree = known.get(names) or plans.of(names)
            if tree is None:
                tree = {MEMBER: LEAF}
                for name, element, below in steps:
                    tree[element] = LEAF if below is None else below(value[name])
            return tree

        return walk

    def _uniform_map(self, part: Maps) -> Walk:
        """A map whose keys are data."""
        below = self.whole(part.member(""))

        def walk(value: Any) -> Fields:
            if not value or type(value) is not dict:
                return LEAF
            tree: Fields = {MEMBER: LEAF}
            for name in sorted(value):
                tree[f"f:{name}"] = LEAF if below is None else below(value[name])
            return tree

        return walk

    def _list(self, part: Lists) -> Walk:
        walk_elements = self._elements(part)

        def walk(value: Any) -> Fields:
            return {MEMBER: LEAF, **walk_elements(value)} if value and type(value) is list else LEAF

        return walk

    def _elements(self, part: Lists) -> Callable[[list[Any]], Fields]:
        below = self.whole(part.items) or _leaf
        key = part.keys[0] if len(part.keys) == 1 and len(part.keys[0]) <= elements.LONGEST_REMEMBERED else ""

        def walk(value: list[Any]) -> Fields:
            tree: Fields = {}
            named = _by_name(value, key) if key else None
            if named is not None:
                for name in sorted(named):
                    tree[elements.of_text_key(key, name)] = below(named[name])
                return tree
            for item in value:
                element = part.element(item)
                tree[element] = LEAF if element in tree else below(item)
            return tree if len(tree) == 1 else fields.ordered(tree)

        return walk

    def besides(self, shape: Shape, empty: Any, without: Fields = NOTHING) -> Walk:
        """The walk over a value that the empty object prints, too."""
        maps, lists = shape.maps, shape.lists
        if maps is not None and lists is None and not maps.is_atomic:
            return self._members_besides(maps, empty, without)
        if lists is not None and maps is None and not lists.is_atomic:
            walk_elements = self._elements(lists)
            return lambda value: walk_elements(value) if value and type(value) is list else _leaf_besides(value, empty)
        return lambda value: _leaf_besides(value, empty)

    def _members_besides(self, part: Maps, empty: Mapping[str, Any] | None, without: Fields) -> Walk:
        printed = empty or {}

        def walk_of(name: str) -> Walk | None:
            shape = part.member(name)
            if name in printed:
                return self.besides(shape, printed[name], without.get(elements.field(name), NOTHING))
            return self.whole(shape)

        plans = _Plans(walk_of, frozenset(name for name, below in without.items() if below == LEAF))
        known = plans.known

        def walk(value: Any) -> Fields | None:
            if not value or type(value) is not dict:
                return _leaf_besides(value, empty)
            names = tuple(value)
            tree: Fields = {}
            for name, element, below in (known.get(names) or plans.of(names))[0]:
                inside = LEAF if below is None else below(value[name])
                if inside is not None:
                    tree[element] = inside
            return tree or None

        return walk


def _leaf_besides(value: Any, empty: Any) -> Fields | None:
    return None if value == empty else LEAF


def _leaf(_value: Any) -> Fields:
    return LEAF


def _by_name(value: list[Any], key: str) -> Mapping[str, Any] | None:
    """Elements by their key. None unless every element has its own short text as key."""
    try:
        named = dict(zip(map(itemgetter(key), value), value, strict=True))
        is_usual = len(named) == len(value) and max(map(len, named)) <= elements.LONGEST_REMEMBERED
    except (KeyError, TypeError):
        return None
    return named if is_usual else None


class _Plans:
    """The steps through a map of named members, by its keys. `without`: the elements of members that are left out."""

    __slots__ = ("_walk_of", "_without", "known")

    def __init__(self, walk_of: Callable[[str], Walk | None], without: Collection[str] = ()) -> None:
        self._walk_of = walk_of
        self._without = without
        self.known: dict[tuple[str, ...], _Plan] = {}

    def of(self, names: tuple[str, ...]) -> _Plan:
        """A new plan, which is kept if there is room."""
        plan = self._new_plan(names)
        if len(self.known) < MAX_PLANS and sum(map(len, names)) <= _LONGEST_PLAN:
            self.known[names] = plan
        return plan

    def _new_plan(self, names: tuple[str, ...]) -> _Plan:
        members = [(name, elements.field(name)) for name in sorted(names)]
        steps = [(name, element, self._walk_of(name)) for name, element in members if element not in self._without]
        if any(below is not None for _, _, below in steps):
            return steps, None
        return steps, {MEMBER: LEAF, **dict.fromkeys((element for _, element, _ in steps), LEAF)}
